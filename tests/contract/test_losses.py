"""What every loss promises, and that its gradient is what the learners follow. A new loss joins by a line in LOSSES."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import random_pool

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu
from dragoman.optim import LOSSES as NAMES
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
    make_loss,
)

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
        scale=1,
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
    loss = RampLoss(metric=pool.metric, ramp=ramp, gain_scale=10.0)
    assert -moved / step == pytest.approx(dense_gradient(loss, pool, start.values), abs=1e-4)


def test_every_method_that_lowers_a_loss_can_name_it():
    assert set(NAMES) == set(LOSSES)
    for name in NAMES:
        assert type(make_loss(name, Bleu())) is LOSSES[name]


def test_a_loss_has_the_settings_of_its_method():
    assert make_loss("softramp", Bleu(), {"cost_scale": 7}).cost_scale == 7
    assert make_loss("svm", Bleu(), {"sentence_bleu": {"grounded": True}}).sentence_bleu.grounded
    assert make_loss("rm", Bleu(), {"aggressiveness": 0.1, "bound_step": 0.2}).bound_weight == 2


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("mert", {}, "there is no loss 'mert'"),
        ("soft-ramp", {}, "did you mean softramp"),
        ("softramp", {"step": 3}, "the loss of softramp does not depend on its setting 'step'"),
        ("softramp", {"cost_scale": 7, "l2": 3}, "does not depend on its setting 'l2'"),
        ("rm", {"units": "relative"}, "does not depend on its setting 'units'"),
        ("rm", {"units": "relative", "share": 0.2}, "does not depend on its setting 'share'"),
        ("softramp", {"gamma": 3}, "softramp has no setting 'gamma'"),
        ("xbleu", {"gamma": -1}, "must be positive"),
    ],
)
def test_what_a_loss_cannot_be_asked_for(name, settings, message):
    with pytest.raises(InputError, match=message):
        make_loss(name, Bleu(), settings)


def test_settings_that_need_others():
    settings = {"hope": "local", "local_size": 3, "bound_by_cost": True, "bound_floor": 0.2, "bound": 3}
    loss = make_loss("rm", Bleu(), settings)
    assert isinstance(loss, RelativeMarginLoss)
    assert (loss.local_size, loss.bound_floor, loss.bound) == (3, 0.2, 3)
