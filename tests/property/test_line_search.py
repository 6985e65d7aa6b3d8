"""The exact line search against a fine grid, and against a slow twin in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.pools import dense_features, random_pool

from dragoman import _core

INFINITY = float("inf")
POOLS = st.builds(
    random_pool,
    st.integers(0, 10_000),
    n_sentences=st.integers(1, 12),
    n_candidates=st.integers(1, 12),
    n_features=st.integers(1, 4),
    active=st.sampled_from([1.0, 0.5]),
    bleu=st.booleans(),
    grid=st.booleans(),
)


def surface_of(pool, weights, n_threads=1, chosen=None):
    ids = np.arange(len(pool.index), dtype=np.int32) if chosen is None else np.array(chosen, dtype=np.int32)
    shards = [(*shard.candidates, shard.stats) for shard in pool.shards]
    return _core.surface(shards, ids, weights, pool.metric.scorer(), n_threads)


def gains_along(pool, weights, direction, steps):
    """The metric of the best candidates (the first of equals) at each step, by brute force."""
    x, shard = dense_features(pool), pool.shards[0]
    scorer = pool.metric.scorer()
    here, slopes = x @ weights, x @ direction
    gains = []
    for t in steps:
        scores = here + t * slopes
        total = np.zeros(shard.stats.shape[1])
        for begin, end in zip(shard.sentences, shard.sentences[1:], strict=False):
            if begin < end:
                total += shard.stats[begin + np.argmax(scores[begin:end])]
        gains.append(scorer.gain(total))
    return np.array(gains)


@settings(max_examples=150)
@given(pool=POOLS, seed=st.integers(0, 1000), axis=st.booleans(), bounded=st.booleans())
def test_never_below_a_fine_grid(pool, seed, axis, bounded):
    rng = np.random.default_rng(seed)
    n = len(pool.index)
    weights = rng.normal(size=n)
    lower, upper = (-0.7, 1.3) if bounded else (-INFINITY, INFINITY)
    surface = surface_of(pool, weights)
    if axis:
        k = int(rng.integers(n))
        direction = np.eye(n)[k]
        step = surface.search_feature(weights, k, lower, upper)
    else:
        direction = rng.normal(size=n)
        step = surface.search_direction(weights, direction, lower, upper)
    assert lower <= step <= upper
    # Corners of random pools are irrational numbers: a grid point is on none of them.
    grid = np.concatenate([np.linspace(-5, 5, 400), [-1e4, -300, -20, 20, 300, 1e4]]) + 1e-5 * np.pi
    grid = grid[(grid > lower) & (grid < upper)]
    best = gains_along(pool, weights, direction, grid).max()
    found = gains_along(pool, weights, direction, [step])[0]
    assert found >= best - 1e-9 * max(1.0, abs(best)) or _too_narrow(pool, weights, direction, grid, found)


def _too_narrow(pool, weights, direction, grid, found):
    """Whether the grid hit only intervals too narrow for the search to consider."""
    better = grid[gains_along(pool, weights, direction, grid) > found]
    near = np.concatenate([better + d * (1 + np.abs(better)) for d in (-2e-6, 2e-6)])
    return (gains_along(pool, weights, direction, near) <= found).all()


@settings(max_examples=100)
@given(pool=POOLS, seed=st.integers(0, 1000))
def test_axis_and_direction_agree(pool, seed):
    rng = np.random.default_rng(seed)
    n = len(pool.index)
    weights = rng.normal(size=n)
    surface = surface_of(pool, weights)
    for k in range(n):
        one = surface.search_feature(weights, k, -INFINITY, INFINITY)
        other = surface.search_direction(weights, np.eye(n)[k], -INFINITY, INFINITY)
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


@settings(max_examples=50)
@given(pool=POOLS, seed=st.integers(0, 1000))
def test_gain_at_a_point_is_that_of_the_best_candidates(pool, seed):
    weights = np.random.default_rng(seed).normal(size=len(pool.index))
    gain = surface_of(pool, weights).gain(weights)
    assert gain == pytest.approx(gains_along(pool, weights, weights * 0, [0.0])[0], rel=1e-12, abs=1e-12)


def test_features_that_are_not_chosen_keep_their_part():
    pool = random_pool(7, n_features=4)
    weights = np.array([1.0, -0.5, 0.3, 0.8])
    surface = surface_of(pool, weights, chosen=[2, 0])
    assert surface.gain(np.array([0.3, 1.0])) == pytest.approx(gains_along(pool, weights, weights, [0.0])[0])
    changed = np.array([5.0, -0.5, -0.3, 0.8])
    assert surface.gain(np.array([-0.3, 5.0])) == pytest.approx(gains_along(pool, changed, weights, [0.0])[0])


def test_many_threads_are_one_thread():
    pool = random_pool(8, n_sentences=60, bleu=True)
    starts = np.random.default_rng(0).normal(size=(7, 5))
    bounds = np.full(5, -INFINITY), np.full(5, INFINITY)
    runs = [surface_of(pool, starts[0], n_threads=n).climb(starts, *bounds, 20, 5, 3, n) for n in (1, 4)]
    for one, other in zip(*runs, strict=True):
        assert one.tobytes() == other.tobytes()


def test_several_shards_are_one_pool():
    pool = random_pool(9, n_sentences=30, bleu=True)
    shard = pool.shards[0]
    split = type(pool)(
        index=pool.index, words=pool.words, shards=(shard.part(0, 11), shard.part(11, 30)), metric=pool.metric
    )
    starts = np.random.default_rng(0).normal(size=(3, 5))
    bounds = np.full(5, -INFINITY), np.full(5, INFINITY)
    one, other = (surface_of(p, starts[0]).climb(starts, *bounds, 20, 5, 3, 1) for p in (pool, split))
    for a, b in zip(one, other, strict=True):
        assert a.tobytes() == b.tobytes()
