"""Forest algorithms against brute force on small random forests."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kit.forests import N_FEATURES, brute_force, features_of, forests, share, weight_vectors, words_of

from dragoman import _core
from dragoman.features import FeatureIndex
from dragoman.forest import Derivation, Marginal, forest_from_json, forest_to_json, read_forest, write_forest


def test_most_forests_have_several_derivations():
    assert share(forests(), lambda forest: len(forest.kbest(np.zeros(N_FEATURES), 2)) == 2) >= 0.9


@given(forests(), weight_vectors, st.integers(1, 60))
def test_k_best_is_brute_force(forest, weights, k):
    arrays, expected = brute_force(forest, weights)
    assume(len(expected) <= 1000)
    got = forest.kbest(weights, k)
    assert len(got) == min(k, len(expected))
    np.testing.assert_allclose(got.totals, [score for score, _ in expected[:k]], atol=1e-9)
    seen = set()
    for c in range(len(got)):
        edges = got.edges_of(c).tolist()
        assert tuple(edges) not in seen
        seen.add(tuple(edges))
        assert got.tokens_of(c).tolist() == words_of(arrays, edges)
        dense = np.zeros(N_FEATURES)
        ids, values = got.features_of(c)
        assert np.all(np.diff(ids) > 0)
        dense[ids] = values
        np.testing.assert_allclose(dense, features_of(arrays, edges))
        assert got.totals[c] == pytest.approx(float(dense @ weights))


@given(forests(), weight_vectors, st.integers(1, 40))
def test_distinct_k_best_keeps_the_best_of_each_string(forest, weights, k):
    arrays, expected = brute_force(forest, weights)
    assume(len(expected) <= 1000)
    best = {}
    for score, edges in expected:
        best.setdefault(tuple(words_of(arrays, edges)), score)
    scores = sorted(best.values(), reverse=True)
    got = forest.kbest(weights, k, distinct=True)
    np.testing.assert_allclose(got.totals, scores[:k], atol=1e-9)
    strings = [tuple(got.tokens_of(c).tolist()) for c in range(len(got))]
    assert len(set(strings)) == len(strings)
    for string, score in zip(strings, got.totals, strict=True):
        assert best[string] == pytest.approx(score)


@given(forests(max_tails=3), weight_vectors)
def test_inside_is_the_sum_over_derivations(forest, weights):
    arrays, expected = brute_force(forest, weights)
    assume(len(expected) <= 1000)
    if not expected:
        assert forest.expected_features(weights).log_total == -math.inf
        assert forest.best(weights) is None
        return
    scores = np.array([score for score, _ in expected])
    total = np.logaddexp.reduce(scores)
    assert forest.expected_features(weights).log_total == pytest.approx(total)
    posterior = np.exp(scores - total)
    wanted = sum(p * features_of(arrays, edges) for p, (_, edges) in zip(posterior, expected, strict=True))
    got = np.zeros(N_FEATURES)
    expectation = forest.expected_features(weights)
    got[expectation.ids] = expectation.values
    np.testing.assert_allclose(got, wanted, atol=1e-9)
    by_sum = forest.core.marginals(weights, True)
    by_max = forest.core.marginals(weights, False)
    for e in range(forest.n_edges):
        # An edge can stand several times in a derivation; its marginal counts each time.
        count = np.array([edges.count(e) for _, edges in expected])
        mass = float(posterior @ count)
        assert math.exp(by_sum[e]) == pytest.approx(mass, abs=1e-12)
        best = max((s for s, (_, edges) in zip(scores, expected, strict=True) if e in edges), default=-math.inf)
        assert by_max[e] == pytest.approx(best - scores[0])


@given(forests(), weight_vectors, st.floats(-3, 0))
def test_pruning_keeps_exactly_the_derivations_of_good_edges(forest, weights, threshold):
    _, expected = brute_force(forest, weights)
    assume(0 < len(expected) <= 1000)
    marginals = forest.core.marginals(weights, False)
    kept = [score for score, edges in expected if all(marginals[e] >= threshold for e in edges)]
    pruned = forest.pruned(weights, threshold)
    got = pruned.kbest(weights, len(expected) + 1)
    np.testing.assert_allclose(got.totals, kept, atol=1e-9)
    assert pruned.n_edges == int(np.sum(marginals >= threshold))
    assert forest.pruned(weights, 0.0, marginal=Marginal.SUM).n_edges <= forest.n_edges


@given(forests(), weight_vectors)
def test_derivations_stand_by_themselves(forest, weights):
    best = forest.best(weights)
    assume(best is not None)
    got = forest.kbest(weights, 1)
    assert best.tokens() == forest.text(got.tokens).split()
    named = dict(zip([f"f{i}" for i in range(N_FEATURES)], weights.tolist(), strict=True))
    assert best.score(named) == pytest.approx(got.totals[0])
    again = Derivation.from_json(json.loads(json.dumps(best.to_json())))
    assert again == best
    placed = sorted(p for row in best.target_positions() for p in row)
    assert placed == list(range(len(best.tokens())))


@given(forests(), weight_vectors)
def test_json_round_trip(forest, weights):
    again = forest_from_json(json.loads(json.dumps(forest_to_json(forest))), FeatureIndex())
    names = again.index.names(np.arange(len(again.index), dtype=np.int32))
    mapped = np.array([weights[int(name[1:])] for name in names])
    a, b = forest.kbest(weights, 50), again.kbest(mapped, 50)
    np.testing.assert_allclose(a.totals, b.totals)
    assert [forest.text(a.tokens_of(c)) for c in range(len(a))] == [again.text(b.tokens_of(c)) for c in range(len(b))]
    for x, y in zip(forest.core.arrays(), again.core.arrays(), strict=True):
        assert x.shape == y.shape
    assert np.array_equal(forest.core.arrays()[0], again.core.arrays()[0])
    assert again.labels == forest.labels


@given(forests(), weight_vectors)
def test_hypergraph_round_trip(tmp_path_factory, forest, weights):
    path = tmp_path_factory.mktemp("h") / "forest.hg.gz"
    write_forest(forest, path)
    again = read_forest(path)
    names = again.index.names(np.arange(len(again.index), dtype=np.int32))
    mapped = np.array([weights[int(name[1:])] for name in names])
    a, b = forest.kbest(weights, 50), again.kbest(mapped, 50)
    np.testing.assert_allclose(a.totals, b.totals, atol=1e-9)
    key = lambda f, k: sorted((round(float(k.totals[c]), 6), f.text(k.tokens_of(c))) for c in range(len(k)))  # noqa: E731
    if len(a) < 50:
        assert key(forest, a) == key(again, b)
    second = path.with_name("again.hg")
    write_forest(again, second)
    assert read_forest(second).kbest(mapped, 50).totals.tolist() == b.totals.tolist()


@settings(max_examples=20)
@given(st.lists(forests(), min_size=1, max_size=4), weight_vectors)
def test_threads_do_not_matter(batch, weights):
    cores = [forest.core for forest in batch]
    one = _core.kbest(cores, weights, 20, False, 1)
    many = _core.kbest(cores, weights, 20, False, 3)
    for x, y in zip(one, many, strict=True):
        assert np.array_equal(x, y)
