"""Features and words computed from derivations against the decoder's own, bit by bit, for random small corpora."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.align import Alignment
from dragoman.corpus import Bitext, Side, Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights, known_templates, parse_templates
from dragoman.forest import Derivations
from dragoman.grammar import PhraseViewConfig, RuleExtraction, RuleViewConfig, extract_phrases, extract_rules
from dragoman.search import (
    ChartConfig,
    ChartDecoder,
    ChartFeatures,
    DerivationFeatures,
    PhraseConfig,
    PhraseDecoder,
    PhraseFeatures,
    PhraseOptionBuilder,
    RuleOptionBuilder,
)
from dragoman.search.sentences import encode_sentences

SOURCE_WORDS = ["a", "b", "c", "d"]
TARGET_WORDS = ["x", "y", "z"]
SETTINGS = {
    "word_context": "(top=2)",
    "word_pair": "(top=2)",
    "reorder_local": "(top=3)",
    "rule_id": "(min_count=1)",
    "target_insertion": "(top=1,by=unaligned)",
    "source_deletion": "(top=2,by=unaligned)",
}


def templates(has_rules):
    """Every template there is."""
    kinds = [
        kind for kind in known_templates().values() if not (kind.for_phrases_only if has_rules else kind.for_rules_only)
    ]
    return parse_templates([f"{kind.name}{SETTINGS.get(kind.name, '')}" for kind in kinds], has_rules=has_rules)


@st.composite
def corpora(draw):
    """Pairs of sentences with links, sentences to translate (with unknown words), and a fold to leave out, or none."""
    pairs = []
    for _ in range(draw(st.integers(2, 4))):
        source = draw(st.lists(st.sampled_from(SOURCE_WORDS), min_size=1, max_size=5))
        target = draw(st.lists(st.sampled_from(TARGET_WORDS), min_size=1, max_size=5))
        places = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
        pairs.append((source, target, sorted(draw(st.sets(places, max_size=5)))))
    sentences = draw(st.lists(st.lists(st.sampled_from([*SOURCE_WORDS, "?", "x"]), max_size=6), min_size=1, max_size=4))
    return pairs, sentences, draw(st.sampled_from([None, 0, 1]))


def bitext_of(pairs):
    vocabs = [Vocab.of([" ".join(words)]) for words in (SOURCE_WORDS, TARGET_WORDS)]
    sides = [Side(v, *v.encode_lines(" ".join(pair[i]) for pair in pairs)) for i, v in enumerate(vocabs)]
    return Bitext(*sides, np.arange(len(pairs), dtype=np.uint8) % 2, 2)


class Setting:
    """A grammar's view, a decoder without a language model, and its lists, with derivations and features."""

    def __init__(self, kind, pairs, sentences, fold, folder):
        bitext, alignment = bitext_of(pairs), Alignment.of([links for *_, links in pairs])
        self.index = FeatureIndex()
        self.templates = templates(kind == "hiero")
        if kind == "phrase":
            self.grammar = extract_phrases(bitext, alignment, folder)
            view = self.grammar.view(PhraseViewConfig(excluded_fold=fold))
            features = PhraseFeatures(reordering=view.config.reordering)
            builder = PhraseOptionBuilder(view, self.index, templates=self.templates)
            decoder = PhraseDecoder(PhraseConfig(), view.target_vocab, self.index, features=features)
        else:
            self.grammar = extract_rules(bitext, alignment, folder, RuleExtraction(min_source_gap=1, added=True))
            view = self.grammar.rule_view(RuleViewConfig(excluded_fold=fold))
            features = ChartFeatures()
            builder = RuleOptionBuilder(view, self.index, templates=self.templates, scores=features.scores)
            decoder = ChartDecoder(ChartConfig(), view.target_vocab, self.index, features=features)
        self.dense = np.array([self.index.find(name) for name in features.names()], np.int32)
        batch = builder.build(sentences).interned(self.index)
        rng = np.random.default_rng(len(self.index))
        weights = Weights(self.index, rng.normal(size=len(self.index)))
        self.best = decoder.kbest(batch, weights, 30, derivations=True)
        self.sentences = encode_sentences(sentences, view.source_vocab)
        self.folds = np.full(len(sentences), -1 if fold is None else fold, np.int16)
        self.own_words = list(batch.own_words)

    def computer(self, index=None):
        return DerivationFeatures(self.grammar, self.index if index is None else index, templates=self.templates)

    def batch(self, computer, derivations=None):
        return computer.batch(self.sentences, self.folds, self.best.sentences, derivations or self.best.derivations)

    def dense_values(self):
        best = self.best
        values = np.zeros((len(best), len(self.dense)), np.float32)
        for c in range(len(best)):
            ids, found = best.features_of(c)
            lookup = dict(zip(ids.tolist(), found.tolist(), strict=True))
            values[c] = [lookup.get(id_, 0) for id_ in self.dense.tolist()]
        return values


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", ["phrase", "hiero"])
@given(corpus=corpora())
@settings(max_examples=25, deadline=None)
def test_features_and_tokens_are_the_decoders(kind, corpus):
    with tempfile.TemporaryDirectory() as scratch:
        given_ = Setting(kind, *corpus, Path(scratch) / "grammar")
        best, computer = given_.best, given_.computer()
        batch = given_.batch(computer)
        for n_threads in (1, 2):
            rows, ids, values = computer.features(batch, given_.dense, given_.dense_values(), n_threads=n_threads)
            assert same_bits(rows, best.feature_rows)
            assert same_bits(ids, best.feature_ids)
            assert same_bits(values, best.feature_values)
        rows, tokens, own_words = computer.tokens(batch, given_.sentences, best.derivations)
        assert same_bits(rows, best.token_rows)
        mine, theirs = given_.grammar.target_vocab.extended(own_words), given_.own_words
        words = given_.grammar.target_vocab.extended(theirs)
        assert [mine.word(t) for t in tokens.tolist()] == [words.word(t) for t in best.tokens.tolist()]


