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
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Learned, Optimiser, Problem
from dragoman.optim.epochs import (
    Entry,
    Learner,
    Split,
    Stopping,
    Watched,
    filled_sentences,
    run_epochs,
    visiting_order,
)
from dragoman.optim.gains import scaled_gains, typical_range
from dragoman.optim.loss import SparseVector
from dragoman.pool import Shard
from dragoman.types import Float64Array, Int32Array, Int64Array

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
class Rampion(Optimiser):
    """The defaults are the paper's: T' 10, T'' 5, eta 0.0001, C 1, alpha 10.

    With `held_out` > 0 that share of the sentences is not learned from; the weights that are best on them are the
    result, and learning stops when those are `patience` rounds of CCCP old.
    """

    name = "rampion"
    n_concave: int = 10
    """T': rounds of CCCP."""
    n_descents: int = 5
    """T'': passes of subgradient steps in a round."""
    step: float = 1e-4
    """Eta: length of a step."""
    l2: float = 1.0
    """C: weight of the penalty on leaving the start."""
    gain_scale: float = 10.0
    """Alpha: multiplies gains."""
    ramp: Ramp = Ramp.BOTH
    """On which side of the ramp there is a cost."""
    sentence_bleu: SentenceBleu | None = None
    """BLEU of a candidate alone."""
    held_out: float = 0.0
    """Share of the sentences that is not learned from but chooses the weights."""
    patience: int = 5
    """With held-out sentences, rounds of CCCP without improvement before early stopping."""

    def __post_init__(self) -> None:
        if min(self.n_concave, self.n_descents, self.patience) < 1:
            raise InputError("rampion: numbers of iterations and patience must be at least 1")
        if not (0 < self.step < math.inf and 0 < self.gain_scale < math.inf and 0 <= self.l2 < math.inf):
            raise InputError("rampion: step and gain_scale must be positive, l2 not negative")
        if not 0 <= self.held_out < 1:
            raise InputError("rampion: held_out must be in [0, 1)")

    def _learn(self, problem: Problem) -> Learned:
        """Learn from `start`, towards which the weights are drawn; the best of the T' rounds."""
        pool, metric = problem.pool, problem.metric
        fixed = problem.frozen.view(np.uint8)
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
        patience = self.patience if self.held_out else self.n_concave
        stopping = Stopping(max_epochs=self.n_concave, tolerance=0, patience=patience, held_out=self.held_out, least=1)
        key = [problem.seed, problem.round_number]
        split = Split.draw(filled_sentences(pool), stopping, key=key)
        penalty = self.step * self.l2 / len(split.learned)
        if not penalty < 1:
            raise InputError("rampion: step times l2 must be less than the number of sentences")
        native = _core.ramp_learner(lists, problem.start.values, fixed, *self.ramp.sides(), self.step, penalty)
        found = run_epochs(_Ramps(self.n_descents, native, lists, problem, key), split, stopping)
        notes = (f"the weights are those of round {found.best} of {len(found.trace)}", *found.notes)
        return Learned(values=found.values, trace=found.trace, notes=notes)

    def _gains(self, metric: Metric, shard: Shard, scale: float) -> Float64Array:
        return scaled_gains(metric, shard, scale=scale, by_length=False, sentence_bleu=self.sentence_bleu)


class _Ramps(Learner):
    """An epoch is a round of the concave-convex procedure."""

    def __init__(
        self,
        n_descents: int,
        native: _core.RampLearner,
        lists: _core.CandidateLists,
        problem: Problem,
        key: Sequence[int],
    ) -> None:
        self._n_descents, self._native, self._lists = n_descents, native, lists
        self._problem, self._key = problem, key

    def epoch(self, learned: Int64Array, number: int) -> Entry:
        self._native.fix_hopes(learned, self._problem.n_threads)
        for descent in range(1, self._n_descents + 1):
            loss = self._native.descend(visiting_order(learned, key=[*self._key, number, descent]))
        return {"loss": loss / len(learned)}

    def values(self) -> Float64Array:
        return self._native.weights()

    def watch(self, watched: Int64Array, values: Float64Array, entry: Entry) -> Watched:
        totals = self._lists.totals(watched, values, self._problem.n_threads)
        entry["gain"] = gain = float(self._problem.metric.gain(totals))
        return Watched(-gain, gain)


@dataclass(frozen=True, slots=True, kw_only=True)
class RampLoss:
    """The ramp loss of each list; see the module. The gain is that of the candidate alone (BLEU+1)."""

    metric: Metric
    ramp: Ramp = Ramp.BOTH
    gain_scale: float = 10.0
    sentence_bleu: SentenceBleu | None = None

    def gradient(self, shard: Shard, weights: Float64Array) -> tuple[float, SparseVector, Int32Array]:
        gains = scaled_gains(
            self.metric, shard, scale=self.gain_scale, by_length=False, sentence_bleu=self.sentence_bleu
        )
        value, ids, values, n_lists = _core.margin_loss(
            *shard.candidates, gains, weights, *self.ramp.sides(), True, math.inf, 0.0
        )
        return value, SparseVector(ids, values), n_lists
