"""What every loss promises, and that its gradient is what the learners follow. A new loss joins by a line in LOSSES."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dragoman.features import Weights
from dragoman.optim import (
    ExpectedGain,
    HingeLoss,
    OracleLikelihood,
    PerceptronLoss,
    Ramp,
    Rampion,
    RampLoss,
    RelativeMarginLoss,
    SoftRampLoss,
    Stopping,
    StructuredHinge,
    Update,
    descend,
)
from pools import random_pool

LOSSES = {
    "xbleu": ExpectedGain,
    "softramp": SoftRampLoss,
    "cll": OracleLikelihood,
    "svm": StructuredHinge,
    "perceptron": PerceptronLoss,
    "mira": HingeLoss,
    "rm": RelativeMarginLoss,
    "rampion": RampLoss,
}
LAST = Stopping(max_epochs=1, held_out=0, keep_best=False)


@pytest.fixture(params=LOSSES, name="make")
def each_loss(request):
    return LOSSES[request.param]


def some_pool(seed):
    pool = random_pool(seed, n_sentences=20, n_features=12, active=0.5, bleu=True)
    return replace(pool, dense=frozenset())


def start_of(pool):
    return Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index)))


def dense_gradient(loss, pool, weights):
    gradient = loss.gradient(pool.shards[0], weights)[1]
    dense = np.zeros(len(weights))
    dense[gradient.ids] = gradient.values
    return dense


def test_the_gradient_is_the_slope_of_the_value(make):
    pool = some_pool(1)
    loss, w, h = make(metric=pool.metric), start_of(pool).values, 1e-6
    ends = [[loss.gradient(pool.shards[0], w + sign * step)[0] for sign in (1, -1)] for step in h * np.eye(len(w))]
    slopes = [(above - below) / (2 * h) for above, below in ends]
    assert dense_gradient(loss, pool, w) == pytest.approx(np.array(slopes), abs=1e-5)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_one_step_over_all_lists_goes_against_the_gradient(make, n_threads):
    pool = some_pool(2)
    loss, start, step = make(metric=pool.metric), start_of(pool), 0.01
    result = descend(
        pool,
        start,
        loss,
        update=Update(step=step, batch=pool.shards[0].n_sentences),
        stopping=LAST,
        seed=1,
        rescale=False,
        n_threads=n_threads,
    )
    moved = start.values - step * dense_gradient(loss, pool, start.values)
    assert result.weights.values == pytest.approx(moved, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("ramp", Ramp)
def test_a_step_of_rampion_goes_against_its_gradient(ramp):
    """Steps of its own learner are taken list by list: small ones add up to that of all lists."""
    pool = some_pool(3)
    start, step = start_of(pool), 1e-9
    method = Rampion(n_concave=1, n_descents=1, step=step, l2=0, ramp=ramp)
    moved = method.optimise(pool, start, seed=1).weights.values - start.values
    loss = RampLoss(metric=pool.metric, ramp=ramp, gain_scale=method.gain_scale)
    assert -moved / step == pytest.approx(dense_gradient(loss, pool, start.values), abs=1e-4)
