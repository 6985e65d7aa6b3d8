"""Decode with Moses' exported model: its tables, weights and language-model text against its own output."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dragoman.features import FeatureIndex, Weights
from dragoman.grammar import PhraseViewConfig
from dragoman.grammar.phrase_tables import read_tables
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.search import Algorithm, PhraseConfig, PhraseDecoder, PhraseOptionBuilder, phrase15
from dragoman.text import read_lines

pytestmark = pytest.mark.realdata
ORIENTATIONS = ["bwd_m", "bwd_s", "bwd_d", "fwd_m", "fwd_s", "fwd_d"]
MOSES_NAMES = [
    *(f"reorder_{o}" for o in ORIENTATIONS),
    *("distortion", "lm", "words", "phrases", "p_f_e", "lex_f_e", "p_e_f", "lex_e_f"),
]


class Model:
    """What stands in the folder."""

    def __init__(self, anchors, data, scratch):
        folder = anchors / "moses-enja" / "phrase"
        tables = folder / "phrase-table.test.gz", folder / "reordering-table.test.xz"
        grammar = read_tables(tables[0], scratch / "grammar", reordering=tables[1])
        self.view = grammar.view(PhraseViewConfig(max_targets=0, reordering=()))
        self.sources = list(read_lines(data / "enja" / "test.ja.xz"))
        self.weights = self._weights(folder)
        self.moses = [self._candidate(line) for line in read_lines(folder / "test.1best.gz")]
        text = TrainingText()
        text.add_file(data / "enja" / "train.en.xz")
        self.lm = estimate(text, EstimateConfig(order=5)).model

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
def model(anchors, data, tmp_path_factory):
    return Model(anchors, data, tmp_path_factory.mktemp("moses"))


def decode(model, config, n_sentences):
    index = FeatureIndex()
    vocab = model.view.target_vocab
    options = PhraseOptionBuilder(model.view, index).build(model.sources[:n_sentences], n_threads=2)
    decoder = PhraseDecoder(config, vocab, index, features=phrase15(), lm=model.lm)
    best = decoder.kbest(options, Weights.from_dict(model.weights, index), 1, n_threads=2)
    found = []
    for c in range(len(best)):
        ids, values = best.features_of(c)
        named = dict(zip(index.names(ids), values.tolist(), strict=True))
        named["phrases"] = named.get("phrases", 0.0) + named.pop("unknown", 0.0)
        found.append((vocab.extended(options.own_words).decode(best.tokens_of(c)), named, float(best.totals[c])))
    return found


def mean_score(candidates):
    return np.mean([score for *_, score in candidates])


def test_the_same_stacks_find_the_same_translations(model):
    n = 60
    found = decode(model, PhraseConfig(algorithm=Algorithm.STACK, stack_size=200), n)
    assert mean_score(found) >= mean_score(model.moses[:n]) - 1e-3
    same = [(a, b) for a, b in zip(found, model.moses[:n], strict=True) if a[0] == b[0]]
    assert len(same) >= 0.98 * n
    # Another segmentation of the same string may score as well to all printed digits, so a few may differ.
    agree = sum(all(abs(a[1].get(name, 0.0) - b[1][name]) < 1e-3 for name in MOSES_NAMES) for a, b in same)
    assert agree >= 0.97 * len(same)


@pytest.mark.parametrize(
    ("config", "worst"),
    [(PhraseConfig.fast(), -16.199), (PhraseConfig(), -16.187), (PhraseConfig.accurate(), -16.179)],
)
def test_the_presets_reach_moses_scores(model, config, worst):
    """Moses: -16.199 by cube pruning, -16.177 with its default stacks."""
    assert mean_score(model.moses) == pytest.approx(-16.177, abs=1e-3)
    assert mean_score(decode(model, config, len(model.sources))) >= worst
