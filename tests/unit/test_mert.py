"""MERT beyond the contract of all optimisers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import pool_of, random_pool

from dragoman import _core
from dragoman.candidates import oracle, rerank, synthetic_pool
from dragoman.candidates.shard import concatenate
from dragoman.candidates.synthetic import cosine
from dragoman.errors import InputError
from dragoman.features import Block, Weights
from dragoman.optim import Mert, Norm


def test_finds_the_gold_weights_of_a_small_problem():
    made = synthetic_pool(4, seed=1, n_sentences=100, n_candidates=20)
    result = Mert(n_starts=5).optimise(made.pool, Weights(made.pool.index), seed=1)
    assert cosine(result.weights, made.gold) > 0.999
    assert result.gain_after == pytest.approx(oracle(made.pool).gain(), rel=1e-3)


def test_reaches_a_separable_optimum_exactly():
    pool = pool_of(
        [
            [({"a": 1.0, "b": 0.0}, 1.0), ({"a": 0.0, "b": 1.0}, 0.0)],
            [({"a": 3.0, "b": 2.5}, 0.0), ({"a": 1.0, "b": 1.0}, 1.0)],
        ]
    )
    result = Mert().optimise(pool, Weights.from_dict({"a": 0.1, "b": 0.5}, pool.index), seed=1)
    assert result.gain_before < 1.0
    assert result.gain_after == 1.0


@pytest.mark.parametrize(("norm", "size"), [(Norm.L1, 1), (Norm.L2, 2), (None, 1)])
def test_norms(norm, size):
    pool = random_pool(1)
    result = Mert(norm=norm, n_starts=3).optimise(pool, Weights(pool.index), seed=1)
    assert np.linalg.norm(result.weights.values, ord=size) == pytest.approx(1.0)


def test_a_rare_feature_is_measured_where_it_tells_candidates_apart():
    """Random starts and directions are in units of the spread: else rare features get weights that dwarf all others."""
    rare = [({"rare": 1.0}, 1.0), ({"rare": 0.0}, 0.0)]
    often = [({"often": 3.0}, 1.0), ({"often": 0.0}, 0.0)]
    pool = pool_of([rare] + [often] * 9 + [[({"often": 2.0}, 1.0)]])
    lists = [(*shard.candidates, shard.stats) for shard in pool.shards]
    chosen = np.array([pool.index.find("rare"), pool.index.find("often")], np.int32)
    surface = _core.surface(lists, chosen, np.zeros(2), pool.metric.scorer(), 1)
    assert surface.spreads().tolist() == [0.5, 1.5]


@pytest.mark.parametrize(("n_more", "weight"), [(0, 0.0), (4, 0.0), (4, 1e-12)])
def test_steps_into_wide_intervals_are_short(n_more, weight):
    """Where one sentence alone decides, up to a corner far away, the middle would dwarf the other weights.

    That there are more features with no weight, or nearly none, makes no step longer, nor so short that it is nothing.
    """
    often = [[({"a": float(x), "b": float(-x)}, gain), ({"a": 0.0}, 0.0)] for x, gain in ((1, 1.0), (-1, 0.0))] * 20
    rare = [({"a": 0.1, "r": 0.0}, 0.0), ({"a": 0.0, "r": 1.0}, 1.0), ({"a": -500.0, "r": 2.0}, 0.0)]
    more = [[({f"s{i}": 1.0}, 0.0), ({"a": 0.0}, 0.0)] for i in range(n_more)]
    pool = pool_of([*often, rare, *more])
    weights = {"a": 1.0, "b": -1.0, "r": 0.0, **{f"s{i}": weight for i in range(n_more)}}
    result = Mert(n_starts=1, norm=Norm.NONE).optimise(pool, Weights.from_dict(weights, pool.index), seed=1)
    # From 0.1 to 500 the second candidate wins.
    assert result.gain_after == pytest.approx(21 / (41 + n_more))
    assert 0.1 + 1e-8 < result.weights["r"] < 5


def test_of_equally_good_plateaus_the_widest_is_taken():
    """Also where it comes later and lies in pieces, as derivations of one translation leave it."""
    corners = [1.0, 2.0, 3.0, 3.9, 4.8, 5.7, 6.6]
    gains = [0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    heights = np.concatenate([[0.0], -np.cumsum(corners)])
    lines = [
        ({"x": float(i), "height": float(height)}, gain)
        for i, (height, gain) in enumerate(zip(heights, gains, strict=True))
    ]
    pool = pool_of([lines])
    start = Weights.from_dict({"x": -10.0, "height": 1.0}, pool.index)
    result = Mert(features=("x",), n_starts=1, norm=Norm.NONE).optimise(pool, start, seed=1)
    assert result.weights["x"] == pytest.approx((3.0 + 6.6) / 2)


def test_bounds_hold():
    pool = random_pool(2)
    start = Weights(pool.index, np.full(5, 0.1))
    bounds = {"f0": (0.0, 0.2), "f1": (-math.inf, 0.05), "f2": (0.3, 0.3)}
    result = Mert(bounds=bounds, n_starts=6).optimise(pool, start, seed=1)
    for name, (lower, upper) in bounds.items():
        assert lower <= result.weights[name] <= upper
    assert result.gain_after > 0
    with pytest.raises(InputError, match="'x' has bounds but is not tuned"):
        Mert(bounds={"x": (0, 1)}).optimise(pool, start, seed=1)
    with pytest.raises(InputError, match="not a range"):
        Mert(bounds={"f0": (1, 0)})
    with pytest.raises(InputError, match="would move weights"):
        Mert(bounds=bounds, norm=Norm.L1).optimise(pool, start, seed=1)


def test_chosen_features_only():
    pool = random_pool(3)
    start = Weights(pool.index, np.linspace(0.5, 1.0, 5))
    result = Mert(features=("f1", "f3"), norm=Norm.NONE, n_starts=4).optimise(pool, start, seed=1)
    unchanged = [0, 2, 4]
    assert (result.weights.values[unchanged] == start.values[unchanged]).all()
    assert result.gain_after > result.gain_before
    with pytest.raises(InputError, match="no feature 'nobody'"):
        Mert(features=("nobody",)).optimise(pool, start, seed=1)


def test_sparse_features_only_when_asked():
    pool = replace(random_pool(3), dense=frozenset({0, 1}))
    start = Weights.from_dict(dict.fromkeys(pool.index.names(np.arange(5, dtype=np.int32)), 1.0), pool.index)
    mert = Mert(n_starts=3, norm=Norm.NONE)
    dense = mert.optimise(pool, start, seed=1).weights
    assert all(dense.values[2:] == 1.0)
    assert any(replace(mert, sparse=True).optimise(pool, start, seed=1).weights.values[2:] != 1.0)


def test_too_many_features_are_refused_and_blocks_help():
    pool = random_pool(4, n_features=30, active=0.3)
    start = Weights(pool.index, np.random.default_rng(0).normal(size=30))
    with pytest.raises(InputError, match="30 features.*pro"):
        Mert(max_features=20).optimise(pool, start, seed=1)
    block = Block.from_dict("sparse", {f"f{i}": start[f"f{i}"] for i in range(5, 30)})
    projected = pool.project([block])
    begin = Weights.from_dict({**{f"f{i}": start[f"f{i}"] for i in range(5)}, "sparse": 1.0}, projected.index)
    result = Mert(max_features=20, n_starts=5).optimise(projected, begin, seed=1)
    assert result.gain_after > result.gain_before
    assert result.weights["sparse"] != 0


def test_constant_features_are_named():
    sentences = [[({"a": 1.0, "c": 7.0}, 1.0), ({"a": -1.0, "c": 7.0}, 0.0)] for _ in range(3)]
    pool = pool_of(sentences)
    result = Mert(norm=Norm.NONE).optimise(pool, Weights.from_dict({"a": -1.0, "c": 0.5}, pool.index), seed=1)
    assert result.weights["c"] == 0.5
    assert result.weights["a"] > 0
    assert "never differ" in result.notes[0]


def test_the_start_is_kept_when_nothing_is_better():
    pool = pool_of([[({"a": 1.0}, 1.0), ({"a": -1.0}, 0.0)]])
    start = Weights.from_dict({"a": 3.0}, pool.index)
    result = Mert().optimise(pool, start, seed=1)
    assert result.weights["a"] == 3.0
    assert "starting weights" in result.notes[0]


def test_weights_never_collapse_on_a_one_sided_optimum():
    # The best interval along every axis is unbounded.
    pool = pool_of([[({"a": float(i), "b": float(i * i)}, float(i)) for i in range(6)] for _ in range(4)])
    result = Mert(norm=Norm.NONE).optimise(pool, Weights.from_dict({"a": -1.0, "b": -1.0}, pool.index), seed=1)
    assert result.gain_after == 5.0
    assert 1e-6 < np.abs(result.weights.values).max() < 1e6


def test_features_that_are_not_tuned_are_named():
    pool = replace(random_pool(3), dense=frozenset({0, 1}))
    start = Weights.from_dict({"f0": 1.0, "f1": 1.0}, pool.index)
    left = Mert(n_starts=1).optimise(pool, start, seed=1, frozen=["f2"])
    assert left.notes[0].startswith("2 features are not in every line and keep their weights: f3, f4; `sparse=True`")
    whole = Mert(n_starts=1, sparse=True).optimise(pool, start, seed=1)
    assert not any("keep their weights" in note for note in whole.notes)


def by_resamples(pool, optimiser, start, seed, frozen=()):
    """The weights of each resample, one training after the other."""
    (shard,) = pool.shards
    found = []
    for number in range(optimiser.resamples):
        rng = np.random.default_rng([seed, 0, number])
        drawn = np.sort(rng.choice(len(shard.sentences) - 1, size=len(shard.sentences) - 1))
        own = int(rng.integers(1 << 63))
        parts = [shard.part(place, place + 1) for place in drawn]
        parts = [replace(part, sentence_ids=np.array([i], np.int32)) for i, part in enumerate(parts)]
        sampled = replace(pool, shards=(concatenate(parts),))
        once = replace(optimiser, resamples=0)
        found.append(once.optimise(sampled, start, seed=own, frozen=frozen).weights.values)
    return np.array(found)


def test_weights_are_averaged_over_resamples():
    pool = random_pool(5, n_sentences=30, bleu=True)
    mert = Mert(n_starts=3, resamples=4)
    start = Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index)))
    result = mert.optimise(pool, start, seed=7)
    each = by_resamples(pool, mert, start, 7)
    shares = each / np.abs(each).sum(axis=1, keepdims=True)
    mean = shares.mean(axis=0)
    assert result.weights.values == pytest.approx(mean / np.abs(mean).sum())
    assert [entry["resample"] for entry in result.trace] == [0, 1, 2, 3]
    assert len({entry["gain"] for entry in result.trace}) > 1
    frozen = pool.index.names(np.array([1], np.int32))
    kept = mert.optimise(pool, start, seed=7, frozen=frozen).weights.values
    assert kept[1] == start.values[1]
    assert kept == pytest.approx(by_resamples(pool, mert, start, 7, frozen).mean(axis=0))
    assert (mert.optimise(pool, start, seed=7, n_threads=3).weights.values == result.weights.values).all()


def test_averages_generalise_better_than_one_training():
    """Where sentences are few and features many: on new lists of the same kind."""
    gains = {0: [], 10: []}
    for seed in range(5):
        made = synthetic_pool(8, seed=seed, n_sentences=325, n_candidates=20, noise=300.0).pool
        dev, test = (made.of_sentences(np.arange(*ends)) for ends in ((0, 25), (25, 325)))
        for resamples, found in gains.items():
            weights = Mert(n_starts=5, resamples=resamples).optimise(dev, Weights(dev.index), seed=seed).weights
            found.append(rerank(test, weights).score())
    assert np.mean(gains[10]) > np.mean(gains[0])


def test_resamples_that_teach_nothing_are_left_out():
    """One sentence of several teaches; without it no feature differs."""
    lists = [[({"a": 1.0}, 0.5), ({"a": 1.0}, 0.25)] for _ in range(3)] + [[({"a": 1.0}, 1.0), ({"a": 2.0}, 0.0)]]
    pool = pool_of(lists)
    start = Weights(pool.index, np.ones(len(pool.index)))
    result = Mert(n_starts=2, resamples=8).optimise(pool, start, seed=1)
    assert 0 < len(result.trace) < 8
    assert result.weights.values[0] < 0
    with pytest.raises(InputError, match="at least 0"):
        Mert(resamples=-1)
