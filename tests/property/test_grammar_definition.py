"""Grammars equal their definition, whatever the folds, the threads and the memory."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from grammar_twin import Event, Pair, Scores, extract, word_counts
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.align import Alignment
from dragoman.corpus import Bitext, Side, Vocab
from dragoman.grammar import (
    Grammar,
    PhraseExtraction,
    PhraseSmoothing,
    PhraseViewConfig,
    Reordering,
    ReorderingKind,
    extract_phrases,
)

N_FOLDS = 3
MAX_LENGTH = 3
ORIENTATIONS = ["mono", "swap", "left", "right", "global"]


@st.composite
def sentence_pairs(draw, max_words=5):
    source = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=max_words))
    target = draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=max_words))
    cells = [(s, t) for s in range(len(source)) for t in range(len(target))]
    links = draw(st.lists(st.sampled_from(cells), max_size=max_words + 1, unique=True))
    return Pair(tuple(source), tuple(target), frozenset(links), draw(st.integers(0, N_FOLDS - 1)))


corpora = st.lists(sentence_pairs(), min_size=1, max_size=6)


def vocabs():
    """Made anew: Hypothesis keeps strategies and their modules at exit, and nanobind would report what they keep."""
    return Vocab.of(["c a b"]), Vocab.of(["y x z"])


def bitext_of(pairs):
    sides = []
    for vocab, words in zip(vocabs(), ([p.source for p in pairs], [p.target for p in pairs]), strict=True):
        sides.append(Side(vocab, *vocab.encode_lines(" ".join(w) for w in words)))
    folds = np.array([p.fold for p in pairs], dtype=np.uint8)
    return Bitext(sides[0], sides[1], folds, N_FOLDS), Alignment.of(sorted(p.links) for p in pairs)


class Built:
    """A grammar in a folder of its own."""

    def __init__(self, pairs, **config):
        self._scratch = tempfile.TemporaryDirectory()
        config = {"max_length": MAX_LENGTH} | config
        bitext, alignment = bitext_of(pairs)
        self.grammar = extract_phrases(
            bitext, alignment, Path(self._scratch.name) / "grammar", PhraseExtraction(**config)
        )

    def __enter__(self) -> Grammar:
        return self.grammar

    def __exit__(self, *_):
        self._scratch.cleanup()


def array(grammar, name, dtype):
    return np.fromfile(grammar.folder / name, dtype=dtype)


def rows(grammar, offsets, values, dtype):
    offsets, values = array(grammar, offsets, np.int64), array(grammar, values, dtype)
    return [values[a:b] for a, b in pairwise(offsets)]


def stored_events(grammar):
    """What the files hold, taken apart without the library's help."""
    words = {
        side: [tuple(v.decode(r).split()) for r in rows(grammar, f"{side}s.offsets", f"{side}s.symbols", np.int32)]
        for side, v in zip(("source", "target"), vocabs(), strict=True)
    }
    alignments = rows(grammar, "alignments.offsets", "alignments.links", np.dtype((np.uint8, 2)))
    events = rows(grammar, "pairs.events", "events", np.uint64)
    targets = array(grammar, "pairs.target", np.int32)
    found = Counter()
    first = array(grammar, "sources.pairs", np.int64)
    assert words["source"] == sorted(words["source"], key=lambda ws: [vocabs()[0].id(w) for w in ws])
    for source, begin, end in zip(words["source"], first[:-1], first[1:], strict=True):
        assert list(targets[begin:end]) == sorted(set(targets[begin:end]))
        for pair in range(begin, end):
            for event in map(int, events[pair]):
                code = event >> 10 & 0x3FFF
                kinds = tuple(
                    tuple(ORIENTATIONS[code >> shift & mask] for shift in shifts)
                    for mask, shifts in ((3, (0, 2)), (3, (4, 6)), (7, (8, 11)))
                )
                links = tuple((int(s), int(t)) for s, t in alignments[event >> 32])
                found[Event(source, words["target"][targets[pair]], links, event >> 24 & 0xFF, kinds)] += event & 0x3FF
    return found


def marginals(grammar, name, keys):
    counts = rows(grammar, f"{name}.offsets", f"{name}.values", np.uint64)
    return Counter(
        {(key, int(c) >> 56): int(c) & (1 << 56) - 1 for key, cells in zip(keys, counts, strict=True) for c in cells}
    )


