"""Added rules are the brute-force rules of minimal trees beyond the limits, and views show or hide them exactly."""

from __future__ import annotations

import pytest
from grammar_twin import Pair
from hypothesis import given, settings
from hypothesis import strategies as st
from minimal_twin import AllRules, added_share, minimal_tree
from rule_twin import UNIT, event_of
from test_grammar_definition import N_FOLDS, sentence_pairs
from test_rule_definition import Built, limits

from dragoman.grammar import RuleCut, RuleKind, RuleViewConfig


@st.composite
def reordered_pairs(draw):
    """Permutations, with few links missing or added: trees with rows and with many children."""
    order = draw(st.permutations(range(draw(st.integers(4, 7)))))
    n = len(order)
    links = {*enumerate(order)} ^ draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=2))
    source, target = (draw(st.lists(st.sampled_from(words), min_size=n, max_size=n)) for words in ("abc", "xyz"))
    return Pair(tuple(source), tuple(target), frozenset(links), draw(st.integers(0, N_FOLDS - 1)))


corpora = st.lists(st.one_of(sentence_pairs(max_words=6), reordered_pairs()), min_size=1, max_size=4)
cuts = st.sampled_from([(1, RuleCut.ALL), (2, RuleCut.ALL), (2, RuleCut.COMPOSED), (3, RuleCut.COMPOSED)])


def built(pairs, limits, cut=(1, RuleCut.ALL), **config):
    return Built(pairs, limits, min_count=cut[0], cut=cut[1], **config)


def rules_of(view):
    """All rules of a view by their sides, without their ids."""
    found = {}
    for rule in range(view.tables.n_pairs()):
        if (shown := view.rule(rule)) is not None:
            found[shown.source, shown.target] = without_id(shown)
    return found


def without_id(rule):
    return {name: getattr(rule, name) for name in rule.__slots__ if name != "rule"}


@given(corpora, limits, st.sampled_from([None, 0, 1, 2]), cuts, st.sampled_from([1.0, 0.6, 0.5, 0.2, 0.0]))
@settings(max_examples=80)
def test_views_equal_the_definition(pairs, limits, excluded, cut, max_added):
    used = [p for p in pairs if float(added_share(p, limits)) <= max_added]
    twin = AllRules([p for p in used if p.fold != excluded], limits, cut[0], cut[1] is RuleCut.COMPOSED)
    with built(pairs, limits, cut, added=True, max_added=max_added) as grammar:
        content = grammar.manifest.content
        assert (content["n_left_out"], content["n_sentences"]) == (len(pairs) - len(used), len(used))
        view = grammar.rule_view(RuleViewConfig(excluded_fold=excluded, max_targets=0, added=True))
        expected = dict.fromkeys(twin.only_added, RuleKind.ADDED)
        for key in twin.kept:
            expected[key] = RuleKind.MINIMAL if key in twin.extracted.minimal else RuleKind.COMPOSED
        shown = rules_of(view)
        assert {(" ".join(s), " ".join(t)): kind for (s, t), kind in expected.items()} == {
            key: rule["kind"] for key, rule in shown.items()
        }
        for key, kind in expected.items():
            rule = view.find(*key)
            own = twin.added if kind is RuleKind.ADDED else twin.extracted
            assert rule in view.lookup(key[0])
            assert rule.count == own.count[key]
            assert rule.mass == own.mass[key] / UNIT
            assert rule.alignment == own.best_alignment(key, True)
            assert rule.scores == pytest.approx(twin.scores(key), abs=1e-5)
        if excluded is None:
            assert content["n_added"] == len(twin.only_added)


@given(corpora, limits, st.sampled_from([None, 0, 1]), cuts, st.integers(0, 2))
@settings(max_examples=40)
def test_showing_them_changes_nothing_else(pairs, limits, fold, cut, max_targets):
    with built(pairs, limits, cut) as plain, built(pairs, limits, cut, added=True) as grammar:
        hidden, shown = (
            grammar.rule_view(RuleViewConfig(excluded_fold=fold, max_targets=max_targets, added=added))
            for added in (False, True)
        )
        expected = plain.rule_view(RuleViewConfig(excluded_fold=fold, max_targets=max_targets))
        assert rules_of(hidden) == rules_of(expected)
        extracted = {key: rule for key, rule in rules_of(shown).items() if rule["kind"] is not RuleKind.ADDED}
        assert extracted == rules_of(hidden)
        for source in {source for source, _ in rules_of(shown)}:
            among = [without_id(rule) for rule in shown.lookup(source)]
            assert [rule["scores"][0] for rule in among] == sorted((r["scores"][0] for r in among), reverse=True)
            rest = [rule for rule in among if rule["kind"] is not RuleKind.ADDED]
            assert rest == [without_id(r) for r in hidden.lookup(source)]
            assert rest == [without_id(r) for r in expected.lookup(source)]
            assert max_targets == 0 or len(among) - len(rest) <= max_targets


@given(corpora, limits, st.integers(0, N_FOLDS - 1), st.integers(0, 2), cuts, st.sampled_from([1.0, 0.5]))
@settings(max_examples=40)
def test_a_fold_s_view_equals_a_grammar_of_the_other_folds(pairs, limits, fold, max_targets, cut, max_added):
    others = [p for p in pairs if p.fold != fold]
    config = {"added": True, "max_added": max_added}
    with built(pairs, limits, cut, **config) as grammar, built(others, limits, cut, **config) as fresh:
        for added in (False, True):
            view = grammar.rule_view(RuleViewConfig(excluded_fold=fold, max_targets=max_targets, added=added))
            fresh_view = fresh.rule_view(RuleViewConfig(max_targets=max_targets, added=added))
            expected = rules_of(fresh_view)
            assert rules_of(view) == expected
            for source in {source for source, _ in expected}:
                got = [without_id(rule) for rule in view.lookup(source)]
                assert got == [without_id(rule) for rule in fresh_view.lookup(source)]


@given(corpora, limits, cuts)
@settings(max_examples=40)
def test_every_pair_has_the_rules_of_its_tree(pairs, limits, cut):
    """As rules that were extracted, or added; a cut of composed rules leaves them."""
    if cut == (2, RuleCut.ALL):
        cut = (1, RuleCut.ALL)
    with built(pairs, limits, cut, added=True) as grammar:
        view = grammar.rule_view(RuleViewConfig(added=True))
        for pair in pairs:
            for block, gaps in minimal_tree(pair):
                event = event_of(pair, block, gaps, True)
                assert view.find(event.source, event.target) is not None


@given(corpora, limits, st.integers(1, 4), st.sampled_from([1, 1 << 30]), cuts)
@settings(max_examples=20)
def test_threads_and_memory_change_nothing(pairs, limits, n_threads, max_memory_bytes, cut):
    with (
        built(pairs, limits, cut, added=True) as one,
        built(pairs, limits, cut, added=True, n_threads=n_threads, max_memory_bytes=max_memory_bytes) as many,
    ):
        assert one.manifest.files == many.manifest.files
