"""Margin learners: which candidates they compare, rates of weights, what fired, surveys of lists, hostile lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kit.margin_twin import bounds_of, find_fear, find_hope, passive_aggressive
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim import Fear, HingeLoss, Hope, MarginUpdate, Mira, Rampion, RelativeMarginLoss, Rm
from dragoman.optim.costs import Context
from dragoman.optim.margin import PassSums, Survey, rates_of
from dragoman.optim.mira import Background
from dragoman.optim.units import Units

ONE = {"n_epochs": 1, "averaged": False}
RAW = {"units": Units.RAW}


def start_of(pool, size=1.0):
    return Weights(pool.index, size * np.random.default_rng(0).normal(size=len(pool.index)))


def native(method, pool, start, rates=None):
    """A native learner of all lists of a pool."""
    lists = method.lists(pool.shards, pool.metric, [np.ones(shard.n_sentences) for shard in pool.shards])
    rates = np.ones(len(pool.index)) if rates is None else rates
    scale = method.measure(lists, start.values, rates, None, np.arange(len(lists)), shares=None, sparse=True)
    return method.margin_learner(lists, start.values, rates, None, scale=scale, batch=1)


def groups_of(pool):
    """Features and gains as the learner has them, of each list."""
    (shard,) = pool.shards
    gains, x = Mira().loss(pool.metric, pool.shards).gains(shard), dense_features(pool)
    return [(x[a:b], gains[a:b]) for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True)]


@pytest.mark.parametrize("hope", ["cost-based", "max-bleu", "local"])
@pytest.mark.parametrize("fear", ["cost-based", "max-cost", "prediction"])
def test_hopes_and_fears_by_name(hope, fear):
    pool = random_pool(9, n_sentences=30, n_candidates=15)
    start = start_of(pool, 20.0)
    learner = native(Mira(hope=Hope(hope), fear=Fear(fear)), pool, start)
    learner.visit(np.arange(30))
    w = start.values
    for x, gains in groups_of(pool):
        w, _, _ = passive_aggressive(w, x, gains, c=0.01, hope=hope, fear=fear)
    np.testing.assert_allclose(learner.weights(), w, rtol=1e-9)


def test_hopes_and_fears_are_different_candidates():
    pool = random_pool(9, n_sentences=30, n_candidates=15)
    w = start_of(pool, 20.0).values
    hopes = [[find_hope(x @ w, gains, rule) for x, gains in groups_of(pool)] for rule in Hope]
    fears = [[find_fear(x @ w, gains, rule) for x, gains in groups_of(pool)] for rule in Fear]
    assert len({tuple(one) for one in hopes}) == len({tuple(one) for one in fears}) == 3
    for size in (15, 99):  # of the whole list
        local = HingeLoss(metric=pool.metric, hope=Hope.LOCAL, local_size=size).gradient(pool.shards[0], w)
        oracle = HingeLoss(metric=pool.metric, hope=Hope.MAX_BLEU).gradient(pool.shards[0], w)
        assert (local[0], local[1].values.tobytes()) == (oracle[0], oracle[1].values.tobytes())


@pytest.mark.parametrize("update", MarginUpdate)
@pytest.mark.parametrize("exact", [None, True, False])
def test_a_relative_margin_without_a_bound_is_mira_whatever_else_is_set(update, exact):
    pool = random_pool(3, n_sentences=15, n_features=40, active=0.1)
    pool = replace(pool, dense=frozenset(range(5)))
    common = {"update": update, "n_epochs": 3, "gain_scale": 1.0, "sparse_rate": 7.0, "hope": Hope.LOCAL}
    mira = Mira(**common).optimise(pool, start_of(pool), seed=1)
    rm = Rm(**RAW, bound=np.inf, exact=exact, bound_by_cost=True, **common).optimise(pool, start_of(pool), seed=1)
    assert rm.weights.values.tobytes() == mira.weights.values.tobytes()
    assert rm.trace == mira.trace


def test_exact_is_the_default_of_the_cutting_plane():
    pool = random_pool(3, n_sentences=15)
    cp, pa = MarginUpdate.CUTTING_PLANE, MarginUpdate.PASSIVE_AGGRESSIVE
    runs = {
        (update, exact): Rm(**RAW, update=update, exact=exact, bound=0.2, n_epochs=1)
        .optimise(pool, start_of(pool), seed=1)
        .weights.values.tobytes()
        for update in (cp, pa)
        for exact in (None, True, False)
    }
    assert runs[cp, None] == runs[cp, True] != runs[cp, False]
    assert runs[pa, None] == runs[pa, False] != runs[pa, True]


@pytest.mark.parametrize("exact", [True, False])
def test_the_bound_step_limits_cutting_planes(exact):
    pool = random_pool(5, n_sentences=1, n_candidates=50)
    start = start_of(pool, 20.0)
    lengths = []
    for step in (1e-4, 1e-3, 1e-2, 0.1, 10.0):
        method = Rm(
            **RAW,
            update=MarginUpdate.CUTTING_PLANE,
            exact=exact,
            aggressiveness=1e-12,
            bound_step=step,
            gain_scale=1e-6,
            **ONE,
        )
        learner = native(method, pool, start)
        learner.visit(np.zeros(1, np.int64))
        lengths.append(np.linalg.norm(learner.weights() - start.values))
        furthest = max(np.linalg.norm(a - b) for x, _ in groups_of(pool) for a in x for b in x)
        assert lengths[-1] <= (1 if exact else 2) * step * furthest + 1e-9
    assert lengths == sorted(lengths)
    assert lengths[1] == pytest.approx(10 * lengths[0], rel=1e-3)


@pytest.mark.parametrize("update", MarginUpdate)
@pytest.mark.parametrize("by_cost", [False, True])
def test_rates(update, by_cost):
    pool = random_pool(4, n_sentences=20, n_features=8, active=0.7)
    start = start_of(pool)
    names = pool.index.names(np.arange(8, dtype=np.int32))
    pool = replace(pool, dense=frozenset({0, 1, 2}))
    method = Rm(**RAW, update=update, bound=0.5, sparse_rate=4.0, bound_by_cost=by_cost, n_epochs=3)
    result = method.optimise(pool, start, seed=1, frozen=[names[1], names[5]])
    moved = result.weights.values != start.values
    assert moved.tolist() == [i not in (1, 5) for i in range(8)]
    # Sparse features times 2 with weights half as large, at rate 1, are the same scores and the same steps.
    (shard,) = pool.shards
    values = shard.feature_values * np.where(shard.feature_ids < 3, 1, 2).astype(np.float32)
    doubled = replace(pool, shards=(shard.with_features(shard.feature_rows, shard.feature_ids, values),))
    half = np.where(np.arange(8) < 3, 1, 0.5)
    other = replace(method, sparse_rate=1.0).optimise(
        doubled, Weights(pool.index, half * start.values), seed=1, frozen=[names[1], names[5]]
    )
    np.testing.assert_allclose(other.weights.values, half * result.weights.values, rtol=1e-9)
    assert rates_of(4, {0, 2}, np.array([True, False, False, True]), 3.0).tolist() == [0, 3, 1, 0]


@pytest.mark.parametrize("floor", [None, 0.3])
def test_what_fired_is_counted(floor):
    pool = random_pool(6, n_sentences=25)
    start = start_of(pool, 30.0)
    by_cost = {} if floor is None else {"bound_by_cost": True, "bound_floor": floor}
    learner = native(Rm(**RAW, bound=12.0, gain_scale=1.0, **by_cost), pool, start)
    sums = PassSums()
    for i in range(25):
        sums += PassSums(**learner.visit(np.array([i])))
    w, counts, ranges = start.values, np.zeros(3), np.zeros(2)
    for x, gains in groups_of(pool):
        scores = x @ w
        hope, fear = find_hope(scores, gains), find_fear(scores, gains)
        bounds = bounds_of(gains, hope, 12.0, floor)
        after_margin, _, _ = passive_aggressive(w, x, gains, c=0.01)
        moved = (x[hope] - x) @ after_margin
        worst = int(np.argmax(scores[hope] - scores - bounds))
        best = int(np.argmax(scores - scores[hope] - bounds))
        counts[0] += gains[hope] - gains[fear] > scores[hope] - scores[fear]
        counts[1] += min(scores[hope] - scores[worst], moved[worst]) > bounds[worst]
        counts[2] += min(scores[best] - scores[hope], -moved[best]) > bounds[best]
        ranges += [np.ptp(scores), np.ptp(gains)]
        w, _, _ = passive_aggressive(w, x, gains, c=0.01, bound=12.0, d=0.1, floor=floor)
    assert [sums.n_margin, sums.n_upper, sums.n_lower] == counts.tolist()
    assert min(counts[:2]) > 0
    entry = sums.entry()
    assert (entry["margin"], entry["upper"], entry["lower"]) == tuple(counts / 25)
    assert (entry["score_range"], entry["gain_range"]) == pytest.approx(tuple(ranges / 25))


def test_a_survey_equals_numpy_for_any_number_of_threads():
    pool = random_pool(7, n_sentences=40)
    start = start_of(pool)
    frozen = np.array([False, True, False, False, False])
    rates = rates_of(5, {0}, frozen, 3.0)
    learner = native(Rm(**RAW, gain_scale=1.0), pool, start, rates)
    found = [Survey(**learner.survey(np.arange(40), 5.0, 0.25, n_threads)) for n_threads in (1, 3)]
    assert found[0] == found[1]
    twin = dict.fromkeys(
        ("n_lists", "n_fear", "n_worst", "score_range", "gain_range", "fear_square", "worst_square"), 0.0
    )
    for x, gains in groups_of(pool):
        scores, gains = 5 * (x @ start.values), gains / 4
        hope = find_hope(scores, gains)
        squares = {
            kind: rates @ (x[hope] - x[other]) ** 2
            for kind, other in (("fear", find_fear(scores, gains)), ("worst", int(np.argmin(scores))))
        }
        twin["n_lists"] += 1
        twin["score_range"] += np.ptp(scores)
        twin["gain_range"] += np.ptp(gains)
        for kind, square in squares.items():
            twin[f"{kind}_square"] += square
            twin[f"n_{kind}"] += square > 0
    assert found[0] == Survey(**{name: pytest.approx(value) for name, value in twin.items()})
    assert (learner.weights() == start.values).all()


@pytest.mark.parametrize("update", MarginUpdate)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("by_cost", [True, False])
def test_hostile_lists_leave_numbers(update, exact, by_cost):
    lists = [
        [({"a": 1.0}, 0.5), ({"a": 1.0}, 0.5), ({"a": 1.0}, 0.5)],  # equal
        [({"a": 1.0}, 0.1), ({"a": 1.0}, 0.9)],  # different gains, the same features
        [({"a": 1.0}, 0.1)],
        [({"z": 3e4}, 0.1), ({"z": -3e4}, 0.9)],  # only a frozen feature differs
        [({"a": 3e38}, 0.1), ({"b": 3e38}, 0.9), ({"a": -3e38}, 0.4)],
        [({"a": 1e-38}, 0.3), ({"b": 1e-38}, 0.2)],
    ]
    pool = pool_of(lists)
    start = Weights.from_dict({"a": 1.0, "b": -1.0, "z": 2.0}, pool.index)
    rates = np.ones(len(pool.index))
    rates[pool.index.find("z")] = 0
    method = Rm(update=update, exact=exact, bound_by_cost=by_cost, **RAW)
    learner = native(method, pool, start, rates)
    order = np.array([0, 1, 2, 3, 5, 4] * 3)
    sums = PassSums(**learner.visit(order))
    assert np.isfinite(learner.weights()).all()
    assert np.isfinite(learner.average()).all()
    assert learner.weights()[pool.index.find("z")] == 2.0
    assert sums.n_lists == 18
    assert np.isfinite(list(Survey(**learner.survey(order)).__getstate__())).all()
    still = PassSums(**native(method, pool, start, rates).visit(np.arange(4)))
    assert (still.n_updates, still.n_margin, still.n_upper, still.n_lower) == (0, 0, 0, 0)


def test_weights_can_be_watched_as_they_move():
    pool = random_pool(7, n_sentences=5)
    learner = native(Mira(), pool, start_of(pool))
    view = learner.live_weights()
    before = learner.weights()
    assert (view == before).all()
    learner.visit(np.arange(5))
    assert (view == learner.weights()).all()
    assert (view != before).any()
    learner.restore(before, *learner.state()[1:])
    assert (view == before).all()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


def test_bounds_by_cost_of_losses():
    pool = random_pool(8, n_sentences=10)
    w = start_of(pool, 20.0).values
    loss = RelativeMarginLoss(metric=pool.metric, bound=2.0, bound_weight=3.0, bound_by_cost=True, bound_floor=0.2)
    (shard,) = pool.shards
    gains, x, total = loss.gains(shard), dense_features(pool), 0.0
    for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True):
        s, g = x[a:b] @ w, gains[a:b]
        hope = find_hope(s, g)
        total += max(0.0, max(g[hope] - g - (s[hope] - s)))
        total += 3 * max(0.0, max(np.abs(s[hope] - s) - bounds_of(g, hope, 2.0, 0.2)))
    assert loss.gradient(shard, w)[0] == pytest.approx(total)


@pytest.mark.parametrize("name", ["sparse_rate", "bound_floor", "bound_tolerance", "tolerance"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_rates_and_tolerances_are_positive_numbers(name, value):
    with pytest.raises(InputError, match=f"rm: {name} must be positive"):
        Rm(**{name: value})


def test_a_local_hope_needs_a_candidate():
    with pytest.raises(InputError, match="local_size"):
        Mira(local_size=0)


def test_settings_that_would_not_be_used_are_refused():
    for match, make in (
        ("mira: local_size would not be used; it needs hope=local", lambda: Mira(local_size=5)),
        ("decay would not be used; it needs context=pseudo", lambda: Mira(context=Context.SENTENCE, decay=0.5)),
        ("background would not", lambda: Rm(context=Context.PREVIOUS, background=Background.HOPE)),
        ("rm: bound_floor would not be used; it needs bound_by_cost=true", lambda: Rm(bound_floor=0.2)),
        ("mira: tolerance would not be used; it needs update=cutting-plane", lambda: Mira(tolerance=1e-3)),
        ("rm: max_iterations would not be used; it needs .* or rm with exact=true", lambda: Rm(max_iterations=9)),
        ("rm: bound_tolerance would not", lambda: Rm(bound_tolerance=1e-3)),
        ("mira: patience would not be used; it needs held_out", lambda: Mira(patience=2)),
        ("rampion: patience would not", lambda: Rampion(patience=2)),
    ):
        with pytest.raises(InputError, match=match):
            make()
    Rm(hope=Hope.LOCAL, local_size=5, bound_by_cost=True, bound_floor=0.2, context=Context.PSEUDO, decay=0.5)
    solved = {"max_iterations": 9, "tolerance": 1e-3, "bound_tolerance": 1e-3}
    Rm(update=MarginUpdate.CUTTING_PLANE, exact=False, **solved)
    Rm(exact=True, **solved, held_out=0.5, patience=2)
