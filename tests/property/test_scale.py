"""Scales of descent: the start's does not matter, and what is frozen is scaled and returned with the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.pools import dense_features, random_pool

from dragoman import _core
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim import (
    Cll,
    ExpectedGain,
    Perceptron,
    RampLoss,
    SoftRamp,
    Stopping,
    Svm,
    Update,
    Xbleu,
    descend,
)
from dragoman.optim.descent import suitable_scale

METHODS = {"xbleu": Xbleu, "softramp": SoftRamp, "cll": Cll, "svm": Svm, "perceptron": Perceptron}
POWERS = st.integers(-30, 30).map(lambda power: 2.0**power)
FREEZING = st.sampled_from([(True, ()), (True, ("f5", "f7")), (False, ("f0",)), (False, ())])
LAST = Stopping(max_epochs=2, held_out=0, keep_best=False)


def a_pool(seed, *, bleu=False):
    """Three dense features and nine that few candidates have."""
    pool = random_pool(seed, n_sentences=12, n_features=12, active=0.4, bleu=bleu)
    return replace(pool, dense=frozenset({0, 1, 2}))


def a_start(pool, seed, factor=1.0):
    """Dense weights, a few sparse ones, and one of a feature that no candidate has."""
    values = np.random.default_rng(seed).normal(size=len(pool.index)) * (np.arange(len(pool.index)) < 6)
    start = Weights(pool.index, factor * values)
    start["unknown"] = -0.5 * factor
    return start


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 50), st.booleans(), POWERS, FREEZING)
@settings(max_examples=10)
def test_no_power_of_two_of_the_start_matters_to_the_last_bit(method, seed, bleu, factor, freezing):
    freeze_dense, frozen = freezing
    made = METHODS[method](freeze_dense=freeze_dense, max_epochs=3, keep_best=False)
    plain, other = (
        made.optimise(pool, a_start(pool, seed, by), seed=1, frozen=frozen)
        for pool, by in ((a_pool(seed, bleu=bleu), 1.0), (a_pool(seed, bleu=bleu), factor))
    )
    assert (other.weights.values / factor).tobytes() == plain.weights.values.tobytes()
    assert other.trace[0]["scale"] == plain.trace[0]["scale"] / factor
    assert [e["loss"] for e in other.trace] == [e["loss"] for e in plain.trace]


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 50), FREEZING, st.sampled_from([None, 1.0, 3.7, 1 / 3, 64.0]))
@settings(max_examples=10)
def test_frozen_weights_are_returned_bit_by_bit(method, seed, freezing, scale):
    freeze_dense, frozen = freezing
    pool = a_pool(seed)
    start = a_start(pool, seed)
    made = METHODS[method](freeze_dense=freeze_dense, max_epochs=3, keep_best=False, scale=scale)
    result = made.optimise(pool, start, seed=1, frozen=frozen)
    for name in (*frozen, *(("f0", "f1", "f2") if freeze_dense else ()), "unknown"):
        assert result.weights[name] == start[name]


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 50), FREEZING, st.sampled_from([0.25, 3.0, 32.0]))
@settings(max_examples=10)
def test_a_scale_is_a_start_so_multiplied_and_a_result_so_divided(method, seed, freezing, scale):
    freeze_dense, frozen = freezing
    words = {"freeze_dense": freeze_dense, "max_epochs": 3, "keep_best": False}
    pool = a_pool(seed)
    scaled = METHODS[method](**words, scale=scale).optimise(pool, a_start(pool, seed), seed=1, frozen=frozen)
    plain = METHODS[method](**words, scale=1).optimise(pool, a_start(pool, seed, scale), seed=1, frozen=frozen)
    assert scaled.weights.values == pytest.approx(plain.weights.values / scale, rel=1e-12)
    assert scaled.trace[0]["scale"] == scale
    assert scaled.trace[-1]["watched"] == pytest.approx(plain.trace[-1]["watched"], rel=1e-12)
    assert f"multiplied by {scale:g}" in scaled.notes[0]
    assert not [note for note in plain.notes if "multiplied" in note]


@given(st.integers(0, 50), st.sampled_from([None, 5.0]), st.booleans())
@settings(max_examples=10)
def test_a_loss_from_outside_is_scaled_alike(seed, scale, freeze_dense):
    class Outside:
        def gradient(self, shard, weights):
            return inner.gradient(shard, weights)

    pool = a_pool(seed)
    inner = ExpectedGain(metric=pool.metric)
    native, outside = (
        descend(
            pool,
            a_start(pool, seed),
            loss,
            update=Update(step=0.1),
            stopping=LAST,
            seed=1,
            frozen=["f4"],
            freeze_dense=freeze_dense,
            scale=scale,
        )
        for loss in (inner, Outside())
    )
    assert outside.weights.values == pytest.approx(native.weights.values, rel=1e-9, abs=1e-12)
    assert outside.trace[0]["scale"] == native.trace[0]["scale"]


def test_margin_losses_are_scaled_too():
    pool = a_pool(1)
    start = a_start(pool, 1)
    loss = RampLoss(metric=pool.metric, gain_scale=1.0)
    results = [
        descend(pool, w, loss, update=Update(step=0.01), stopping=LAST, seed=1, freeze_dense=True)
        for w in (start, Weights(pool.index, 2.0**-9 * start.values))
    ]
    assert (results[1].weights.values * 2.0**9).tobytes() == results[0].weights.values.tobytes()
    assert results[0].weights["f1"] == start["f1"]


def test_weights_without_a_scale_teach_sparse_ones_all_the_same():
    """Weights of MERT: their sum is 1, and as they are, all candidates look alike."""
    pool = random_pool(3, n_sentences=200, n_features=30, active=0.3)
    pool = replace(pool, dense=frozenset(range(5)))
    good = Xbleu(freeze_dense=False).optimise(pool, Weights(pool.index), seed=1).weights
    values = np.where(np.arange(30) < 5, good.values, 0)
    start = Weights(pool.index, values / (1000 * np.abs(values).sum()))
    found = Xbleu().optimise(pool, start, seed=1)
    assert found.trace[0]["scale"] > 100
    assert found.gain_after > found.gain_before + 0.1
    assert (found.weights.values[:5] == start.values[:5]).all()
    # The proportion of sparse to dense weights is one that learning both finds.
    ratio = np.abs(found.weights.values[5:]).mean() / np.abs(start.values[:5]).mean()
    wanted = np.abs(good.values[5:]).mean() / np.abs(good.values[:5]).mean()
    assert 0.2 < ratio / wanted < 5
    as_it_is = Xbleu(scale=1).optimise(pool, start, seed=1)
    assert found.trace[-1]["watched"] < as_it_is.trace[0]["watched"]


@given(st.integers(0, 50), st.sampled_from([1.0, 0.125, 12.0]))
@settings(max_examples=10)
def test_scores_of_prepared_lists_against_a_twin(seed, scale):
    pool = a_pool(seed)
    (shard,) = pool.shards
    weights = np.random.default_rng(seed).normal(size=len(pool.index))
    free = np.random.default_rng(seed + 1).normal(size=len(pool.index))
    fixed = np.arange(len(pool.index)) < 3
    lists = _core.ListStore(len(pool.index), 1 << 20, "")
    gains = shard.stats[:, 0].copy()
    lists.add(*shard.candidates, gains, fixed.view(np.uint8), weights)
    lists.seal()
    lists.scale_fixed(scale)
    scores = dense_features(pool) @ np.where(fixed, scale * weights, free)
    rows = [slice(a, b) for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True)]
    order = np.arange(len(lists))
    assert lists.score_variance(order, free) == pytest.approx(np.mean([scores[row].var() for row in rows]))
    best = [gains[row][scores[row].argmax()] for row in rows]
    regret = sum(gains[row].max() for row in rows) - sum(best)
    assert lists.loss(_core.list_loss("regret"), order, free) == pytest.approx(regret)


def test_scales_that_no_list_can_have():
    lists = _core.ListStore(1, 1 << 20, "")
    for scale in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="positive"):
            lists.scale_fixed(scale)
        with pytest.raises(InputError, match="must be positive"):
            Xbleu(scale=scale)
    lists.seal()
    assert lists.score_variance(np.zeros(0, np.int64), np.zeros(1)) == 0
    with pytest.raises(ValueError, match="one weight"):
        lists.score_variance(np.zeros(0, np.int64), np.zeros(2))


def test_the_scale_that_suits_a_loss():
    def saturating(scale):
        return -scale / (scale + 16)

    # Of what 1024 / 0.5 brings, half at just over 16, three quarters at just over 48.
    assert suitable_scale(0.5, saturating) == 16
    assert suitable_scale(0.5, saturating, frozen=True) == 64
    assert suitable_scale(0.5, lambda scale: (scale - 5) ** 2, frozen=True) == 4
    assert suitable_scale(0.5, lambda scale: 3.0, frozen=True) == 2  # for a deviation of 1
    assert suitable_scale(100.0, lambda scale: 3.0, frozen=True) == pytest.approx(0.01)
    for deviation in (0.0, float("inf"), float("nan")):
        assert suitable_scale(deviation, saturating) == 1
    assert suitable_scale(0.5, lambda scale: float("inf")) == 1
