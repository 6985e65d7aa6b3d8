"""MIRA and RM on one list of candidates with two features, learned by the optimisers themselves."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from dragoman.candidates import Pool, new_words
from dragoman.candidates.synthetic import featured_shard
from dragoman.features import FeatureIndex, Weights
from dragoman.metric import External
from dragoman.optim import MarginUpdate, Mira, Rm, Units
from dragoman.types import Float64Array

START = np.array([0.01, 0.01])
"""Where the solutions of Figure 1 begin: next to nothing, so that they are the shortest weights."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """One list: features [candidate, 2], and gains from 0 to 1, whose differences are the margins asked for."""

    features: Float64Array
    gains: Float64Array

    def pool(self) -> Pool:
        """A pool of this list alone, of a sentence of one word: gains are multiplied by words."""
        n, dimension = self.features.shape
        index, metric = FeatureIndex(), External(label="gain")
        for number in range(dimension):
            index.intern(f"f{number + 1}")
        shard = featured_shard(
            counts=np.array([n]),
            feature_rows=np.arange(0, n * dimension + 1, dimension, dtype=np.int64),
            feature_ids=np.tile(np.arange(dimension, dtype=np.int32), n),
            feature_values=self.features.astype(np.float32).ravel(),
            stats=metric.from_values(self.gains),
        )
        shard = replace(shard, source_lengths=np.ones(1, dtype=np.int32))
        return Pool(index=index, words=new_words(), shards=(shard,), dense=frozenset(range(dimension)), metric=metric)

    def scores(self, weights: Float64Array) -> Float64Array:
        """w.f of every candidate."""
        return self.features @ weights

    def hope(self, weights: Float64Array) -> int:
        """y+: the greatest sum of model score and gain."""
        return int(np.argmax(self.scores(weights) + self.gains))

    def fear(self, weights: Float64Array) -> int:
        """y-: the greatest model score less gain but for the hope, the most violated margin."""
        violation = self.scores(weights) - self.gains
        violation[self.hope(weights)] = -np.inf
        return int(np.argmax(violation))

    def worst(self, weights: Float64Array) -> int:
        """y^w: the least model score, the most violated bound."""
        return int(np.argmin(self.scores(weights)))

    def below_hope(self, weights: Float64Array) -> Float64Array:
        """How far each model score is below that of the hope."""
        scores = self.scores(weights)
        return scores[self.hope(weights)] - scores

    def spread(self, weights: Float64Array) -> float:
        """How far the hope is above the worst candidate."""
        return float(self.below_hope(weights).max())


def solution(candidates: Candidates, *, bound: float | None) -> Float64Array:
    """The program of the list solved by cutting planes, C and D being no limit: RM with a bound, MIRA without."""
    return _learned(candidates, START, MarginUpdate.CUTTING_PLANE, limit=100.0, bound=bound)


def step(candidates: Candidates, start: Float64Array, *, limit: float, bound: float | None) -> Float64Array:
    """The weights after one passive-aggressive step, C and D being `limit`."""
    return _learned(candidates, start, MarginUpdate.PASSIVE_AGGRESSIVE, limit=limit, bound=bound)


def _learned(
    candidates: Candidates, start: Float64Array, update: MarginUpdate, *, limit: float, bound: float | None
) -> Float64Array:
    solved = update is MarginUpdate.CUTTING_PLANE
    learner = Mira(units=Units.RAW, update=update, aggressiveness=limit, gain_scale=1.0, n_epochs=1, averaged=False)
    if solved:
        learner = replace(learner, max_iterations=10_000, tolerance=1e-9)
    if bound is not None:
        settings = {field.name: getattr(learner, field.name) for field in fields(Mira)}
        precision = {"bound_tolerance": 1e-9} if solved else {}
        learner = Rm(**settings, bound=bound, bound_step=limit, **precision)
    pool = candidates.pool()
    return learner.optimise(pool, Weights(pool.index, start), seed=0).weights.values
