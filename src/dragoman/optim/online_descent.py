"""Losses lowered online: Flanigan, Dyer and Carbonell 2013 (HOLS), figure 1 (`svm`) and section 6.1 (`softramp`).

A sentence is decoded with the weights as they are, and they take a step against the (sub)gradient g of the loss of its
k-best list, for every feature f of the list

    w_f <- w_f - step_e r_f (g_f / v_f + l2 w_f / n_f)        step_e = step / (1 + decay e) in the pass after e others

n_f is the number of lists of a pass that have the feature, as far as that is known before; v_f the variance of a dense
feature within lists of the start, 1 for others. r_f is 1, or with `conditioning` 1/n_f times the number of learners,
which mixing divides by: after a pass a weight has then moved by about its mean gradient over the lists that have it,
however rare it is. n_f is

    extraction    the count with which the rule of a sparse feature was extracted, times the sentences of a pass over
                  the sentence pairs extracted from, at least 1; of a feature that names no such rule as in `lists`
    lists         the number of lists so far that had the feature: those of all learners before the last mixing, and a
                  learner's own since; steps are then not multiplied by the number of learners
    none          (of the penalty alone) the sentences of a pass

and of a dense feature the sentences of a pass. The paper divides by extraction counts as they are; its tuning set is a
fifth of the corpus, and we have any part of it, hence the ratio. The penalty is taken with the lists that have the
feature, not with all: the sum over a pass is about the same, and nothing is done for features that are not there.

Weights of MERT have no scale but a loss has: the start is multiplied by a power of two that suits the loss on its own
lists (as on pools, see `descent`), and what was learned is divided by it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.errors import FailedError
from dragoman.optim.descent import Descent, suitable_scale
from dragoman.optim.epochs import Entry
from dragoman.optim.learner_pass import Ground
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.online import Online
from dragoman.optim.prepared import MEMORY_BYTES
from dragoman.optim.softramp import SoftRamp
from dragoman.optim.svm import Svm
from dragoman.optim.units import Scale
from dragoman.optim.update import Conditioning
from dragoman.settings import about
from dragoman.types import Float64Array, Int32Array

__all__ = ["DescentRule", "DescentSums", "OnlineDescent", "OnlineSoftRamp", "OnlineSvm"]

_OFFLINE = frozenset(
    {"batch", "max_epochs", "tolerance", "held_out", "held_out_fold", "keep_best", "freeze_dense", "averaged"}
)
"""Settings of descent on pools that mean nothing, or something else, online."""
_ROUNDING = 1e-12
"""A slope of less than this share of the greatest is 0, as that of a feature which all candidates have alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineDescent(Online):
    """A method that steps against the gradient of a loss, decoding as it learns."""

    k = 100
    distinct = False
    descent: Descent = field(metadata=about(inline=_OFFLINE))
    """The loss and the rule of update."""

    def rule(self) -> DescentRule:
        return DescentRule(self.descent)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineSvm(OnlineDescent):
    """The structured hinge by plain steps, shorter than on pools: weights decode before they are averaged."""

    name = "online-svm"
    descent: Descent = field(default=Svm(step=0.001), metadata=about(inline=_OFFLINE))


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineSoftRamp(OnlineDescent):
    """Soft ramp 3, conditioned by extraction counts."""

    name = "online-softramp"
    descent: Descent = field(default=SoftRamp(conditioning=Conditioning.EXTRACTION), metadata=about(inline=_OFFLINE))


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentSums:
    """Sums over the lists visited: losses before the step of each, and lists that moved the weights."""

    n_lists: int = 0
    n_updates: int = 0
    loss: float = 0.0

    def __add__(self, other: DescentSums) -> DescentSums:
        return DescentSums(
            n_lists=self.n_lists + other.n_lists,
            n_updates=self.n_updates + other.n_updates,
            loss=self.loss + other.loss,
        )

    def entry(self) -> Entry:
        """For a trace: the mean loss, and how many lists moved the weights."""
        return {"loss": self.loss / max(self.n_lists, 1), "updates": self.n_updates}


