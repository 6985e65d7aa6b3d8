"""Decode with Moses' exported model: its tables, weights and language-model text against its own output."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dragoman.corpus import UNK, Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.search import Algorithm, PhraseConfig, PhraseDecoder, PhraseOptions, phrase15
from dragoman.text import read_lines

pytestmark = pytest.mark.realdata
N_SENTENCES = 60
ORIENTATIONS = ["bwd_m", "bwd_s", "bwd_d", "fwd_m", "fwd_s", "fwd_d"]
MOSES_NAMES = [
    *(f"reorder_{o}" for o in ORIENTATIONS),
    *("distortion", "lm", "words", "phrases", "p_f_e", "lex_f_e", "p_e_f", "lex_e_f"),
]


class Model:
    """What stands in the folder, for the first sentences."""

    def __init__(self, anchors, data):
        folder = anchors / "moses-enja" / "phrase"
        lines = [line for line, _ in zip(read_lines(data / "enja" / "test.ja.xz"), range(N_SENTENCES), strict=False)]
        self.sources = [line.split() for line in lines]
        wanted = {
            " ".join(s[i:j]) for s in self.sources for i in range(len(s)) for j in range(i + 1, min(len(s), i + 7) + 1)
        }
        self.tables = self._tables(folder, wanted)
        self.vocab = Vocab.of([e for rows in self.tables.values() for e, _ in rows])
        self.own: dict[str, int] = {}
        self.options = self._options()
        self.weights = self._weights(folder)
        self.moses = [self._candidate(line) for line in read_lines(folder / "test.1best.gz")][:N_SENTENCES]
        text = TrainingText()
        text.add_file(data / "enja" / "train.en.xz")
        self.lm = estimate(text, EstimateConfig(order=5)).model

    @staticmethod
    def _tables(folder, wanted):
        # Both tables have the same pairs in the same order.
        result: dict[str, list[tuple[str, list[float]]]] = {}
        pairs = zip(
            read_lines(folder / "phrase-table.test.gz"), read_lines(folder / "reordering-table.test.xz"), strict=True
        )
        for phrase, reordering in pairs:
            f, e, scores, *_ = phrase.split(" ||| ")
            if f not in wanted:
                continue
            f2, e2, orientations = reordering.split(" ||| ")
            assert (f, e) == (f2, e2)
            p_f_e, lex_f_e, p_e_f, lex_e_f = scores.split()
            row = [p_e_f, p_f_e, lex_e_f, lex_f_e, *orientations.split()]
            result.setdefault(f, []).append((e, [float(x) for x in row]))
        return result

    def _options(self):
        encoded = {}
        for f, rows in self.tables.items():
            targets = [self.vocab.encode(e) for e, _ in rows]
            encoded[f] = targets, np.log(np.array([values for _, values in rows], np.float64)).astype(np.float32)
        begin, end, targets, values, first, pass_through = [], [], [], [], [0], []
        for source in self.sources:
            for word in source:
                id_ = self.vocab.id(word)
                own = self.own.setdefault(word, len(self.vocab) + len(self.own)) if id_ == UNK else id_
                pass_through.append(own)
            for i in range(len(source)):
                for j in range(i + 1, min(len(source), i + 7) + 1):
                    if (found := encoded.get(" ".join(source[i:j]))) is not None:
                        begin += [i] * len(found[0])
                        end += [j] * len(found[0])
                        targets += found[0]
                        values.append(found[1])
            first.append(len(begin))
        columns = np.concatenate(values)
        return PhraseOptions(
            pass_offsets=np.cumsum([0, *(len(s) for s in self.sources)], dtype=np.int64),
            pass_through=np.array(pass_through, np.int32),
            first=np.array(first, np.int64),
            begin=np.array(begin, np.int32),
            end=np.array(end, np.int32),
            target_offsets=np.cumsum([0, *(len(t) for t in targets)], dtype=np.int64),
            targets=np.concatenate(targets),
            rules=np.arange(len(begin), dtype=np.int64),
            scores=np.ascontiguousarray(columns[:, :4]),
            orientations=np.ascontiguousarray(columns[:, 4:]),
            feature_offsets=np.zeros(len(begin) + 1, np.int64),
            feature_ids=np.zeros(0, np.int32),
            feature_values=np.zeros(0, np.float32),
        )

    @staticmethod
    def _weights(folder):
        given = {}
        for line in read_lines(folder / "weights.ini"):
            if match := re.match(r"(\w+)0= (.*)", line):
                given[match[1]] = [float(x) for x in match[2].split()]
        p_f_e, lex_f_e, p_e_f, lex_e_f = given["TranslationModel"]
        phrases = given["PhrasePenalty"][0]
        # Moses counts an unknown word as a phrase too.
        weights = {"unknown": phrases - 100 * given["UnknownWordPenalty"][0], "words": -given["WordPenalty"][0]}
        weights |= {"p_e_f": p_e_f, "p_f_e": p_f_e, "lex_e_f": lex_e_f, "lex_f_e": lex_f_e, "lm": given["LM"][0]}
        weights |= {"phrases": phrases, "distortion": given["Distortion"][0]}
        orientations = zip(ORIENTATIONS, given["LexicalReordering"], strict=True)
        return weights | {f"reorder_{name}": value for name, value in orientations}

    @staticmethod
    def _candidate(line):
        _, text, features, score = (part.strip() for part in line.split("|||"))
        values = [float(x) for x in re.sub(r"\w+=", "", features).split()]
        named = dict(zip(MOSES_NAMES, values, strict=False))
        named["words"] = -named["words"]
        return text, named, float(score)


@pytest.fixture(scope="module")
def model(anchors, data):
    return Model(anchors, data)


def decode(model, config):
    index = FeatureIndex()
    decoder = PhraseDecoder(config, model.vocab, index, features=phrase15(), lm=model.lm)
    best = decoder.kbest(model.options, Weights.from_dict(model.weights, index), 1, n_threads=2)
    own = list(model.own)
    found = []
    for c in range(len(best)):
        words = [model.vocab.word(i) if i < len(model.vocab) else own[i - len(model.vocab)] for i in best.tokens_of(c)]
        ids, values = best.features_of(c)
        named = dict(zip(index.names(ids), values.tolist(), strict=True))
        named["phrases"] = named.get("phrases", 0.0) + named.pop("unknown", 0.0)
        found.append((" ".join(words), named, float(best.scores[c])))
    return found


def mean_score(candidates):
    return np.mean([score for *_, score in candidates])


def test_the_same_stacks_find_the_same_translations(model):
    found = decode(model, PhraseConfig(algorithm=Algorithm.STACK, stack_size=200))
    assert mean_score(found) >= mean_score(model.moses) - 1e-3
    same = [(a, b) for a, b in zip(found, model.moses, strict=True) if a[0] == b[0]]
    assert len(same) >= 0.98 * N_SENTENCES
    # Another segmentation of the same string may score as well to all printed digits, so a few may differ.
    agree = sum(all(abs(a[1].get(n, 0.0) - b[1][n]) < 1e-3 for n in MOSES_NAMES) for a, b in same)
    assert agree >= 0.97 * len(same)


def test_cube_pruning_comes_close(model):
    for config, loss in ((PhraseConfig.fast(), 0.03), (PhraseConfig(), 0.015), (PhraseConfig.accurate(), 0.002)):
        assert mean_score(decode(model, config)) >= mean_score(model.moses) - loss
