"""Relative units: what they are made from, and that no scale of features, start or gains matters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.margin_twin import learn
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim import MarginUpdate, Mira, OnlineMira, Rampion, Rm, Scale, Units
from dragoman.optim.gains import list_lengths
from dragoman.optim.margin import SPARSE_UNIT

POWERS = st.integers(-20, 20).map(lambda power: 2.0**power)
FACTORS = st.floats(0.01, 100.0)
METHODS = {
    "mira": lambda **words: Mira(units=Units.RELATIVE, **words),
    "rm": Rm,
    "rm, cutting plane": lambda **words: Rm(
        update=MarginUpdate.CUTTING_PLANE, tolerance=1e-9, bound_tolerance=1e-9, **words
    ),
    "rm, bound by cost, sparse rate": lambda **words: Rm(bound_by_cost=True, sparse_rate=10.0, **words),
}


def a_pool(seed, *, bleu):
    """Half of the features are sparse."""
    pool = random_pool(seed, n_sentences=8, n_candidates=10, bleu=bleu)
    return replace(pool, dense=frozenset({0, 1, 2}))


def a_start(pool, seed, factor=1.0):
    return Weights(pool.index, factor * np.random.default_rng(seed).normal(size=len(pool.index)))


def with_features(pool, factor):
    (shard,) = pool.shards
    values = (shard.feature_values.astype(np.float64) * factor).astype(np.float32)
    return replace(pool, shards=(shard.with_features(shard.feature_rows, shard.feature_ids, values),))


def learned(method, pool, start):
    result = METHODS[method](n_epochs=2).optimise(pool, start, seed=1, frozen=["f1"])
    assert result.weights["f1"] == start["f1"]
    return result


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 50), st.booleans(), POWERS, POWERS)
@settings(max_examples=10)
def test_no_power_of_two_matters_to_the_last_bit(method, seed, bleu, features, start):
    pool = a_pool(seed, bleu=bleu)
    plain = learned(method, pool, a_start(pool, seed))
    other = learned(method, with_features(pool, features), a_start(pool, seed, start / features))
    assert (other.weights.values * (features / start)).tobytes() == plain.weights.values.tobytes()
    assert [e["gain"] for e in other.trace] == [e["gain"] for e in plain.trace]
    assert [e["spread"] for e in other.trace] == [e["spread"] for e in plain.trace]
    assert other.trace[0]["score_factor"] == plain.trace[0]["score_factor"] / start


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 50), st.booleans(), FACTORS, FACTORS)
@settings(max_examples=10)
def test_no_factor_matters_to_rounding(method, seed, bleu, features, start):
    pool = a_pool(seed, bleu=bleu)
    plain = learned(method, pool, a_start(pool, seed))
    other = learned(method, with_features(pool, features), a_start(pool, seed, start / features))
    np.testing.assert_allclose(other.weights.values * (features / start), plain.weights.values, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 50), POWERS, FACTORS)
@settings(max_examples=10)
def test_no_scale_of_gains_matters(method, seed, power, factor):
    pool = a_pool(seed, bleu=False)
    (shard,) = pool.shards
    plain, by_power, by_factor = (
        learned(method, replace(pool, shards=(shard.with_stats(shard.stats * [times, 1.0]),)), a_start(pool, seed))
        for times in (1.0, power, factor)
    )
    assert by_power.weights.values.tobytes() == plain.weights.values.tobytes()
    np.testing.assert_allclose(by_factor.weights.values, plain.weights.values, rtol=1e-3, atol=1e-4)


@given(st.integers(0, 50), st.sampled_from([0.6, 1.0]), st.sampled_from([0.5, 1.2]), st.sampled_from([1.0, 10.0]))
@settings(max_examples=20)
def test_units_are_what_they_say(seed, start_range, kappa, rate):
    pool = a_pool(seed, bleu=False)
    (shard,), start = pool.shards, a_start(pool, seed)
    optimiser = Rm(start_range=start_range, cost_range=kappa, share=0.25, bound_share=0.5, sparse_rate=rate, n_epochs=1)
    (entry,) = optimiser.optimise(pool, start, seed=1, frozen=["f1"]).trace
    x = dense_features(pool).reshape(8, 10, -1)
    lengths = list_lengths(pool.metric, shard)
    ranges = np.ptp(shard.stats[:, 0].reshape(8, 10), axis=1)
    gains = lengths[:, None] * shard.stats[:, 0].reshape(8, 10) / ranges.mean()
    scores = x @ start.values
    sigma, gamma = start_range / np.ptp(scores, axis=1).mean(), kappa / np.ptp(gains, axis=1).mean()
    scores, gains = sigma * scores, gamma * gains
    variances = x.var(axis=1).mean(axis=0)
    rates = np.array([1.0, 0.0, 1.0, rate, rate]) / np.where(
        np.arange(5) < 3, variances, SPARSE_UNIT * variances[3:].mean()
    )
    squares = {"fear": [], "worst": []}
    for f, s, g in zip(x, scores, gains, strict=True):
        hope = np.argmax(s + g)
        for name, other in (("fear", np.argmax(s - g)), ("worst", np.argmin(s))):
            squares[name].append((f[hope] - f[other]) ** 2 @ rates)
    means = {name: np.mean([square for square in found if square]) for name, found in squares.items()}
    expected = {"score_factor": sigma, "cost_factor": gamma, "aggressiveness": 0.25 / means["fear"]}
    expected["bound_step"] = 0.5 / means["worst"]
    assert {name: entry[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("bound", [False, True])
def test_learning_in_units_is_learning_with_their_numbers(bound):
    """A slow twin, given the start, gains, C, B and D of the trace."""
    pool = random_pool(11, n_sentences=20, bleu=True)
    start = a_start(pool, 1)
    optimiser = (Rm if bound else METHODS["mira"])(n_epochs=1)
    result = optimiser.optimise(pool, start, seed=7)
    (entry,) = result.trace
    words = {"bound": 1.0, "d": entry["bound_step"]} if bound else {}
    sigma = entry["score_factor"]
    (average,) = learn(
        pool,
        sigma * start.values,
        seed=7,
        n_epochs=1,
        c=entry["aggressiveness"],
        scale=entry["cost_factor"],
        rates=1 / dense_features(pool).reshape(20, 15, -1).var(axis=1).mean(axis=0),
        **words,
    )
    np.testing.assert_allclose(result.weights.values, average / sigma, rtol=1e-9)
    assert any(note.startswith("units: scores x ") for note in result.notes)


def test_a_start_without_spread_stays_as_it_is():
    pool = pool_of([[({"a": 1.0, "b": 2.0}, 0.75), ({"a": 3.0, "b": -2.0}, 0.25)]])
    result = Rm(n_epochs=1).optimise(pool, Weights.from_dict({"a": 0.0, "b": 0.0}, pool.index), seed=1)
    assert result.trace[0]["score_factor"] == 1
    assert result.weights["b"] > 0 > result.weights["a"]


def test_a_scale_goes_to_json_and_back():
    for scale in (Scale(start=0.25, aggressiveness=1 / 3), Scale(aggressiveness=0.1, bound=1.0, bound_step=0.7)):
        assert Scale.from_json(scale.to_json()) == scale
    for values in ({}, {"start": 1.0}, {"aggressiveness": "x"}, {"aggressiveness": -1.0}, {"other": 1.0}):
        with pytest.raises((InputError, TypeError, ValueError)):
            Scale.from_json(values)


def online(**words):
    return OnlineMira(margin=Mira(**words))


def test_settings_say_which_units_they_are_of():
    """On lists, relative units are those of a method that is told nothing."""
    pool = a_pool(3, bleu=True)

    def weights(method):
        return method.optimise(pool, a_start(pool, 3), seed=1).weights.values.tobytes()

    for method, raw in ((Mira, {"aggressiveness": 0.01}), (Rampion, {"step": 1e-4})):
        assert weights(method(**raw)) == weights(method(units=Units.RAW)) != weights(method())
        assert weights(method(share=0.2)) == weights(method(units=Units.RELATIVE, share=0.2))
        assert weights(method()) == weights(method(units=Units.RELATIVE))


@pytest.mark.parametrize(
    ("method", "words", "message"),
    [
        (Rm, {"aggressiveness": 0.01}, "aggressiveness needs units=raw, but units=relative"),
        (Rm, {"bound": 1.0}, "bound needs units=raw"),
        (Rm, {"gain_scale": 1.0}, "gain_scale needs units=raw"),
        (Rm, {"units": Units.RAW, "bound_share": 0.2}, "bound_share needs units=relative, but units=raw"),
        (Mira, {"units": Units.RAW, "cost_range": 1.0}, "cost_range needs units=relative"),
        (Mira, {"cost_range": 1.0, "aggressiveness": 0.1}, "cost_range needs units=relative"),
        (online, {"cost_range": 1.0}, "cost_range needs units=relative"),
        (Rampion, {"step": 0.1, "share": 0.1}, "share needs units=relative"),
        (Rampion, {"units": Units.RELATIVE, "gain_scale": 1.0}, "gain_scale needs units=raw"),
        (Mira, {"units": Units.RELATIVE, "aggressiveness": 0.1}, "aggressiveness needs units=raw"),
        (Rm, {"share": 0.0}, "share must be positive"),
        (Rm, {"bound_share": -1.0}, "bound_share must be positive"),
        (Rm, {"cost_range": np.nan}, "cost_range must be positive"),
        (Rm, {"share": np.inf}, "share must be positive"),
        (Rm, {"sparse_rate": 0.0}, "sparse_rate must be positive"),
    ],
)
def test_settings_of_other_units_are_refused(method, words, message):
    with pytest.raises(InputError, match=message):
        method(**words)
