"""Rampion against a slow twin, and its settings."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.pools import dense_features, random_pool

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim import Ramp, Rampion, make_optimiser
from dragoman.optim.epochs import visiting_order
from dragoman.optim.gains import scaled_gains


def twin(pool, start, *, seed, optimiser):
    """The weights after each round, dense."""
    shard = pool.shards[0]
    x, gains = dense_features(pool), scaled_gains(pool.metric, shard, scale=optimiser.gain_scale, by_length=False)
    groups = [np.arange(a, b) for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True)]
    on_hope, on_fear = optimiser.ramp is not Ramp.FEAR, optimiser.ramp is not Ramp.HOPE
    w, rounds = start.copy(), []
    for concave in range(1, optimiser.n_concave + 1):
        hopes = [g[np.argmax(x[g] @ w + on_hope * gains[g])] for g in groups]
        for descent in range(1, optimiser.n_descents + 1):
            for s in visiting_order(np.arange(len(groups)), key=[seed, 0, concave, descent]):
                g = groups[s]
                fear, hope = g[np.argmax(x[g] @ w - on_fear * gains[g])], hopes[s]
                omega = x[hope] - x[fear]
                excess = on_fear * (gains[hope] - gains[fear]) - omega @ w
                step = min(optimiser.step, excess / (omega @ omega)) if omega.any() else 0.0
                w = w + step * omega - optimiser.step * optimiser.l2 * (w - start) / len(groups)
        rounds.append(w)
    return rounds


@pytest.mark.parametrize("ramp", Ramp)
@pytest.mark.parametrize("l2", [0.0, 50.0])
def test_rounds_equal_a_slow_twin(ramp, l2):
    pool = random_pool(2, n_sentences=20, bleu=True)
    start = Weights(pool.index, np.random.default_rng(4).normal(size=5))
    optimiser = Rampion(ramp=ramp, l2=l2, step=0.01, gain_scale=10.0, n_concave=4, n_descents=2)
    result = optimiser.optimise(pool, start, seed=5)
    best = int(np.argmax([entry["gain"] for entry in result.trace]))
    rounds = twin(pool, start.values, seed=5, optimiser=optimiser)
    np.testing.assert_allclose(result.weights.values, rounds[best], rtol=1e-9)
    assert (result.weights.values != start.values).any()


def test_the_penalty_draws_towards_the_start():
    pool = random_pool(2, n_sentences=20, bleu=True)
    start = Weights(pool.index, np.random.default_rng(4).normal(size=5))
    far, near = (
        np.linalg.norm(Rampion(step=0.01, l2=l2).optimise(pool, start, seed=1).weights.values - start.values)
        for l2 in (0.0, 1000.0)
    )
    assert near < 0.5 * far


def test_settings_are_checked():
    for settings in ({"step": 0.0}, {"l2": -1.0}, {"n_concave": 0}, {"held_out": -0.5}, {"gain_scale": np.inf}):
        with pytest.raises(InputError):
            Rampion(**settings)
    pool = random_pool(2, n_sentences=3)
    with pytest.raises(InputError, match="step times l2"):
        Rampion(step=1.0, l2=3.0).optimise(pool, Weights(pool.index, np.ones(5)), seed=1)
    assert make_optimiser("rampion", {"ramp": "hope"}) == Rampion(ramp=Ramp.HOPE)