@given(corpora)
@settings(max_examples=40)
def test_stored_counts_equal_the_definition(pairs):
    expected = extract(pairs, MAX_LENGTH)
    with Built(pairs) as grammar:
        assert stored_events(grammar) == expected
        for side, vocab in zip(("source", "target"), vocabs(), strict=True):
            phrases = [
                tuple(vocab.decode(r).split()) for r in rows(grammar, f"{side}s.offsets", f"{side}s.symbols", np.int32)
            ]
            sums = Counter()
            for event, n in expected.items():
                sums[getattr(event, side), event.fold] += n
            assert marginals(grammar, f"{side}_counts", phrases) == sums
        keys = [
            (
                None if int(k) >> 32 == 0 else vocabs()[0].word((int(k) >> 32) - 1),
                None if int(k) & 0xFFFFFFFF == 0 else vocabs()[1].word((int(k) & 0xFFFFFFFF) - 1),
            )
            for k in array(grammar, "word_pairs.keys", np.uint64)
        ]
        words = Counter()
        for fold in range(N_FOLDS):
            for key, n in word_counts([p for p in pairs if p.fold == fold]).items():
                words[key, fold] += n
        assert marginals(grammar, "word_pairs", keys) == words


MODELS = (
    (Reordering(kind=ReorderingKind.WORD, n_orientations=3), 0, (("mono",), ("swap",), ("left", "right"))),
    (Reordering(kind=ReorderingKind.PHRASE, n_orientations=4), 1, (("mono",), ("swap",), ("left",), ("right",))),
    (
        Reordering(kind=ReorderingKind.HIERARCHICAL, n_orientations=3),
        2,
        (("mono", "global"), ("swap",), ("left", "right")),
    ),
    (Reordering(kind=ReorderingKind.HIERARCHICAL, n_orientations=5), 2, tuple((o,) for o in ORIENTATIONS)),
)


@given(corpora, st.sampled_from([None, 0, 1, 2]))
@settings(max_examples=40)
def test_views_equal_the_definition(pairs, excluded):
    used = [p for p in pairs if p.fold != excluded]
    twin = Scores(used, MAX_LENGTH)
    config = PhraseViewConfig(
        excluded_fold=excluded, max_targets=0, reordering=tuple(m[0] for m in MODELS), reordering_smoothing=0.7
    )
    with Built(pairs) as grammar:
        view = grammar.view(config)
        smoothed = grammar.view(
            PhraseViewConfig(excluded_fold=excluded, max_targets=0, smoothing=PhraseSmoothing.KNESER_NEY)
        )
        sources = {p.source[i:j] for p in pairs for i in range(len(p.source)) for j in range(i + 1, len(p.source) + 1)}
        seen = set()
        for source in sources:
            options = view.lookup(source)
            assert [o.p_e_f for o in options] == sorted((o.p_e_f for o in options), reverse=True)
            for option in options:
                key = (source, tuple(option.target.split()))
                seen.add(key)
                assert option.count == twin.count[key]
                assert (option.p_e_f, option.p_f_e, option.lex_e_f, option.lex_f_e) == pytest.approx(
                    twin.scores(key), abs=1e-5
                )
                assert option.alignment == twin.best_alignment(key, True)
                expected = [s for _, model, classes in MODELS for s in twin.reordering(key, model, classes, 0.7)]
                assert option.reordering == pytest.approx(expected, abs=1e-5)
                assert view.find(*key) == option == view.pair(option.pair)
                other = smoothed.pair(option.pair)
                assert (other.p_e_f, other.p_f_e) == pytest.approx(twin.kneser_ney(key), abs=1e-5)
        assert seen == set(twin.count)
        for word in "abc":
            assert view.knows_source(word) == any(word in p.source for p in used)
        for word in "xyz":
            assert view.knows_target(word) == any(word in p.target for p in used)


def without_pair(option):
    return {name: getattr(option, name) for name in option.__slots__ if name != "pair"}


@given(
    corpora, st.integers(0, N_FOLDS - 1), st.integers(0, 3), st.sampled_from(list(PhraseSmoothing)), st.integers(1, 2)
)
@settings(max_examples=40)
def test_a_fold_s_view_equals_a_grammar_of_the_other_folds(pairs, fold, max_targets, smoothing, min_count):
    models = tuple(m[0] for m in MODELS)
    config = {"max_targets": max_targets, "smoothing": smoothing, "min_count": min_count, "reordering": models}
    others = [p for p in pairs if p.fold != fold]
    with Built(pairs) as grammar, Built(others) as fresh:
        view, fresh_view = (
            grammar.view(PhraseViewConfig(excluded_fold=fold, **config)),
            fresh.view(PhraseViewConfig(**config)),
        )
        for pair in pairs:
            got, expected = view.options(pair.source), fresh_view.options(pair.source)
            assert [without_pair(o) for o in got] == [without_pair(o) for o in expected]
            assert all(math.isfinite(o.p_e_f + o.p_f_e + o.lex_e_f + o.lex_f_e) for o in got)


@given(corpora, st.integers(1, 4), st.sampled_from([1, 1 << 30]))
@settings(max_examples=20)
def test_threads_and_memory_change_nothing(pairs, n_threads, max_memory_bytes):
    with Built(pairs) as one, Built(pairs, n_threads=n_threads, max_memory_bytes=max_memory_bytes) as many:
        assert one.manifest.files == many.manifest.files
