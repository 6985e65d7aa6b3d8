"""What losses and learners share that compare a few extreme candidates of a list: hopes, fears, best and worst."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.candidates import Shard, spooled
from dragoman.errors import InputError
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Problem
from dragoman.optim.epochs import Entry, EpochLearner, Split, Stopping, Watched, filled_sentences, folds_of
from dragoman.optim.gains import scaled_gains
from dragoman.optim.loss import SparseVector
from dragoman.settings import Record
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = [
    "BOUND_FLOOR",
    "LOCAL_SIZE",
    "SPARSE_UNIT",
    "Comparison",
    "Fear",
    "Hope",
    "ListLearner",
    "MarginLoss",
    "PassSums",
    "Survey",
    "check_varying",
    "rates_of",
    "relative_rates",
    "split_of",
    "stopping_by_gain",
]

LOCAL_SIZE = 10
"""Candidates among which Liang et al. 2006 seek the best."""

BOUND_FLOOR = 0.1
"""The least share of B that a bound by cost can be."""


SPARSE_UNIT = 16.0
"""How many times the variance of sparse features that of dense ones usually is, which do not learn slower for it."""


class Hope(StrEnum):
    """The candidate that stands for the reference."""

    COST_BASED = "cost-based"  # greatest model score + gain
    MAX_BLEU = "max-bleu"  # greatest gain, of whatever metric
    LOCAL = "local"  # greatest gain among the candidates of the greatest model score


class Fear(StrEnum):
    """The candidate that a passive-aggressive step moves away from."""

    COST_BASED = "cost-based"  # greatest model score - gain: the most violated margin
    MAX_COST = "max-cost"  # least gain
    PREDICTION = "prediction"  # greatest model score


@dataclass(frozen=True, slots=True, kw_only=True)
class PassSums:
    """Sums over lists that a native learner visited, before the step of each. Passes and learners add up.

    A constraint fired where it moved the weights. `spread` is the score of the hope minus the least.
    """

    n_lists: float = 0
    n_updates: float = 0
    n_margin: float = 0
    n_upper: float = 0
    n_lower: float = 0
    loss: float = 0
    spread: float = 0
    spread_square: float = 0
    score_range: float = 0
    gain_range: float = 0

    def __add__(self, other: PassSums) -> PassSums:
        ours, theirs = asdict(self), asdict(other)
        return PassSums(**{name: ours[name] + theirs[name] for name in ours})

    def entry(self) -> Entry:
        """For a trace: means over the lists, the share of them in which each constraint fired."""
        n = max(self.n_lists, 1)
        mean = self.spread / n
        return {
            "loss": self.loss / n,
            "updates": int(self.n_updates),
            "margin": self.n_margin / n,
            "upper": self.n_upper / n,
            "lower": self.n_lower / n,
            "spread": mean,
            "spread_deviation": math.sqrt(max(0.0, self.spread_square / n - mean * mean)),
            "score_range": self.score_range / n,
            "gain_range": self.gain_range / n,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Sums over lists of more than one candidate, which a native learner looked at without a step.

    Ranges are greatest minus least; squares are omega' R omega between the hope and the fear, and between the hope and
    the candidate of the least score, in `n_fear` and `n_worst` lists where that is not 0.
    """

    n_lists: float = 0
    n_fear: float = 0
    n_worst: float = 0
    score_range: float = 0
    gain_range: float = 0
    fear_square: float = 0
    worst_square: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Record):
    """Which candidates a loss compares: a hinge with the hope held fixed, or a ramp, a difference of maxima.

    `bound_weight` times the excess of the spread of scores over `bound` is added; `bound_by_cost` multiplies the bound
    by the cost of each candidate, at least by `bound_floor`.
    """

    hope: _core.Hope
    fear: _core.Fear
    local_size: int = LOCAL_SIZE
    is_ramp: bool = False
    bound: float = float("inf")
    bound_weight: float = 0.0
    bound_by_cost: bool = False
    bound_floor: float = BOUND_FLOOR


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginLoss(Record, ABC):
    """A loss of each list that compares candidates; their gains are those of the candidate alone (BLEU+1).

    Gains are multiplied by `gain_scale`, and in most losses by the words of the sentence.
    """

    by_length: ClassVar[bool] = True

    metric: Metric
    gain_scale: float = 1.0
    sentence_bleu: SentenceBleu | None = None

    @abstractmethod
    def comparison(self) -> Comparison:
        """Which candidates are compared."""

    def gains(self, shard: Shard) -> Float64Array:
        """Of each candidate."""
        return scaled_gains(
            self.metric, shard, scale=self.gain_scale, by_length=self.by_length, sentence_bleu=self.sentence_bleu
        )

    def gradient(self, shard: Shard, weights: Float64Array) -> tuple[float, SparseVector, Int32Array]:
        """See Loss."""
        c = self.comparison()
        value, ids, values, n_lists = _core.margin_loss(
            *shard.candidates,
            self.gains(shard),
            weights,
            hope=c.hope,
            fear=c.fear,
            local_size=c.local_size,
            ramp=c.is_ramp,
            bound=c.bound,
            bound_weight=c.bound_weight,
            bound_by_cost=c.bound_by_cost,
            bound_floor=c.bound_floor,
        )
        return value, SparseVector(ids, values), n_lists

    def lists(
        self,
        shards: Sequence[Shard],
        lengths: Sequence[Float64Array] | None = None,
        gains: Callable[[Shard], Float64Array] | None = None,
    ) -> _core.CandidateLists:
        """The lists for native learners. `lengths` are words of each sentence; `gains` replace those of the loss."""
        arrays = [
            (
                *shard.candidates,
                shard.stats,
                (gains or self.gains)(shard),
                np.ones(shard.n_sentences) if lengths is None else self.gain_scale * lengths[number],
            )
            for number, shard in enumerate(spooled(shards))
        ]
        return _core.candidate_lists(arrays, self.metric.n_stats)


