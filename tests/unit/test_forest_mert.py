"""Tuning on forests: what it reaches, against candidates written out in full."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.corpus import Vocab
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Forest, ForestArrays, prune_to_density
from dragoman.metric import Bleu, Smoothing, Ter
from dragoman.optim.forest_mert import ForestMert, ForestSurface, feature_spreads

VOCAB = Vocab.of(["a b c d e f g h"])
WORDS = [VOCAB.word(i) for i in range(3, len(VOCAB))]
N_FEATURES = 3
NAMES = [f"f{i}" for i in range(N_FEATURES)]


def index_of_features():
    index = FeatureIndex()
    for name in NAMES:
        index.intern(name)
    return index


def lattice(rng, index, length, n_features=N_FEATURES):
    """At each of `length` places one of three words with random features: 3 ** length translations."""
    n_edges = 3 * length
    places = np.repeat(np.arange(length), 3)
    words = rng.integers(3, len(VOCAB), n_edges)
    symbols = [[-1, word] if place else [word] for place, word in zip(places, words, strict=True)]
    offsets = np.cumsum([0, *(len(row) for row in symbols)], dtype=np.int64)
    arrays = ForestArrays(
        nodes=np.array([[-1, 0, v + 1, v + 1] for v in range(length)], np.int32),
        rules=np.arange(n_edges, dtype=np.int64),
        spans=np.stack([places, places + 1], axis=1).astype(np.int32),
        symbol_offsets=offsets,
        symbols=np.array([s for row in symbols for s in row], np.int32),
        local_offsets=np.arange(n_edges + 1, dtype=np.int64) * n_features,
        local_ids=np.tile(np.arange(n_features, dtype=np.int32), n_edges),
        local_values=rng.normal(size=n_edges * n_features).astype(np.float32),
        node_edges=np.arange(length + 1, dtype=np.int64) * 3,
        instances=np.arange(n_edges, dtype=np.int32),
        tail_offsets=np.cumsum([0, *(min(place, 1) for place in places)], dtype=np.int64),
        tails=np.array([place - 1 for place in places if place], np.int32),
        feature_offsets=np.zeros(n_edges + 1, np.int64),
        feature_ids=np.zeros(0, np.int32),
        feature_values=np.zeros(0, np.float32),
    )
    return Forest(arrays.build(), VOCAB, index)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    index = index_of_features()
    forests = [[lattice(rng, index, 3 + i % 3)] for i in range(12)]
    teacher = np.array([1.0, -0.7, 0.4])
    lines = [[forest.text(forest.kbest(teacher, 3).tokens_of(2))] for [forest] in forests]
    return forests, lines, Weights(index, np.array([-0.2, 0.5, 1.0]))


def gain_of(forests, lines, values, metric):
    texts = [forest.text(forest.kbest(values, 1).tokens_of(0)) for [forest] in forests]
    return float(metric.gain(metric.text_statistics(texts, lines).sum(axis=0)))


@pytest.mark.parametrize("metric", [Bleu(smoothing=Smoothing.NONE), Ter()])
def test_it_finds_better_weights(problem, metric):
    forests, lines, start = problem
    result = ForestMert().optimise_forests(forests, lines, metric, start, dense=NAMES, seed=1)
    assert result.gain_before == pytest.approx(gain_of(forests, lines, start.values, metric))
    assert result.gain_after == pytest.approx(gain_of(forests, lines, result.weights.values, metric))
    assert result.gain_after > result.gain_before + 0.1


def test_one_search_is_exact(problem):
    forests, lines, start = problem
    metric = Bleu(smoothing=Smoothing.NONE)
    surface = ForestSurface(forests, lines, metric, 1)
    for k in range(N_FEATURES):
        direction = np.eye(N_FEATURES)[k]
        step, gain = surface.search(start.values, direction)
        assert gain == pytest.approx(gain_of(forests, lines, start.values + step * direction, metric))
        grid = [gain_of(forests, lines, start.values + t * direction, metric) for t in np.linspace(-8, 8, 400)]
        assert gain >= max(grid) - 1e-12


def test_threads_and_seeds(problem):
    forests, lines, start = problem
    one, many = (
        ForestMert().optimise_forests(forests, lines, Bleu(), start, dense=NAMES, seed=3, n_threads=n) for n in (1, 3)
    )
    assert np.array_equal(one.weights.values, many.weights.values)
    other = ForestMert().optimise_forests(forests, lines, Bleu(), start, dense=NAMES, seed=4)
    assert not np.array_equal(one.weights.values, other.weights.values)


def test_pruning_does_not_depend_on_the_scale_of_weights_or_on_threads(problem):
    forests, _, start = problem
    flat = [forest for [forest] in forests]
    small, same, threads = (
        prune_to_density(flat, scale * start.values, 2.0, n_threads=n) for scale, n in ((1.0, 1), (64.0, 1), (1.0, 3))
    )
    assert [forest.n_edges for forest in small] == [2 * (3 + i % 3) for i in range(12)]
    for one, other, third in zip(small, same, threads, strict=True):
        assert np.array_equal(one.core.arrays()[1], other.core.arrays()[1])
        assert np.array_equal(one.core.arrays()[1], third.core.arrays()[1])
    assert prune_to_density([], start, 1.0) == []


def test_it_learns_from_pruned_forests(problem):
    forests, lines, start = problem
    whole, wide, narrow = (
        ForestMert(prune=prune).optimise_forests(iter(forests), lines, Ter(), start, dense=NAMES, seed=1)
        for prune in (np.inf, 100.0, 1.5)
    )
    assert np.array_equal(whole.weights.values, wide.weights.values)  # no forest has 100 edges a word
    assert narrow.gain_before == whole.gain_before  # the best derivation is kept
    pruned = [prune_to_density(several, start, 1.5) for several in forests]
    assert narrow.gain_after == pytest.approx(gain_of(pruned, lines, narrow.weights.values, Ter()))


def test_frozen_features_stay(problem):
    forests, lines, start = problem
    result = ForestMert().optimise_forests(forests, lines, Bleu(), start, dense=NAMES, seed=1, frozen=["f1"])
    assert result.weights["f1"] == start["f1"]
    assert result.weights["f0"] != start["f0"]


def test_forests_of_several_rounds_are_one_space(problem):
    forests, lines, start = problem
    rng = np.random.default_rng(9)
    index = forests[0][0].index
    merged = [[forest, lattice(rng, index, 4)] for [forest] in forests]
    result = ForestMert(n_starts=1).optimise_forests(merged, lines, Bleu(), start, dense=NAMES, seed=1)
    best = [
        max(((forest.kbest(result.weights, 1).totals[0], forest) for forest in several), key=lambda pair: pair[0])[1]
        for several in merged
    ]
    assert result.gain_after == pytest.approx(
        gain_of([[forest] for forest in best], lines, result.weights.values, Bleu(smoothing=Smoothing.NONE))
    )


def test_bad_requests(problem):
    forests, lines, start = problem
    with pytest.raises(MismatchError):
        ForestMert().optimise_forests(forests, lines[1:], Bleu(), start, dense=NAMES, seed=1)
    with pytest.raises(InputError, match="elsewhere"):
        ForestMert().optimise_forests(forests, lines, Bleu(), start, dense=["elsewhere"], seed=1)
    with pytest.raises(InputError, match="all are frozen"):
        ForestMert().optimise_forests(forests, lines, Bleu(), start, dense=NAMES, seed=1, frozen=NAMES)
    with pytest.raises(InputError, match="no forests"):
        ForestMert().optimise_forests([], [], Bleu(), start, dense=NAMES, seed=1)
    with pytest.raises(InputError):
        ForestMert(n_starts=0)
    for prune in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="edges per word"):
            ForestMert(prune=prune)
    with pytest.raises(ValueError, match="density"):
        prune_to_density([forests[0][0]], start, 0.0)


def test_a_rare_feature_is_measured_where_it_differs():
    rng, index = np.random.default_rng(2), index_of_features()
    rare = [lattice(rng, index, 4)]
    often = [[lattice(rng, index, 4, n_features=2)] for _ in range(9)]
    values, chosen = np.ones(N_FEATURES), np.arange(N_FEATURES, dtype=np.int32)
    alone, among = feature_spreads([rare], values, chosen), feature_spreads([rare, *often], values, chosen)
    assert among[2] == alone[2] > 0
    assert among[0] != alone[0]


def test_nothing_to_gain(problem):
    forests, _, start = problem
    empty = [["nothing like it"] for _ in forests]
    result = ForestMert().optimise_forests(forests, empty, Bleu(), start, dense=NAMES, seed=1)
    assert np.array_equal(result.weights.values, start.values)
    assert "starting weights" in result.notes[0]
