"""Rampion: Gimpel and Smith 2012, *Structured Ramp Loss Minimization for Machine Translation*.

The loss of a sentence is a difference of maxima, with cost(y) = alpha (1 - gain(y)), `ramp` both:

    max_y [s(y) + cost(y)]  -  max_y [s(y) - cost(y)]

or one of the two with a plain s: `fear` max [s + cost] - max s, `hope` max s - max [s - cost]. The concave-convex
procedure makes it convex by fixing the maximiser of the subtracted part:

    T' times   y+_i <- argmax s(y) - cost(y) for every sentence i                       `n_concave`
      T'' times  for each sentence i:  y- <- argmax s(y) + cost(y)                      `n_descents`
                 w <- w + eta (f(y+_i) - f(y-)) - eta C (w - w_0) / n                   `step`, `l2`

Symbols: T' `n_concave`, T'' `n_descents`, eta `step`, C `l2`, alpha `gain_scale`; w_0 is the start. The gain is BLEU+1,
for other metrics that of the candidate alone. Deviations: sentences are shuffled in every pass; a step is never longer
than the one that satisfies its margin, s(y+) - s(y-) = cost(y-) - cost(y+), which matters only where features are much
larger than usual; gains of external metrics are divided by their mean range within a sentence; of the T' weights
those are returned that are best on the pool or on the sentences held out.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Result, check_start, check_tunable, finish, frozen_ids
from dragoman.optim.epochs import BestEpoch, split_sentences, visiting_order
from dragoman.optim.gains import scaled_gains, typical_range
from dragoman.optim.loss import SparseVector
from dragoman.pool import Pool, Shard, metric_of
from dragoman.types import Float64Array, Int32Array

__all__ = ["Ramp", "RampLoss", "Rampion"]


class Ramp(StrEnum):
    """On which side of the ramp there is a cost."""

    BOTH = "both"
    FEAR = "fear"
    HOPE = "hope"

    def sides(self) -> tuple[_core.Hope, _core.Fear]:
        """Which candidates the loss compares."""
        hope = _core.Hope.MODEL if self is Ramp.FEAR else _core.Hope.COST_DIMINISHED
        fear = _core.Fear.MODEL if self is Ramp.HOPE else _core.Fear.COST_AUGMENTED
        return hope, fear


@dataclass(frozen=True, slots=True, kw_only=True)
class Rampion:
    """The defaults are the paper's: T' 10, T'' 5, eta 0.0001, C 1, alpha 10.

    With `held_out` > 0 that share of the sentences is not learned from; the weights that are best on them are the
    result, and learning stops when those are `patience` rounds of CCCP old.
    """

    n_concave: int = 10
    n_descents: int = 5
    step: float = 1e-4
    l2: float = 1.0
    gain_scale: float = 10.0
    ramp: Ramp = Ramp.BOTH
    sentence_bleu: SentenceBleu | None = None
    held_out: float = 0.0
    patience: int = 5

    def __post_init__(self) -> None:
        if min(self.n_concave, self.n_descents, self.patience) < 1:
            raise InputError("rampion: numbers of iterations and patience must be at least 1")
        if not (0 < self.step < math.inf and 0 < self.gain_scale < math.inf and 0 <= self.l2 < math.inf):
            raise InputError("rampion: step and gain_scale must be positive, l2 not negative")
        if not 0 <= self.held_out < 1:
            raise InputError("rampion: held_out must be in [0, 1)")

    def optimise(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int = 0,
        frozen: Collection[str] = (),
        n_threads: int = 1,
    ) -> Result:
        """Learn from `start`, towards which the weights are drawn; the best of the T' rounds."""
        check_tunable(pool)
        start = check_start(pool, start)
        metric = metric_of(pool)
        fixed = np.zeros(len(pool.index), dtype=np.uint8)
        fixed[frozen_ids(pool, frozen)] = 1
        scale = self.gain_scale / typical_range(metric, pool.shards)
        gains = [self._gains(metric, shard, scale) for shard in pool.shards]
        lists = _core.candidate_lists(
            [
                (*shard.candidates, shard.stats, g, np.ones(shard.n_sentences))
                for shard, g in zip(pool.shards, gains, strict=True)
            ],
            metric.n_stats,
        )
        if not lists.vary(fixed):
            raise InputError(
                "no feature that may change differs between the candidates of a sentence, so weights cannot matter"
            )
        learned, held_out = split_sentences(pool, self.held_out, seed=seed)
        measured = held_out if len(held_out) else learned
        penalty = self.step * self.l2 / len(learned)
        if not penalty < 1:
            raise InputError("rampion: step times l2 must be less than the number of sentences")
        learner = _core.ramp_learner(lists, start.values, fixed, *self.ramp.sides(), self.step, penalty)
        best = BestEpoch(self.patience if self.held_out else None)
        trace: list[dict[str, float | int]] = []
        for concave in range(1, self.n_concave + 1):
            learner.fix_hopes(learned, n_threads)
            for descent in range(1, self.n_descents + 1):
                loss = learner.descend(visiting_order(learned, key=[seed, round_number, concave, descent]))
            values = learner.weights()
            gain = float(metric.gain(lists.totals(measured, values, n_threads)))
            trace.append({"epoch": concave, "gain": gain, "loss": loss / len(learned)})
            if not best.offer(concave, gain, values):
                break
        notes = (f"the weights are those of round {best.number} of {len(trace)}",)
        weights = Weights(pool.index, best.result())
        return finish(pool, start, weights, n_threads=n_threads, trace=tuple(trace), notes=notes)

    def _gains(self, metric: Metric, shard: Shard, scale: float) -> Float64Array:
        return scaled_gains(metric, shard, scale=scale, by_length=False, sentence_bleu=self.sentence_bleu)


@dataclass(frozen=True, slots=True, kw_only=True)
class RampLoss:
    """The ramp loss of each list; see the module. The gain is that of the candidate alone (BLEU+1)."""

    metric: Metric
    ramp: Ramp = Ramp.BOTH
    gain_scale: float = 10.0
    sentence_bleu: SentenceBleu | None = None

    def gradient(self, shard: Shard, weights: Float64Array) -> tuple[float, SparseVector, Int32Array]:
        """See Loss."""
        gains = scaled_gains(
            self.metric, shard, scale=self.gain_scale, by_length=False, sentence_bleu=self.sentence_bleu
        )
        value, ids, values, n_lists = _core.margin_loss(
            *shard.candidates, gains, weights, *self.ramp.sides(), True, math.inf, 0.0
        )
        return value, SparseVector(ids, values), n_lists
