"""Rampion: Gimpel and Smith 2012, *Structured Ramp Loss Minimization for Machine Translation*.

The loss of a sentence is a difference of maxima, with cost(y) = alpha (1 - gain(y)), `ramp` both:

    max_y [s(y) + cost(y)]  -  max_y [s(y) - cost(y)]

or one of the two with a plain s: `fear` max [s + cost] - max s, `hope` max s - max [s - cost]. The concave-convex
procedure makes it convex by fixing the maximiser of the subtracted part:

    T' times   y+_i <- argmax s(y) - cost(y) for every sentence i                       `n_concave`
      T'' times  for each sentence i:  y- <- argmax s(y) + cost(y)                      `n_descents`
                 w <- w + eta (f(y+_i) - f(y-)) - eta C (w - w_0) / n                   `step`, `l2`

Symbols: T' `n_concave`, T'' `n_descents`, eta `step`, C `l2`, alpha `gain_scale`; w_0 is the start. The gain is BLEU+1,
for other metrics that of the candidate alone.

The paper's eta and alpha assume a size of features and of the start. By default (`units` relative) the mean range of
costs in a list is the unit: the start is multiplied so that scores range over `start_range` of it, eta is what parts y+
and y- by `share` in the mean, and each dense feature is measured in its deviation within lists; see `units`.
Deviations: sentences are shuffled in every pass; a step is never longer than the one that satisfies its margin, s(y+) -
s(y-) = cost(y-) - cost(y+), which matters only where features are much larger than usual; gains of external metrics are
divided by their mean range within a sentence; of the T' weights those are returned that are best on the pool or on the
sentences held out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.errors import InputError
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Learned, Optimiser, Problem, check_used
from dragoman.optim.epochs import Entry, Split, run_epochs, visiting_order
from dragoman.optim.gains import typical_range
from dragoman.optim.margin import (
    Comparison,
    ListLearner,
    MarginLoss,
    check_varying,
    rates_of,
    relative_rates,
    split_of,
    stopping_by_gain,
)
from dragoman.optim.mira import Mira
from dragoman.optim.units import Scale, Shares, Units, check_units, given, list_units
from dragoman.settings import about
from dragoman.types import Float64Array, Int64Array

__all__ = ["Ramp", "RampLoss", "Rampion"]


_STEP, _GAIN_SCALE = 1e-4, 10.0
_START_RANGE, _SHARE = 1.0, 0.01


class Ramp(StrEnum):
    """On which side of the ramp there is a cost."""

    BOTH = "both"
    FEAR = "fear"
    HOPE = "hope"


@dataclass(frozen=True, slots=True, kw_only=True)
class RampLoss(MarginLoss):
    """The ramp loss of each list; see the module."""

    by_length = False

    gain_scale: float = 10.0
    ramp: Ramp = Ramp.BOTH

    def comparison(self) -> Comparison:
        """The maximisers of both parts."""
        hope = _core.Hope.MODEL if self.ramp is Ramp.FEAR else _core.Hope.COST_BASED
        fear = _core.Fear.PREDICTION if self.ramp is Ramp.HOPE else _core.Fear.COST_BASED
        return Comparison(hope=hope, fear=fear, is_ramp=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rampion(Optimiser):
    """The defaults are the paper's: T' 10, T'' 5, C 1; in raw units eta 0.0001, alpha 10.

    With `held_out` > 0 that share of the sentences is not learned from; the weights that are best on them are the
    result, and learning stops when those are `patience` rounds of CCCP old.
    """

    name = "rampion"
    n_concave: int = 10
    """T': rounds of CCCP."""
    n_descents: int = 5
    """T'': passes of subgradient steps in a round."""
    units: Units | None = field(default=None, metadata=about(resolved="relative; raw with step or gain_scale"))
    """What costs, steps and dense features are measured in: what lists of the start say, or nothing."""
    start_range: float | None = field(default=None, metadata=about(resolved=f"{_START_RANGE} in relative units"))
    """The mean range of scores in a list of the start, in units of that of costs."""
    share: float | None = field(default=None, metadata=about(resolved=f"{_SHARE} in relative units"))
    """How far one step parts hope and fear, in the mean, in units of the mean range of costs."""
    step: float | None = field(default=None, metadata=about(resolved=f"{_STEP} in raw units"))
    """Eta: length of a step."""
    l2: float = 1.0
    """C: weight of the penalty on leaving the start."""
    gain_scale: float | None = field(default=None, metadata=about(resolved=f"{_GAIN_SCALE:g} in raw units"))
    """Alpha: multiplies gains."""
    ramp: Ramp = Ramp.BOTH
    """On which side of the ramp there is a cost."""
    sentence_bleu: SentenceBleu | None = None
    """BLEU of a candidate alone."""
    held_out: float = 0.0
    """Share of the sentences that is not learned from but chooses the weights."""
    patience: int = 5
    """With held-out sentences, rounds of CCCP without improvement before early stopping."""

    def _check(self) -> None:
        if min(self.n_concave, self.n_descents, self.patience) < 1:
            raise InputError("rampion: numbers of iterations and patience must be at least 1")
        check_units(self.name, self.units, self._of_units())
        if not 0 <= self.l2 < math.inf:
            raise InputError("rampion: l2 must not be negative")
        if not 0 <= self.held_out < 1:
            raise InputError("rampion: held_out must be in [0, 1)")
        check_used(self, "patience", needs="held_out", given=self.held_out > 0)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> RampLoss:
        """What a step reduces, for these shards' gains."""
        scale = given(self.gain_scale, _GAIN_SCALE) / typical_range(metric, shards)
        return RampLoss(metric=metric, ramp=self.ramp, gain_scale=scale, sentence_bleu=self.sentence_bleu)

    def learn(self, problem: Problem) -> Learned:
        """Learn from `start`, towards which the weights are drawn; the best of the T' rounds."""
        shards = problem.pool.shards
        loss = self.loss(problem.metric, shards)
        lists = loss.lists(shards)
        check_varying(lists, problem)
        stopping = stopping_by_gain(self.n_concave, self.held_out, self.patience)
        split = split_of(problem, stopping)
        dense = problem.pool.dense
        rates = rates_of(len(problem.start.values), dense, problem.frozen, 1.0)
        scale, step = Scale(aggressiveness=given(self.step, _STEP)), given(self.step, _STEP)
        if list_units(self.units, self._of_units()) is Units.RELATIVE:
            rates = relative_rates(lists, split.learned, rates, dense)
            scale, step = self._relative(lists, rates, problem, split)
        penalty = step * self.l2 / len(split.learned)
        if not penalty < 1:
            raise InputError("rampion: step times l2 must be less than the number of sentences")
        first, sides = scale.scaled(problem.start.values), loss.comparison()
        native = _core.ramp_learner(lists, first, rates, sides.hope, sides.fear, scale.aggressiveness, penalty)
        found = run_epochs(_Ramps(self.n_descents, native, scale, lists, problem), split, stopping)
        notes = (f"the weights are those of round {found.best} of {len(found.trace)}", *found.notes)
        return Learned(values=found.values, trace=found.trace, notes=notes)

    def _relative(
        self, lists: _core.CandidateLists, rates: Float64Array, problem: Problem, split: Split
    ) -> tuple[Scale, float]:
        """What multiplies the start, with eta; and eta where the mean range of costs is 1, as the penalty takes it."""
        shares = Shares(
            start_range=given(self.start_range, _START_RANGE), cost_range=1.0, share=given(self.share, _SHARE)
        )
        start, at = problem.start.values, split.learned
        found = Mira().measure(lists, start, rates, None, at, shares=shares, sparse=False, n_threads=problem.n_threads)
        step = found.aggressiveness
        return Scale(start=found.start / found.gains, aggressiveness=step / found.gains), step

    def _of_units(self) -> dict[Units, dict[str, float | None]]:
        """The settings that only one kind of units has."""
        return {
            Units.RAW: {"step": self.step, "gain_scale": self.gain_scale},
            Units.RELATIVE: {"start_range": self.start_range, "share": self.share},
        }


class _Ramps(ListLearner):
    """An epoch is a round of the concave-convex procedure."""

    def __init__(
        self,
        n_descents: int,
        native: _core.RampLearner,
        scale: Scale,
        lists: _core.CandidateLists,
        problem: Problem,
    ) -> None:
        super().__init__(lists, problem)
        self._n_descents, self._native, self._scale, self._start = n_descents, native, scale, problem.start.values

    def epoch(self, learned: Int64Array, number: int) -> Entry:
        self._native.fix_hopes(learned, self._n_threads)
        for descent in range(1, self._n_descents + 1):
            loss = self._native.descend(visiting_order(learned, key=[*self._key, number, descent]))
        return {"loss": loss / len(learned)}

    def values(self) -> Float64Array:
        return self._scale.restored(self._native.weights(), self._start)