@dataclass(frozen=True, slots=True)
class DescentRule:
    """Steps against the gradient of a loss."""

    descent: Descent

    @property
    def surveys(self) -> bool:
        """Scale and variances come from the start's lists."""
        return True

    @property
    def counts_lists(self) -> bool:
        return self.descent.update().conditioning is not Conditioning.NONE

    def scale(
        self, ground: Ground, lists: Sequence[Shard], start: Float64Array, previous: Float64Array, *, n_threads: int
    ) -> Scale:
        """What the start is multiplied by, and the variances of dense features."""
        loss = self.descent.loss(ground.task.metric, lists)
        index, dense = ground.decoder.index, np.array(sorted(ground.decoder.dense), np.int32)
        store = _core.ListStore(len(index), MEMORY_BYTES, tempfile.gettempdir())
        for shard in lists:
            store.add(*shard.candidates, loss.gains(shard), np.zeros(0, np.uint8), start, n_threads)
        store.seal()
        variances, order = store.variances(), np.arange(len(store))
        scale = self.descent.scale
        if scale is None:
            deviation = math.sqrt(float(variances @ start**2))  # of scores, were features independent
            if 0 < deviation < math.inf:  # the scale is a power of two
                deviation = math.ldexp(1.0, min(math.frexp(deviation)[1], 1023))
            scale = suitable_scale(deviation, lambda factor: store.loss(loss.watched, order, start * factor, n_threads))
        found = dict(zip(index.names(dense), variances[dense].tolist(), strict=True))
        return Scale(
            start=scale,
            gains=loss.gain_scale,
            aggressiveness=1.0,
            variances={name: value or 1.0 for name, value in found.items()},
        )

    def begin(self, ground: Ground, state: LearnerState, *, alone: bool) -> _DescentSteps:
        """A learner at the state."""
        return _DescentSteps(self.descent, ground, state, alone=alone)


class _DescentSteps:
    """Weights, the sums of their average (see LearnerState) and counts, over the index of the ground."""

    def __init__(self, descent: Descent, ground: Ground, state: LearnerState, *, alone: bool) -> None:
        self._ground = ground
        self._loss = replace(descent.loss(ground.task.metric), gain_scale=state.scale.gains)
        self._update = descent.update()
        self._step = self._update.step / (1 + self._update.decay * state.epoch)
        self._n_sentences = int(np.count_nonzero(ground.decoder.lengths))
        self._n_learners = state.n_learners
        self._weights = state.weights.copy()
        self._past = state.past.copy() if alone else np.zeros(len(state.weights))
        self._ticks = state.ticks if alone else 0
        self._counts = None if state.counts is None else state.counts.copy()
        self._dense = np.zeros(len(self._weights), bool)
        self._variances = np.ones(len(self._weights))
        if self._update.scale_dense:
            for name, variance in state.scale.variances.items():
                self._variances[ground.decoder.index.find(name)] = variance
        self._dense[sorted(ground.decoder.dense)] = True

    def live_weights(self) -> Float64Array:
        return self._weights

    def visit(self, lists: Sequence[Shard]) -> DescentSums:
        """A step for each."""
        return sum(map(self._visit, lists), DescentSums())

    def end(self, state: LearnerState) -> LearnerState:
        return replace(state, weights=self._weights, past=self._past, ticks=self._ticks, counts=self._counts)

    def _visit(self, shard: Shard) -> DescentSums:
        weights = self._weights
        value, (ids, slopes), _ = self._loss.gradient(shard, weights)
        n_lists, rates = self._rates(ids)
        slopes[np.abs(slopes) <= _ROUNDING * np.abs(slopes).max(initial=0.0)] = 0.0
        free = ~self._ground.frozen[ids]
        ids, slopes, n_lists, rates = ids[free], slopes[free], n_lists[free], rates[free]
        with np.errstate(over="ignore", invalid="ignore"):
            penalty = self._update.l2 / n_lists * weights[ids]
            change = -self._step * rates * (slopes / self._variances[ids] + penalty)
            weights[ids] += change
            self._past[ids] += self._ticks * change
        if not np.isfinite(weights[ids]).all():
            raise FailedError("the weights left the range of numbers; take smaller steps")
        self._ticks += 1
        return DescentSums(n_lists=1, n_updates=int(bool(slopes.any())), loss=value)

    def _rates(self, ids: Int32Array) -> tuple[Float64Array, Float64Array]:
        """Of features of one more list: how many lists of a pass have each, and what multiplies its step."""
        n_lists = np.full(len(ids), float(self._n_sentences))
        if self._counts is None:
            return n_lists, np.ones(len(ids))
        self._counts[ids] += 1
        sparse = ~self._dense[ids]
        so_far = self._counts[ids]
        expected = np.zeros(len(ids))
        if self._update.conditioning is Conditioning.EXTRACTION:
            shares = self._ground.decoder.extraction_shares(ids[sparse])
            expected[sparse] = np.where(shares > 0, np.maximum(shares * self._n_sentences, 1.0), 0.0)
        expected[~sparse] = self._n_sentences
        known = expected > 0
        n_lists = np.where(known, expected, so_far)
        return n_lists, np.where(known, self._n_learners, 1.0) / n_lists
