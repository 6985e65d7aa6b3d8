"""MIRA and RM online: the margins of `mira` and `rm`, list by list while a system decodes.

Hopkins and May 2011, section 5.4.2, after Chiang, Knight and Wang 2009: hope and fear are sought among the `k` best
translations by model score; gains are BLEU in the context of the translations before. A learner that is alone keeps
its pseudo-corpus from pass to pass; several begin each with that of the last pass's translations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.optim.costs import Context, PreviousPass
from dragoman.optim.learner_pass import Ground
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.margin import PassSums, rates_of
from dragoman.optim.mira import Mira
from dragoman.optim.online import Online
from dragoman.optim.rm import Rm
from dragoman.optim.units import Scale, Units
from dragoman.settings import about
from dragoman.types import Float64Array

__all__ = ["MarginRule", "OnlineMira", "OnlineRm"]

_OFFLINE = frozenset({"n_epochs", "batch", "held_out", "patience", "averaged"})
"""Settings of margin learners on pools that mean nothing, or something else, online."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineMira(Online):
    """A margin learner that decodes as it learns."""

    name = "online-mira"
    margin: Mira = field(default=Mira(), metadata=about(inline=_OFFLINE))
    """How the weights learn from a list."""

    def _check(self) -> None:
        Online._check(self)
        self.margin.check_online()

    def rule(self) -> MarginRule:
        return MarginRule(self.margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineRm(OnlineMira):
    """The relative margin, online."""

    name = "online-rm"
    margin: Mira = field(default=Rm(), metadata=about(inline=_OFFLINE))


@dataclass(frozen=True, slots=True)
class MarginRule:
    """Steps of a margin learner."""

    margin: Mira

    @property
    def surveys(self) -> bool:
        """Relative units come from the start's lists."""
        return self.margin.units is Units.RELATIVE

    @property
    def counts_lists(self) -> bool:
        return False

    def scale(
        self, ground: Ground, lists: Sequence[Shard], start: Float64Array, previous: Float64Array, *, n_threads: int
    ) -> Scale:
        """The units of the run."""
        return self.margin.measure(
            self.lists(ground, lists, self.previous_pass(ground, previous)),
            start,
            self.rates(ground),
            self.pseudo_corpus(ground, previous),
            np.arange(len(lists)),
            shares=self.margin.shares(online=True) if self.surveys else None,
            sparse=len(ground.decoder.index) > len(ground.decoder.dense),
            n_threads=n_threads,
        )

    def begin(self, ground: Ground, state: LearnerState, *, alone: bool) -> _MarginSteps:
        """A native learner at the state."""
        return _MarginSteps(self, ground, state, alone=alone)

    def rates(self, ground: Ground) -> Float64Array:
        """Those of the weights, 0 of frozen ones."""
        return rates_of(len(ground.frozen), ground.decoder.dense, ground.frozen, self.margin.sparse_rate)

    def pseudo_corpus(self, ground: Ground, previous: Float64Array) -> _core.PseudoCorpus | None:
        """The past as if all translations so far had been the mean of these."""
        lengths = ground.decoder.lengths
        spoken = lengths > 0
        mean = previous[spoken].sum(axis=0) / np.count_nonzero(spoken)
        return self.margin.pseudo_corpus(ground.task.metric, mean, float(lengths[spoken].mean()))

    def previous_pass(self, ground: Ground, previous: Float64Array) -> PreviousPass | None:
        """The last pass, where gains are taken with its translations."""
        metric = ground.task.metric
        if self.margin.context_for(metric) is not Context.PREVIOUS:
            return None
        return PreviousPass(metric, previous, ground.decoder.lengths.astype(np.float64))

    def lists(self, ground: Ground, lists: Sequence[Shard], previous: PreviousPass | None) -> _core.CandidateLists:
        """As native learners want them."""
        words = [shard.source_lengths.astype(np.float64) for shard in lists]
        return self.margin.lists(lists, ground.task.metric, words, previous)


class _MarginSteps:
    """A native margin learner that turns to one list after the other."""

    def __init__(self, rule: MarginRule, ground: Ground, state: LearnerState, *, alone: bool) -> None:
        self._rule, self._ground = rule, ground
        self._previous = rule.previous_pass(ground, state.previous)
        self._native = rule.margin.margin_learner(
            rule.lists(ground, (), None),
            state.weights,
            rule.rates(ground),
            rule.pseudo_corpus(ground, state.previous),
            scale=state.scale,
            batch=1,
        )
        if alone and state.background is not None:
            self._native.restore(state.weights, state.past, state.ticks, state.background, state.length)

    def live_weights(self) -> Float64Array:
        return self._native.live_weights()

    def visit(self, lists: Sequence[Shard]) -> PassSums:
        self._native.turn_to(self._rule.lists(self._ground, lists, self._previous))
        return PassSums(**self._native.visit(np.arange(len(lists))))

    def end(self, state: LearnerState) -> LearnerState:
        weights, past, ticks, background, length = self._native.state()
        return replace(state, weights=weights, past=past, ticks=ticks, background=background, length=length)
