"""MIRA, the margin-infused relaxed algorithm: Crammer et al. 2006; for translation Chiang 2012, Eidelman et al. 2013.

Sentence by sentence, w moves as little as possible so that a good candidate beats every other one by a margin as
great as its cost (Eidelman et al., equation 2):

    w_{t+1} = argmin 1/2 |w - w_t|^2 + C xi    s.t.  s(y+) - s(y) >= Delta(y) - Delta(y+) - xi

with s(y) = w.f(y). The references cannot be reached, so y+, the hope, is argmax s(y) - Delta(y) under w_t. The
passive-aggressive `update` knows the one constraint of y-, the fear, argmax s(y) + Delta(y), and has a closed form:

    w += min(C, (Delta(y-) - Delta(y+) - s(y+) + s(y-)) / |omega|^2) omega,    omega = f(y+) - f(y-)

The cutting plane adds the most violated constraint, solves the program over the constraints so far by sequential
minimal optimisation in the dual, and repeats until no candidate violates the margin (rm, Algorithms 1 and 2 there).

R is diagonal: 1 for dense features, `sparse_rate` for others, 0 for frozen ones. Lengths are taken in its metric,
1/2 (w - w_t)' R^-1 (w - w_t), so that steps are min(C, violation / omega' R omega) R omega.

Symbols: C `aggressiveness`; y+ `hope`; y- `fear`; MaxIter `max_iterations`; epsilon `tolerance`. Delta(y) = -gain(y) up
to a constant. For metrics with references the gain is (O_f + |f|) gain(O + statistics of y), O being the decayed
statistics of the translations before (Chiang et al. 2008; `decay`, `background`) or others (`context`). For numbers
from outside it is the gain of the candidate alone times the words of the source sentence. `gain_scale` multiplies
either.

The result is the average of the weights after every sentence. Deviations: O starts at what the start's own choices
would leave there, not at a small constant; gains of external metrics are divided by their mean range within a
sentence; of all epochs the one is returned whose average is best on the pool (Cherry and Foster 2012) or on the
sentences held out; the steps of a `batch` are computed from the same weights and averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from dragoman import _core
from dragoman.candidates import Pool, Shard
from dragoman.candidates.shard import UNKNOWN_LENGTH
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.optim.base import Learned, Learner, Optimiser, Problem, check_used
from dragoman.optim.context import LearningContext
from dragoman.optim.costs import Context, PreviousPass
from dragoman.optim.epochs import Entry, run_epochs, visiting_order
from dragoman.optim.gains import list_lengths, typical_range
from dragoman.optim.margin import (
    BOUND_FLOOR,
    LOCAL_SIZE,
    Comparison,
    Fear,
    Hope,
    ListLearner,
    MarginLoss,
    PassSums,
    Survey,
    check_varying,
    rates_of,
    relative_rates,
    split_of,
    stopping_by_gain,
)
from dragoman.optim.units import (
    MAX_SETTING,
    Scale,
    Shares,
    Units,
    check_units,
    given,
    list_units,
    relative_scale,
)
from dragoman.settings import Record, about
from dragoman.types import Float64Array, Int64Array

__all__ = ["Background", "Bounds", "HingeLoss", "MarginUpdate", "Mira", "check_positive"]


class MarginUpdate(StrEnum):
    """How the program of one sentence is solved."""

    PASSIVE_AGGRESSIVE = "passive-aggressive"
    CUTTING_PLANE = "cutting-plane"


def check_positive(settings: Mira, *names: str) -> None:
    """Raise InputError unless the settings of these names are positive, and their squares are numbers still."""
    for name in names:
        if not 0 < getattr(settings, name) <= MAX_SETTING:
            raise InputError(f"{settings.name}: {name} must be positive and at most {MAX_SETTING:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(Record):
    """How scores are kept within the bound of a Scale."""

    exact: bool = False
    by_cost: bool = False
    floor: float = BOUND_FLOOR
    tolerance: float = 1e-4


_RESOLVED = "relative on lists; raw online, and with aggressiveness or gain_scale"


class Background(StrEnum):
    """Which translations make up the pseudo-corpus."""

    MODEL = "model"  # those of the greatest model score
    HOPE = "hope"  # the hopes


@dataclass(frozen=True, slots=True, kw_only=True)
class HingeLoss(MarginLoss):
    """max(0, Delta(y-) - Delta(y+) - s(y+) + s(y-)) of each list, y+ held fixed: what a step of MIRA reduces."""

    hope: Hope = Hope.COST_BASED
    fear: Fear = Fear.COST_BASED
    local_size: int = LOCAL_SIZE

    def comparison(self) -> Comparison:
        """y+ and y-."""
        hope, fear = _core.Hope[self.hope.name], _core.Fear[self.fear.name]
        return Comparison(hope=hope, fear=fear, local_size=self.local_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mira(Optimiser):
    """C 0.01 is that of Eidelman et al., 30 epochs are Hopkins and May's.

    With `held_out` > 0 that share of the sentences is not learned from; the epoch that is best on them is the
    result, and learning stops when it is `patience` epochs old.
    """

    name = "mira"
    update: MarginUpdate = MarginUpdate.PASSIVE_AGGRESSIVE
    """How the program of one sentence is solved."""
    units: Units | None = field(default=None, metadata=about(resolved=_RESOLVED))
    """What costs, steps and dense features are measured in: what lists of the start say, or nothing."""
    aggressiveness: float | None = field(default=None, metadata=about(resolved="0.01 in raw units"))
    """C: how far one sentence may move the weights."""
    start_range: float | None = field(default=None, metadata=about(resolved="0.6 in relative units"))
    """sigma: the mean range of scores in a list of the start, in units of B."""
    cost_range: float | None = field(default=None, metadata=about(resolved="1.2 in relative units"))
    """kappa: the mean range of costs in a list, in units of B."""
    share: float | None = field(default=None, metadata=about(resolved="0.1 in relative units"))
    """c: how far one step parts hope and fear at most, in the mean, in units of B."""
    n_epochs: int = 30
    """Passes over all lists at most."""
    sparse_rate: float = 1.0
    """How much faster than dense features the others learn: their part of R."""
    hope: Hope = Hope.COST_BASED
    """The candidate that stands for the reference."""
    local_size: int = LOCAL_SIZE
    """Candidates of the greatest model score among which a local hope is sought."""
    fear: Fear = Fear.COST_BASED
    """The candidate that a passive-aggressive step moves away from."""
    context: Context | None = field(default=None, metadata=about(resolved="pseudo; sentence for numbers from outside"))
    """The translations that a candidate's gain is taken with; previous is for learning online."""
    decay: float = 0.9
    """Of the pseudo-corpus, after each sentence."""
    background: Background = Background.MODEL
    """Which translations make up the pseudo-corpus."""
    gain_scale: float | None = field(default=None, metadata=about(resolved="1 in raw units"))
    """Multiplies gains, and so the margin."""
    averaged: bool = True
    """Return the average of the weights after every sentence."""
    batch: int = 1
    """Sentences whose steps are computed from the same weights, by threads, and averaged."""
    held_out: float = 0.0
    """Share of the sentences that is not learned from but chooses the epoch."""
    patience: int = 5
    """With held-out sentences, epochs without improvement before early stopping."""
    max_iterations: int = 100
    """Rounds of the cutting plane at most; each adds a constraint of every kind."""
    tolerance: float = 1e-4
    """Violation of a margin that the cutting plane ignores."""

    def _check(self) -> None:
        check_units(self.name, self.units, self._of_units())
        check_positive(self, "sparse_rate", "tolerance")
        if min(self.n_epochs, self.batch, self.patience, self.max_iterations, self.local_size) < 1:
            raise InputError("numbers of epochs and iterations, batch, patience and local_size must be at least 1")
        if not (0 <= self.decay < 1 and 0 <= self.held_out < 1):
            raise InputError("decay and held_out must be in [0, 1)")
        if self.update is MarginUpdate.CUTTING_PLANE and self.fear is not Fear.COST_BASED:
            raise InputError("the cutting plane looks for the most violated margin; fear must be cost-based")
        check_used(self, "local_size", needs="hope=local", given=self.hope is Hope.LOCAL)
        pseudo = self.context in (None, Context.PSEUDO)
        check_used(self, "decay", "background", needs="context=pseudo", given=pseudo)
        check_used(self, "patience", needs="held_out", given=self.held_out > 0)
        self._check_solver("max_iterations", "tolerance")

    def _check_solver(self, *names: str) -> None:
        """Raise InputError for settings of the solver where every program has a closed form."""
        solves = self.update is MarginUpdate.CUTTING_PLANE or self._bounds().exact
        check_used(self, *names, needs="update=cutting-plane, or rm with exact=true", given=solves)

    def check_online(self) -> None:
        """Raise InputError for settings of relative units, which learning online has only where they are asked for."""
        check_units(self.name, self.units or Units.RAW, self._of_units())

    def _learner(self, context: LearningContext) -> Learner:
        self.check_lists()
        return Optimiser._learner(self, context)

    def check_lists(self) -> None:
        """Raise InputError for a context that only learning online has."""
        if self.context is Context.PREVIOUS:
            raise InputError("fixed lists have no previous pass; learn online, or use context=pseudo")

    def learn(self, problem: Problem) -> Learned:
        """Learn from `start`; the averaged weights of the best epoch."""
        self.check_lists()
        pool, metric = problem.pool, problem.metric
        start = problem.start.values
        lengths = [list_lengths(metric, shard) for shard in pool.light_shards()]
        lists = self.lists(pool.shards, metric, lengths)
        check_varying(lists, problem)
        stopping = stopping_by_gain(self.n_epochs, self.held_out, self.patience)
        split = split_of(problem, stopping)
        past = lists.totals(split.learned, start, problem.n_threads)
        mean_length = float(np.concatenate(lengths)[split.learned].mean())
        context = self.pseudo_corpus(metric, past / len(split.learned), mean_length)
        units = list_units(self.units, self._of_units())
        rates = rates_of(len(start), pool.dense, problem.frozen, self.sparse_rate)
        if units is Units.RELATIVE:
            rates = relative_rates(lists, split.learned, rates, pool.dense)
        sparse = _has_sparse_features(pool)
        shares = self.shares(online=False) if units is Units.RELATIVE else None
        at, n_threads = split.learned, problem.n_threads
        scale = self.measure(lists, start, rates, context, at, shares=shares, sparse=sparse, n_threads=n_threads)
        native = self.margin_learner(lists, scale.scaled(start), rates, context, scale=scale, batch=self.batch)
        found = run_epochs(_Margins(self, native, scale, lists, problem), split, stopping)
        notes = [f"the weights are those of epoch {found.best} of {len(found.trace)}", *found.notes]
        if units is Units.RELATIVE:
            notes.append(scale.note())
            found.trace[0].update(scale.entry())
        if metric.uses_references and any(
            (shard.source_lengths == UNKNOWN_LENGTH).any() for shard in pool.light_shards()
        ):
            notes.append("source lengths are unknown; gains are scaled by the length of references or candidates")
        return Learned(values=found.values, trace=found.trace, notes=notes)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> MarginLoss:
        """What a step reduces, for these shards' gains."""
        scale = self._raw_scale(sparse=True).gains / typical_range(metric, shards)
        return HingeLoss(metric=metric, hope=self.hope, fear=self.fear, local_size=self.local_size, gain_scale=scale)

    def _of_units(self) -> dict[Units, dict[str, float | None]]:
        """The settings that only one kind of units has."""
        return {
            Units.RAW: {"aggressiveness": self.aggressiveness, "gain_scale": self.gain_scale},
            Units.RELATIVE: {
                "start_range": self.start_range,
                "cost_range": self.cost_range,
                "share": self.share,
            },
        }

    def _raw_scale(self, sparse: bool) -> Scale:
        """`sparse` says whether candidates can have sparse features."""
        return Scale(gains=given(self.gain_scale, 1.0), aggressiveness=given(self.aggressiveness, 0.01))

    def shares(self, *, online: bool) -> Shares:
        """What relative units are made from."""
        return Shares(
            start_range=given(self.start_range, 0.6),
            cost_range=given(self.cost_range, 1.2),
            share=given(self.share, 0.1),
        )

    def _bounds(self) -> Bounds:
        """Of the relative margin, which extends this."""
        return Bounds()

    def measure(
        self,
        lists: _core.CandidateLists,
        start: Float64Array,
        rates: Float64Array,
        context: _core.PseudoCorpus | None,
        positions: Int64Array,
        *,
        shares: Shares | None,
        sparse: bool,
        n_threads: int = 1,
    ) -> Scale:
        """The scale to learn on: by `shares` of the lists at `positions`, candidates of the start, or raw.

        `sparse` says whether candidates can have sparse features.
        """
        if shares is None:
            return self._raw_scale(sparse)
        learner = self.margin_learner(lists, start, rates, context, scale=Scale(aggressiveness=1.0), batch=1)
        return relative_scale(
            lambda scale: Survey(**learner.survey(positions, scale.start, scale.gains, n_threads)), shares
        )

    def margin_learner(
        self,
        lists: _core.CandidateLists,
        start: Float64Array,
        rates: Float64Array,
        context: _core.PseudoCorpus | None,
        *,
        scale: Scale,
        batch: int,
    ) -> _core.MarginLearner:
        """A learner of these lists from weights on the `scale`; `rates` are those of each, as `rates_of` says."""
        bounds = self._bounds()
        return _core.margin_learner(
            lists,
            start,
            rates,
            context,
            limit=scale.aggressiveness,
            bound=scale.bound,
            bound_limit=scale.bound_step,
            bound_by_cost=bounds.by_cost,
            bound_floor=bounds.floor,
            bound_unit=scale.cost_unit,
            cutting_plane=self.update is MarginUpdate.CUTTING_PLANE,
            exact=bounds.exact,
            hope=_core.Hope[self.hope.name],
            local_size=self.local_size,
            fear=_core.Fear[self.fear.name],
            hope_background=self.background is Background.HOPE,
            gain_scale=scale.gains,
            max_iterations=self.max_iterations,
            tolerance=self.tolerance,
            bound_tolerance=bounds.tolerance,
            batch=batch,
        )

    def context_for(self, metric: Metric) -> Context:
        """The context of the metric's gains. Raises InputError if the metric cannot have the one that was asked for."""
        if self.context is None:
            return Context.PSEUDO if metric.in_context else Context.SENTENCE
        if self.context is not Context.SENTENCE and not metric.in_context:
            raise InputError(f"{metric.name} has no corpus to be taken with; use context=sentence")
        return self.context

    def lists(
        self,
        shards: Sequence[Shard],
        metric: Metric,
        lengths: Sequence[Float64Array],
        previous: PreviousPass | None = None,
    ) -> _core.CandidateLists:
        """The lists of shards with their gains; `lengths` are the words of each sentence.

        Gains with the `previous` pass are those that it gives; those with a pseudo-corpus come from the learner.
        """
        loss = replace(self.loss(metric, shards), gain_scale=1 / typical_range(metric, shards))
        if previous is not None:
            return loss.lists(shards, lengths, previous.gains_of)
        return loss.lists(shards, lengths, _none if self.context_for(metric) is Context.PSEUDO else None)

    def pseudo_corpus(self, metric: Metric, mean: Float64Array, length: float) -> _core.PseudoCorpus | None:
        """The past if it had been `mean` statistics for ever; None where gains have another context."""
        if self.context_for(metric) is not Context.PSEUDO:
            return None
        n = self.decay / (1 - self.decay)
        return _core.PseudoCorpus(metric.scorer(), n * mean, metric.context_prior(), n * length, self.decay)


class _Margins(ListLearner):
    def __init__(
        self, mira: Mira, native: _core.MarginLearner, scale: Scale, lists: _core.CandidateLists, problem: Problem
    ) -> None:
        super().__init__(lists, problem)
        self._mira, self._native, self._scale, self._start = mira, native, scale, problem.start.values

    def epoch(self, learned: Int64Array, number: int) -> Entry:
        order = visiting_order(learned, key=[*self._key, number])
        return PassSums(**self._native.visit(order, self._n_threads)).entry()

    def values(self) -> Float64Array:
        values = self._native.average() if self._mira.averaged else self._native.weights()
        return self._scale.restored(values, self._start)


def _none(shard: Shard) -> Float64Array:
    return np.zeros(0)


def _has_sparse_features(pool: Pool) -> bool:
    dense = np.zeros(len(pool.index), dtype=bool)
    dense[sorted(pool.dense)] = True
    return not all(dense[shard.feature_ids].all() for shard in pool.shards)
