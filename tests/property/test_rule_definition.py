"""Grammars of rules equal their definition, whatever the folds, the threads and the memory."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_twin import UNIT, Limits, Rules
from test_grammar_definition import N_FOLDS, bitext_of, sentence_pairs

from dragoman.grammar import Grammar, RuleExtraction, RuleKind, RuleViewConfig, extract_rules

corpora = st.lists(sentence_pairs(max_words=6), min_size=1, max_size=5)
limits = st.builds(
    Limits,
    max_length=st.integers(2, 6),
    tight=st.booleans(),
    max_nonterminals=st.integers(0, 2),
    max_symbols=st.integers(2, 5),
    adjacent=st.booleans(),
    aligned=st.booleans(),
    min_source_gap=st.integers(1, 2),
    min_target_gap=st.integers(1, 2),
    fractional=st.booleans(),
)


class Built:
    """A grammar of rules in a folder of its own."""

    def __init__(self, pairs, limits, **config):
        self._scratch = tempfile.TemporaryDirectory()
        settings = RuleExtraction(**asdict(limits), **config)
        self.grammar = extract_rules(*bitext_of(pairs), Path(self._scratch.name) / "grammar", settings)

    def __enter__(self) -> Grammar:
        return self.grammar

    def __exit__(self, *_):
        self._scratch.cleanup()


def has_gaps(source):
    return any(word.startswith("[X,") for word in source)


@given(corpora, limits, st.sampled_from([None, 0, 1, 2]), st.integers(1, 3))
@settings(max_examples=60)
def test_views_equal_the_definition(pairs, limits, excluded, min_count):
    twin = Rules([p for p in pairs if p.fold != excluded], limits)
    sources = {source for source, _ in Rules(pairs, limits).count}
    with Built(pairs, limits, min_count=min_count) as grammar:
        view = grammar.rule_view(RuleViewConfig(excluded_fold=excluded, max_targets=0))
        seen = set()
        for source in sources:
            rules = view.lookup(source)
            assert [r.scores[0] for r in rules] == sorted((r.scores[0] for r in rules), reverse=True)
            for rule in rules:
                key = source, tuple(rule.target.split())
                seen.add(key)
                assert (rule.lhs, rule.source) == ("X", " ".join(source))
                assert rule.count == twin.count[key]
                assert rule.mass == twin.mass[key] / UNIT
                assert rule.scores == pytest.approx(twin.scores(key), abs=1e-5)
                assert rule.alignment == twin.best_alignment(key, True)
                assert rule.kind is (RuleKind.MINIMAL if key in twin.minimal else RuleKind.COMPOSED)
                assert view.find(*key) == rule == view.rule(rule.rule)
        assert seen == {key for key, n in twin.count.items() if n >= min_count or not has_gaps(key[0])}


@given(corpora, limits, st.integers(0, N_FOLDS - 1), st.integers(0, 3), st.integers(1, 2))
@settings(max_examples=30)
def test_a_fold_s_view_equals_a_grammar_of_the_other_folds(pairs, limits, fold, max_targets, min_count):
    others = [p for p in pairs if p.fold != fold]
    with Built(pairs, limits, min_count=min_count) as grammar, Built(others, limits, min_count=min_count) as fresh:
        view = grammar.rule_view(RuleViewConfig(excluded_fold=fold, max_targets=max_targets))
        fresh_view = fresh.rule_view(RuleViewConfig(max_targets=max_targets))
        for source in {source for source, _ in Rules(pairs, limits).count}:
            got, expected = (
                [{name: getattr(rule, name) for name in rule.__slots__ if name != "rule"} for rule in v.lookup(source)]
                for v in (view, fresh_view)
            )
            assert got == expected


@given(corpora, limits, st.integers(1, 4), st.sampled_from([1, 1 << 30]), st.integers(1, 3))
@settings(max_examples=20)
def test_threads_and_memory_change_nothing(pairs, limits, n_threads, max_memory_bytes, min_count):
    with (
        Built(pairs, limits, min_count=min_count) as one,
        Built(pairs, limits, min_count=min_count, n_threads=n_threads, max_memory_bytes=max_memory_bytes) as many,
    ):
        assert one.manifest.files == many.manifest.files
