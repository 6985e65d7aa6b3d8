"""Orientation templates against their twin: every derivation of short sentences, with random classes and weights."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reorder_twin import Words, reordering

from dragoman.align import Alignment
from dragoman.corpus import Bitext, Side, Vocab, WordClasses
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights, parse_templates
from dragoman.grammar import extract_phrases
from dragoman.search import (
    Algorithm,
    DerivationFeatures,
    PhraseConfig,
    PhraseDecoder,
    PhraseOptionBuilder,
)
from dragoman.search.sentences import encode_sentences

# Both sides have the word "x", which passes through where it has no translation of its own.
WORDS = (["a", "b", "c", "x"], ["x", "y", "z", "w"])
SIZES = (2, 3)
CHOICES = {"reorder_local": (1, 1), "reorder_stack": (2, 1), "reorder_gap": (1, 1), "reorder_phrase": ()}
ORIENTATIONS = ("five", "one")
MAX_DERIVATIONS = 3000


@st.composite
def problems(draw):
    """Sentence pairs with links, a sentence to translate, classes of the words of both sides."""
    pairs = []
    for _ in range(draw(st.integers(2, 5))):
        source, target = (draw(st.lists(st.sampled_from(words), min_size=1, max_size=3)) for words in WORDS)
        places = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
        pairs.append((source, target, sorted(draw(st.sets(places, max_size=4)))))
    sentence = draw(st.lists(st.sampled_from([*WORDS[0], "?"]), min_size=1, max_size=4))
    classes = []
    for words in WORDS:
        known = [word for word in words if draw(st.integers(0, 3))]
        classes.append({size: {word: draw(st.integers(0, size - 1)) for word in known} for size in SIZES})
    return pairs, sentence, classes


def templates_of(choices, orientations):
    return parse_templates(
        f"{name}({f'top={settings_[0]},classes={settings_[1]},' if settings_ else ''}orientations={orientations})"
        for name, settings_ in choices.items()
    )


def classes_of(classes):
    """By vocabularies of their own."""
    sides = []
    for by_size in classes:
        vocab = Vocab.of([" ".join(["unseen", *by_size[SIZES[0]]])])
        side = np.full((len(SIZES), len(vocab)), -1, np.int32)
        for row, size in enumerate(SIZES):
            for word, number in by_size[size].items():
                side[row, vocab.id(word)] = number
        sides.append(WordClasses(SIZES, vocab, side))
    return sides[0], sides[1]


def all_derivations(options, sentence):
    """Of options and words without a translation of their own, in all orders."""
    alone = {o.begin for o in options if o.end == o.begin + 1}
    phrases = [((o.begin, o.end), o.pair, o.target.split()) for o in options]
    phrases += [((p, p + 1), -1, [word]) for p, word in enumerate(sentence) if p not in alone]
    found = []

    def extend(path, covered):
        if len(found) > MAX_DERIVATIONS:
            return
        if len(covered) == len(sentence):
            found.append(path)
        for phrase in phrases:
            if not (places := set(range(*phrase[0]))) & covered:
                extend([*path, phrase], covered | places)

    extend([], set())
    return found


class Case:
    def __init__(self, problem, folder, choices=CHOICES, orientations="five"):
        pairs, self.sentence, classes = problem
        vocabs = [Vocab.of([" ".join(words)]) for words in WORDS]
        sides = [Side(v, *v.encode_lines(" ".join(pair[i]) for pair in pairs)) for i, v in enumerate(vocabs)]
        bitext = Bitext(*sides, np.arange(len(pairs), dtype=np.uint8) % 2, 2)
        self.grammar = extract_phrases(bitext, Alignment.of([links for *_, links in pairs]), folder)
        self.view = self.grammar.view()
        self.choices = choices
        self.index = FeatureIndex()
        self.arguments = {"templates": templates_of(choices, orientations), "word_classes": classes_of(classes)}
        self.builder = PhraseOptionBuilder(self.view, self.index, **self.arguments)
        counts = [
            dict(zip(words, by_id[[vocab.id(word) for word in words]].tolist(), strict=True))
            for words, vocab, by_id in zip(WORDS, vocabs, self.grammar.tables.word_counts(), strict=True)
        ]
        self.twin = [Words(*side) for side in zip(counts, classes, strict=True)]

    def decoder(self, algorithm=Algorithm.CUBE_PRUNING):
        config = PhraseConfig(
            algorithm=algorithm, stack_size=10**6, pop_limit=10**6, option_limit=None, distortion_limit=None
        )
        return PhraseDecoder(config, self.view.target_vocab, self.index)


@pytest.mark.parametrize("algorithm", list(Algorithm))
@settings(max_examples=60, deadline=None)
@given(problem=problems(), seed=st.integers(0, 100), orientations=st.sampled_from(ORIENTATIONS))
def test_search_without_pruning_is_brute_force(algorithm, problem, seed, orientations):
    with tempfile.TemporaryDirectory() as scratch:
        case = Case(problem, Path(scratch) / "grammar", orientations=orientations)
        paths = all_derivations(case.view.options(case.sentence), case.sentence)
        assume(len(paths) <= MAX_DERIVATIONS)
        decoder = case.decoder(algorithm)
        batch = case.builder.build([case.sentence]).interned(case.index)
        names = case.index.names(np.arange(len(case.index), dtype=np.int32))
        values = np.random.default_rng(seed).normal(size=len(names))
        values[[":" not in name for name in names]] = 0
        weights = Weights(case.index, values)
        found = decoder.kbest(batch, weights, MAX_DERIVATIONS + 1)
        by_name = dict(zip(names, values.tolist(), strict=True))
        collapsed = "any" if orientations == "one" else None
        rows = [reordering(path, case.sentence, case.twin, case.choices, collapsed) for path in paths]
        scores = [sum(by_name[name] * value for name, value in row.items()) for row in rows]
        np.testing.assert_allclose(found.totals, sorted(scores, reverse=True), atol=1e-9)
        lists = Counter()
        for c in range(len(found)):
            ids, row = found.features_of(c)
            listed = zip(case.index.names(ids), row.tolist(), strict=True)
            lists[frozenset((name, value) for name, value in listed if ":" in name)] += 1
        assert lists == Counter(frozenset(row.items()) for row in rows)


@settings(max_examples=30, deadline=None)
@given(problem=problems(), seed=st.integers(0, 100), orientations=st.sampled_from(ORIENTATIONS))
def test_derivations_have_the_decoders_features_and_names_are_those_of_lists(problem, seed, orientations):
    with tempfile.TemporaryDirectory() as scratch:
        case = Case(problem, Path(scratch) / "grammar", CHOICES | {"reorder_local": (0, 0)}, orientations)
        batch = case.builder.build([case.sentence, case.sentence[::-1]])
        weights = np.random.default_rng(seed).normal(size=100)
        found = case.decoder().kbest(batch, weights, 20, derivations=True)
        sparse = {name for name in case.index.names(np.arange(len(case.index), dtype=np.int32)) if ":" in name}
        assert sparse == {name for name in case.index.names(np.unique(found.feature_ids)) if ":" in name}
        computer = DerivationFeatures(case.grammar, case.index, **case.arguments)
        sentences = encode_sentences([case.sentence, case.sentence[::-1]], case.view.source_vocab)
        derived = computer.batch(sentences, np.full(2, -1, np.int16), found.sentences, found.derivations)
        none = np.zeros(0, np.int32), np.zeros((len(found), 0), np.float32)
        for n_threads in (1, 2):
            rows, ids, values = computer.features(derived, *none, n_threads=n_threads)
            for c in range(len(found)):
                listed = zip(*map(np.ndarray.tolist, found.features_of(c)), strict=True)
                row = slice(rows[c], rows[c + 1])
                mine = list(zip(ids[row].tolist(), values[row].tolist(), strict=True))
                assert mine == [(id_, value) for id_, value in listed if ":" in case.index.name(id_)]


def test_classes_that_are_missing_or_wrong_are_an_error(tmp_path):
    problem = [(["a"], ["x"], [(0, 0)])] * 2, ["a"], [{size: {} for size in SIZES}] * 2
    case = Case(problem, tmp_path / "grammar")
    for name in ("reorder_local", "reorder_stack", "reorder_gap"):
        templates = parse_templates([f"{name}(classes=1)"])
        with pytest.raises(InputError, match=rf"{name}\(classes=1\) needs word classes.*`classes="):
            PhraseOptionBuilder(case.view, FeatureIndex(), templates=templates)
        with pytest.raises(InputError, match="needs word classes"):
            DerivationFeatures(case.grammar, FeatureIndex(), templates=templates)
    one, other = classes_of(problem[2])
    fewer = WordClasses(SIZES[:1], other.vocab, other.table[:1])
    with pytest.raises(InputError, match=r"levels \(2, 3\), target words \(2,\)"):
        PhraseOptionBuilder(case.view, FeatureIndex(), word_classes=(one, fewer))
