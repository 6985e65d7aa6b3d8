"""The curve of a weight against reranking at every interval's middle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.pools import random_pool

from dragoman.analysis.curves import curve_of, on_envelopes
from dragoman.candidates import rerank
from dragoman.features import Weights
from dragoman.metric import Ter


def with_ter(pool, seed):
    """The same candidates with random edits, and a reference length for each sentence."""
    (shard,) = pool.shards
    rng = np.random.default_rng(seed)
    edits = rng.integers(0, 9, shard.n_candidates)
    lengths = rng.integers(5, 12, shard.n_sentences)[shard.sentence_of_each()]
    stats = np.column_stack([edits, lengths]).astype(np.float64)
    return replace(pool, shards=(shard.with_stats(stats),), metric=Ter())


def in_two(pool):
    """The same pool in two shards, if it has two sentences."""
    (shard,) = pool.shards
    half = shard.n_sentences // 2
    parts = [(0, half), (half, shard.n_sentences)] if half else [(0, 1)]
    return replace(pool, shards=tuple(shard.part(*part) for part in parts))


@st.composite
def problems(draw):
    seed = draw(st.integers(0, 10_000))
    pool = random_pool(
        seed,
        n_sentences=draw(st.integers(1, 12)),
        n_candidates=draw(st.integers(1, 15)),
        n_features=draw(st.integers(1, 4)),
        active=draw(st.sampled_from([1.0, 0.5])),
        bleu=draw(st.booleans()),
        grid=draw(st.booleans()),
    )
    if draw(st.booleans()):
        pool = with_ter(pool, seed)
    if draw(st.booleans()):
        pool = in_two(pool)
    rng = np.random.default_rng(seed + 1)
    low, high = sorted(rng.normal(scale=3, size=2).tolist())
    return pool, Weights(pool.index, rng.normal(size=len(pool.index))), f"f{rng.integers(len(pool.index))}", low, high


def score_at(pool, weights, feature, weight):
    there = weights.copy()
    there[feature] = weight
    return rerank(pool, there).score()


@settings(max_examples=200)
@given(problem=problems())
def test_the_score_of_every_interval_is_that_of_reranking_in_it(problem):
    pool, weights, feature, low, high = problem
    curve = curve_of(pool, weights, feature, low, high)
    parts = list(curve.stretches())
    assert (parts[0].low, parts[-1].high) == (low, high)
    assert len(parts) == len(curve.scores) <= curve.n_changes + 1
    for part in parts:
        assert part.low < part.high
        # Of a narrow interval its middle; a wide one is one interval also near its ends.
        inside = [part.middle, part.low + 1e-3 * (part.high - part.low), part.high - 1e-3 * (part.high - part.low)]
        for weight in inside[: 3 if part.high - part.low > 1e-6 else 1]:
            assert curve.at(weight) == part.score
            assert score_at(pool, weights, feature, weight) == pytest.approx(part.score, abs=1e-9)
    assert (np.diff(curve.scores) != 0).all()
    gains = curve.scores if curve.metric.higher_is_better else -curve.scores
    best = curve.best()
    assert (best.score if curve.metric.higher_is_better else -best.score) == pytest.approx(gains.max(), abs=1e-12)
    assert score_at(pool, weights, feature, best.middle) == pytest.approx(best.score, abs=1e-9)
    assert curve.span() == pytest.approx(curve.scores.max() - curve.scores.min())


@settings(max_examples=60)
@given(problem=problems())
def test_candidates_below_the_envelopes_do_not_matter(problem):
    pool, weights, feature, low, high = problem
    kept = on_envelopes(pool, weights, feature, low, high)
    assert kept.n_candidates <= pool.n_candidates
    whole, fewer = (curve_of(one, weights, feature, low, high, n_threads=2) for one in (pool, kept))
    np.testing.assert_array_equal(whole.corners, fewer.corners)
    np.testing.assert_allclose(whole.scores, fewer.scores, atol=1e-12)
    again = on_envelopes(kept, weights, feature, low, high)
    assert again.n_candidates == kept.n_candidates
