"""Envelopes and oracles of forests against brute force over all derivations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kit.forests import (
    N_FEATURES,
    WORDS,
    all_derivations,
    brute_force,
    features_of,
    forests,
    weight_vectors,
    words_of,
)

from dragoman.forest import ForestArrays, envelopes, oracles, prune_to_density
from dragoman.metric import Bleu, SentenceBleu

STEPS = np.linspace(-7.3, 7.1, 41)


def lines_of(forest, weights, direction):
    """Score and slope of every derivation."""
    arrays = ForestArrays.of(forest.core)
    derivations = all_derivations(arrays, forest.n_nodes - 1)
    assume(len(derivations) <= 1000)
    features = [features_of(arrays, edges) for edges in derivations]
    return [(float(f @ weights), float(f @ direction)) for f in features]


@given(st.lists(forests(max_tails=3), min_size=1, max_size=2), weight_vectors, weight_vectors)
def test_envelope_is_the_best_of_all_derivations(several, weights, direction):
    lines = [line for forest in several for line in lines_of(forest, weights, direction)]
    found = envelopes([several], weights, direction)
    assert found.first.tolist() == [0, len(found)]
    if not lines:
        assert len(found) == 0
        return
    assert found.begins[0] == -math.inf
    assert (np.diff(found.begins) > 0).all()
    assert (np.diff(found.slopes) > 0).all()
    for t in STEPS:
        at = int(np.searchsorted(found.begins, t, side="right")) - 1
        best = max(score + t * slope for score, slope in lines)
        assert found.scores[at] + t * found.slopes[at] == pytest.approx(best, abs=1e-9)
    for i in range(len(found)):
        arrays = ForestArrays.of(several[found.forests[i]].core)
        edges = found.edges_of(i)
        features = features_of(arrays, edges)
        assert found.scores[i] == pytest.approx(float(features @ weights), abs=1e-9)
        assert found.slopes[i] == pytest.approx(float(features @ direction), abs=1e-9)
        assert found.tokens_of(i).tolist() == words_of(arrays, edges.tolist())


@given(forests(max_tails=3), weight_vectors, weight_vectors, st.integers(1, 8))
def test_a_pruned_forest_has_the_edges_of_the_best_derivations(forest, weights, direction, n_edges):
    arrays, derivations = brute_force(forest, weights)
    assume(0 < len(derivations) <= 1000)
    best = max(score for score, _ in derivations)
    through = {e: max(score for score, edges in derivations if e in edges) for _, edges in derivations for e in edges}
    ranked = sorted(through.values(), reverse=True)
    n_words = max(1, len(forest.kbest(weights, 1).tokens))
    [pruned] = prune_to_density([forest], weights, n_edges / n_words)
    least = min(ranked[min(n_edges, len(ranked)) - 1], best - 1e-9) - 1e-12
    kept = [edges for _, edges in derivations if all(through[e] >= least for e in edges)]
    lines = lines_of(pruned, weights, direction)
    features = [features_of(arrays, edges) for edges in kept]
    assert sorted(lines) == sorted((float(f @ weights), float(f @ direction)) for f in features)
    if n_edges >= forest.n_edges:
        assert pruned.n_edges == forest.n_edges  # edges of no derivation included
    else:
        assert pruned.n_edges == len({e for edges in kept for e in edges})
    found = envelopes([[pruned]], weights, direction)
    for t in STEPS:
        at = int(np.searchsorted(found.begins, t, side="right")) - 1
        value = found.scores[at] + t * found.slopes[at]
        assert value == pytest.approx(max(score + t * slope for score, slope in lines), abs=1e-9)


@settings(max_examples=20)
@given(st.lists(forests(), min_size=1, max_size=4), weight_vectors, weight_vectors)
def test_threads_do_not_matter(batch, weights, direction):
    one, many = (envelopes([[f] for f in batch], weights, direction, n_threads=n) for n in (1, 3))
    for name in ("first", "begins", "slopes", "scores", "tokens", "edges"):
        assert np.array_equal(getattr(one, name), getattr(many, name))


references = st.lists(
    st.lists(st.sampled_from([*WORDS, "elsewhere"]), max_size=7).map(" ".join), min_size=1, max_size=3
)


def bleu_plus_one(hypothesis, lines):
    stats = Bleu().text_statistics([hypothesis], [lines])
    return float(SentenceBleu().score(stats)[0])


@given(forests(max_tails=3), references)
def test_oracle_is_the_best_of_all_derivations(forest, lines):
    arrays, derivations = brute_force(forest, np.zeros(N_FEATURES))
    assume(len(derivations) <= 200)
    [found] = oracles([forest], [lines], beam=None)
    if not derivations:
        assert len(found.edges) == 0
        return
    best = max(bleu_plus_one(forest.text(np.array(words_of(arrays, edges))), lines) for _, edges in derivations)
    assert found.gain == pytest.approx(best, abs=1e-9)
    words = forest.text(np.array(words_of(arrays, found.edges.tolist())))
    assert bleu_plus_one(words, lines) == pytest.approx(best, abs=1e-9)


@given(forests(), references, st.integers(1, 3))
def test_a_beam_finds_a_derivation_no_better_than_the_best(forest, lines, beam):
    [narrow] = oracles([forest], [lines], beam=beam)
    [exact] = oracles([forest], [lines], beam=None)
    assert narrow.gain <= exact.gain + 1e-12
    assert (len(narrow.edges) == 0) == (len(exact.edges) == 0)
    if len(narrow.edges):
        arrays = ForestArrays.of(forest.core)
        words = forest.text(np.array(words_of(arrays, narrow.edges.tolist())))
        assert narrow.gain == pytest.approx(bleu_plus_one(words, lines), abs=1e-9)
