"""Losses in NumPy: as the native ones of the same mathematics."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.pools import pool_of

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.gradients.job import gradient_of
from dragoman.optim import ListLoss, OracleLikelihood, ScoreLoss, Stopping, Update, descend


def likelihood(scores, gains):
    """Minus the log probability of the best candidates."""
    best = np.where(gains == gains.max(), scores, -np.inf)
    p, q = np.exp(scores - scores.max()), np.exp(best - best.max())
    return scores.max() - best.max() + np.log(p.sum() / q.sum()), p / p.sum() - q / q.sum()


def likelihoods(scores, gains, offsets):
    """Of several lists."""
    begins, counts = offsets[:-1], np.diff(offsets)
    best = np.where(gains == np.repeat(np.maximum.reduceat(gains, begins), counts), scores, -np.inf)
    value, slopes = 0.0, []
    for each in (scores, best):
        top = np.maximum.reduceat(each, begins)
        p = np.exp(each - np.repeat(top, counts))
        sums = np.add.reduceat(p, begins)
        value, slopes = top + np.log(sums) - value, [*slopes, p / np.repeat(sums, counts)]
    return -value, slopes[0] - slopes[1]


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(1)
    return pool_of(
        [
            [
                (
                    {f"f{k}": float(rng.normal()) for k in rng.choice(30, 6, replace=False)}
                    | {"d": float(rng.normal())},
                    float(rng.integers(4)) / 4,
                )
                for _ in range(int(rng.integers(0, 9)))
            ]
            for _ in range(60)
        ],
        dense=False,
    )


RULES = {
    "plain": Update(step=0.1),
    "batches": Update(step=0.1, batch=7),
    "penalty and average": Update(step=0.1, decay=0.1, l2=0.3, averaged=True, batch=4),
    "adaptive": Update(step=0.1, l2=0.1, adaptive=True),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("batched", [False, True])
def test_descent_finds_the_weights_of_the_native_loss(pool, rule, batched):
    start = Weights.from_dict({"d": 1.0, "f1": 0.5}).on(pool.index)
    native = OracleLikelihood(metric=pool.metric)
    own = ScoreLoss(metric=pool.metric, function=likelihoods if batched else likelihood, batched=batched)
    found = [
        descend(pool, start, loss, update=RULES[rule], stopping=Stopping(max_epochs=5), seed=1, frozen=["f2"])
        for loss in (native, own)
    ]
    np.testing.assert_allclose(found[1].weights.values, found[0].weights.values, rtol=0, atol=1e-9)
    assert np.abs(found[0].weights.values - start.values).max() > 0.01
    for one, other in zip(found[0].trace, found[1].trace, strict=True):
        assert one == pytest.approx(other)


def test_the_gradient_is_that_of_the_native_loss(pool):
    assert issubclass(OracleLikelihood, ListLoss)
    weights = np.random.default_rng(2).normal(size=len(pool.index))
    losses = {
        "native": OracleLikelihood(metric=pool.metric),
        "lists": ScoreLoss(metric=pool.metric, function=likelihood),
        "batches": ScoreLoss(metric=pool.metric, function=likelihoods, batched=True),
    }
    expected = losses["native"].gradient(pool.shards[0], weights)
    for loss in losses.values():
        value, vector, n_lists = loss.gradient(pool.shards[0], weights)
        assert value == pytest.approx(expected[0])
        np.testing.assert_array_equal(vector.ids, expected[1].ids)
        np.testing.assert_allclose(vector.values, expected[1].values, atol=1e-9)
        np.testing.assert_array_equal(n_lists, expected[2])
    table = gradient_of(pool, losses, weights).table
    np.testing.assert_allclose(table.columns["lists"], table.columns["native"], atol=1e-9)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda scores, gains: (float(scores.sum()), np.ones(len(scores))), "must sum to 0 over the candidates"),
        (lambda scores, gains: (0.0, np.zeros(3)), r"derivatives of shape \(3,\) for"),
    ],
)
def test_what_is_no_loss_of_lists(pool, function, message):
    loss = ScoreLoss(metric=pool.metric, function=function)
    with pytest.raises(InputError, match=message):
        descend(pool, Weights.from_dict({"d": 1.0}), loss, update=Update(step=1), stopping=Stopping(), seed=1)