@given(corpus=corpora())
@settings(max_examples=10, deadline=None)
def test_names_of_a_first_pass_are_all_there_are(corpus):
    with tempfile.TemporaryDirectory() as scratch:
        given_ = Setting("hiero", *corpus, Path(scratch) / "grammar")
        index = FeatureIndex()
        computer = given_.computer(index)
        batch = given_.batch(computer)
        computer.intern(batch, n_threads=2)
        n_names = len(index)
        none = np.zeros(0, np.int32), np.zeros((len(given_.best), 0), np.float32)
        grown = computer.features(batch, *none)
        assert len(index) == n_names
        for mine, other in zip(grown, computer.features(batch, *none, grow=False), strict=True):
            assert same_bits(mine, other)
        empty = given_.computer(FeatureIndex()).features(batch, *none, grow=False)
        assert len(empty[1]) == 0


@pytest.mark.parametrize("kind", ["phrase", "hiero"])
@given(corpus=corpora(), data=st.data())
@settings(max_examples=25, deadline=None)
def test_derivations_of_something_else_are_an_error_and_no_crash(kind, corpus, data):
    with tempfile.TemporaryDirectory() as scratch:
        given_ = Setting(kind, *corpus, Path(scratch) / "grammar")
        arrays = [getattr(given_.best.derivations, name).copy() for name in Derivations.__slots__]
        for _ in range(data.draw(st.integers(1, 3))):
            array = data.draw(st.sampled_from([array for array in arrays if len(array)]))
            place = data.draw(st.integers(0, len(array) - 1))
            array[place] = data.draw(st.sampled_from([-2, -1, 0, 1, 2, 3, 10, 10**6, 2**31 - 1]))
        computer = given_.computer()
        damaged = Derivations(*arrays)
        try:
            batch = given_.batch(computer, damaged)
            rows, ids, _ = computer.features(batch, given_.dense, given_.dense_values())
            assert len(ids) == rows[-1]
            computer.tokens(batch, given_.sentences, damaged)
        except InputError:
            pass