class ListLearner(EpochLearner):
    """A learner whose weights are watched by the metric of their choices."""

    def __init__(self, lists: _core.CandidateLists, problem: Problem) -> None:
        self._lists = lists
        self._metric = problem.metric
        self._n_threads = problem.n_threads
        self._key = (problem.seed, problem.round_number)

    def watch(self, watched: Int64Array, values: Float64Array, entry: Entry) -> Watched:
        """The corpus gain is both what must rise and what tells the best."""
        gain = float(self._metric.gain(self._lists.totals(watched, values, self._n_threads)))
        entry["gain"] = gain
        return Watched(-gain, gain)


def stopping_by_gain(max_epochs: int, held_out: float, patience: int) -> Stopping:
    """By the gain of the sentences held out; without any, all epochs are run."""
    return Stopping(
        max_epochs=max_epochs,
        tolerance=0,
        patience=patience if held_out else max_epochs,
        held_out=held_out,
        least=1,
    )


def split_of(problem: Problem, stopping: Stopping) -> Split:
    """The sentences that have candidates, split."""
    positions = filled_sentences(problem.pool)
    folds = folds_of(problem.pool, positions)
    return Split.draw(positions, stopping, key=(problem.seed, problem.round_number), folds=folds)


def rates_of(n: int, dense: Collection[int], frozen: NDArray[np.bool_], sparse_rate: float) -> Float64Array:
    """The rate of each of `n` weights, R: 1 of dense features, `sparse_rate` of others, 0 of frozen ones."""
    rates = np.full(n, sparse_rate)
    rates[sorted(dense)] = 1
    rates[frozen] = 0
    return rates


def relative_rates(
    lists: _core.CandidateLists, positions: Int64Array, rates: Float64Array, dense: Collection[int]
) -> Float64Array:
    """The rates that weights have where each dense feature is measured in its deviation within these lists.

    Others are measured in one deviation that they have in common, so that rare ones stay rare.
    """
    variances, counts = lists.spread(positions, len(rates))
    units = np.ones(len(rates))
    others = (rates > 0) & (counts > 0)
    others[sorted(dense)] = False
    if others.any():
        units[:] = SPARSE_UNIT * np.average(variances[others], weights=counts[others])
    measured = [id_ for id_ in sorted(dense) if variances[id_] > 0]
    units[measured] = variances[measured]
    return rates / units


def check_varying(lists: _core.CandidateLists, problem: Problem) -> None:
    """Raise InputError unless a feature that is not frozen differs between candidates."""
    if not lists.vary(problem.frozen.view(np.uint8)):
        raise InputError(
            "no feature that may change differs between the candidates of a sentence, so weights cannot matter"
        )
