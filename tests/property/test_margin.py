"""Margin learning against a general solver (single sentences), dense NumPy (epochs), finite differences (losses)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.kit.margin_twin import learn, objective, passive_aggressive, program, solve
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman.features import Weights
from dragoman.metric import SentenceBleu
from dragoman.optim import HingeLoss, MarginUpdate, Mira, Ramp, RampLoss, RelativeMarginLoss, Rm, Units
from dragoman.optim.gains import scaled_gains, typical_range

numbers = st.integers(-8, 8).map(lambda i: i / 4)


@st.composite
def problems(draw):
    """One sentence with six candidates, ties and equal candidates among them; weights; C, B and D."""
    n_features = draw(st.integers(1, 4))
    x = np.array(draw(st.lists(st.lists(numbers, min_size=n_features, max_size=n_features), min_size=6, max_size=6)))
    gains = np.array(draw(st.lists(st.integers(0, 10), min_size=6, max_size=6))) / 10
    w = np.array(draw(st.lists(numbers, min_size=n_features, max_size=n_features)))
    assume(np.ptp(gains) > 0 and (np.ptp(x, axis=0) > 0).any() and w.any())
    c, d = draw(st.sampled_from([0.01, 0.1, 1.0, 10.0])), draw(st.sampled_from([1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0]))
    return x, gains, w, c, draw(st.sampled_from([0.25, 1.0, 4.0])), d


def one_step(optimiser, x, gains, w):
    """The weights after one sentence, and its gains as the learner scales them. The first feature is dense."""
    names = [f"f{i}" for i in range(x.shape[1])]
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in x]
    pool = pool_of([[({**dict.fromkeys(names, 0.0), **row}, gain) for row, gain in zip(rows, gains, strict=True)]])
    # A weight that no candidate has keeps a step to exactly zero from being refused as unusable.
    start = Weights.from_dict({**dict(zip(names, w.tolist(), strict=True)), "other": 1.0}, pool.index)
    pool = replace(pool, dense=frozenset({pool.index.find("f0")}))
    shard = pool.shards[0]
    scale = (optimiser.gain_scale or 1.0) / typical_range(pool.metric, pool.shards)
    scaled = scaled_gains(pool.metric, shard, scale=scale, by_length=True)
    result = optimiser.optimise(pool, start, seed=1)
    return np.array([result.weights[name] for name in names]), scaled


PRECISE = {"n_epochs": 1, "averaged": False, "max_iterations": 500, "tolerance": 1e-9}
SCALES, RATES = st.sampled_from([0.01, 0.1, 1.0]), st.sampled_from([1.0, 0.25, 10.0])


def rates_of(x, sparse_rate):
    return np.array([1.0] + [sparse_rate] * (x.shape[1] - 1))


@given(problems(), SCALES, RATES)
def test_cutting_plane_mira_solves_its_program(problem, scale, rate):
    x, gains, w, c, _, _ = problem
    optimiser = Mira(update=MarginUpdate.CUTTING_PLANE, aggressiveness=c, gain_scale=scale, sparse_rate=rate, **PRECISE)
    moved, g = one_step(optimiser, x, gains, w)
    groups, rates = program(w, x, g, c=c, bound=np.inf, d=1.0, exact=False), rates_of(x, rate)
    assert objective(moved, w, groups, rates) <= objective(solve(w, groups, rates), w, groups, rates) + 1e-7


@given(problems(), SCALES, RATES, st.sampled_from(MarginUpdate), st.booleans(), st.sampled_from([None, 0.1, 0.5]))
def test_rm_solves_its_program_for_any_bound_step(problem, scale, rate, update, exact, floor):
    """Program (4), or with a slack of each bound; RM-PA over its own working set, all at once if exact."""
    x, gains, w, c, bound, d = problem
    is_pa = update is MarginUpdate.PASSIVE_AGGRESSIVE
    by_cost = {"bound_by_cost": floor is not None, "bound_floor": floor or 0.1}
    optimiser = Rm(
        units=Units.RAW,
        update=update,
        exact=exact or is_pa,
        aggressiveness=c,
        bound=bound,
        bound_step=d,
        gain_scale=scale,
        sparse_rate=rate,
        bound_tolerance=1e-9,
        **by_cost,
        **PRECISE,
    )
    moved, g = one_step(optimiser, x, gains, w)
    groups = program(w, x, g, c=c, bound=bound, d=d, exact=exact or is_pa, floor=floor, working_set=is_pa)
    assume(groups)
    rates = rates_of(x, rate)
    assert objective(moved, w, groups, rates) <= objective(solve(w, groups, rates), w, groups, rates) + 1e-7


@given(problems(), RATES, st.sampled_from([None, 0.1, 0.5]))
def test_passive_aggressive_steps(problem, rate, floor):
    x, gains, w, c, bound, d = problem
    one = {"n_epochs": 1, "averaged": False, "aggressiveness": c, "sparse_rate": rate}
    rates = rates_of(x, rate)
    moved, g = one_step(Mira(**one), x, gains, w)
    np.testing.assert_allclose(moved, passive_aggressive(w, x, g, c=c, rates=rates)[0], rtol=1e-12, atol=1e-12)
    by_cost = {} if floor is None else {"bound_by_cost": True, "bound_floor": floor}
    moved, g = one_step(Rm(units=Units.RAW, bound=bound, bound_step=d, gain_scale=0.1, **by_cost, **one), x, gains, w)
    twin, _, _ = passive_aggressive(w, x, g, c=c, bound=bound, d=d, rates=rates, floor=floor)
    np.testing.assert_allclose(moved, twin, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bleu", [False, True])
@pytest.mark.parametrize("bound", [np.inf, 1.0])
def test_epochs_equal_a_slow_twin(bleu, bound):
    pool = random_pool(11, n_sentences=20, bleu=bleu)
    start = Weights(pool.index, np.random.default_rng(1).normal(size=5))
    common = {"n_epochs": 3, "gain_scale": 0.5}
    averages = learn(pool, start.values, seed=7, n_epochs=3, c=0.01, bound=bound, d=0.01, scale=0.5)
    for n_epochs, average in enumerate(averages, 1):
        optimiser = Rm(units=Units.RAW, bound=bound, **{**common, "n_epochs": n_epochs})
        result = optimiser.optimise(pool, start, seed=7)
        best = int(np.argmax([entry["gain"] for entry in result.trace]))
        if best == n_epochs - 1:
            np.testing.assert_allclose(result.weights.values, average, rtol=1e-9)
            break
    else:
        pytest.fail("no epoch was the best of those before it")


LOSSES = {
    "hinge": lambda metric: HingeLoss(metric=metric),
    "hinge, grounded": lambda metric: HingeLoss(metric=metric, sentence_bleu=SentenceBleu(grounded=True)),
    "relative margin": lambda metric: RelativeMarginLoss(metric=metric, bound=0.5, bound_weight=2.5),
    **{f"ramp {ramp}": (lambda metric, ramp=ramp: RampLoss(metric=metric, ramp=ramp)) for ramp in Ramp},
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("bleu", [False, True])
@pytest.mark.parametrize("size", [0.1, 1.0])
def test_gradients_equal_finite_differences(name, bleu, size):
    pool = random_pool(3, n_sentences=9, n_features=6, active=0.6, bleu=bleu)
    shard, loss = pool.shards[0], LOSSES[name](pool.metric)
    w = size * np.random.default_rng(5).normal(size=6)
    value, gradient, n_lists = loss.gradient(shard, w)
    assert value > 0
    dense = np.zeros(6)
    dense[gradient.ids] = gradient.values
    assert (np.diff(gradient.ids) > 0).all()
    step = 1e-7  # so small that no other candidate comes out on top
    for i in range(6):
        ends = [loss.gradient(shard, w + sign * step * np.eye(6)[i])[0] for sign in (1, -1)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(dense[i], abs=1e-4 * max(1.0, abs(dense[i])))
    one_by_one = [loss.gradient(shard.part(s, s + 1), w) for s in range(9)]
    assert sum(part[0] for part in one_by_one) == pytest.approx(value)
    counts = np.zeros(6, dtype=int)
    for _, part, ones in one_by_one:
        counts[part.ids] += 1
        assert (ones == 1).all()
        assert (part.values != 0).all()
    assert (counts[gradient.ids] == n_lists).all()


def test_ramp_loss_is_a_difference_of_maxima():
    pool = random_pool(4, n_sentences=5)
    shard = pool.shards[0]
    w = np.random.default_rng(1).normal(size=5)
    scores, gains = dense_features(pool) @ w, 10 * shard.stats[:, 0]
    total = 0.0
    for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True):
        cost = gains[a:b].max() - gains[a:b]
        total += (scores[a:b] + cost).max() - (scores[a:b] - cost).max()
    assert RampLoss(metric=pool.metric).gradient(shard, w)[0] == pytest.approx(total)
    nothing = replace(pool, shards=(shard.part(0, 0),)).shards[0]
    value, gradient, n_lists = RampLoss(metric=pool.metric).gradient(nothing, w)
    assert (value, len(gradient.ids), len(n_lists)) == (0.0, 0, 0)
