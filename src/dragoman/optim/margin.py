"""What losses and learners share that compare a few extreme candidates of a list: hopes, fears, best and worst."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Problem
from dragoman.optim.epochs import Entry, EpochLearner, Split, Stopping, Watched, filled_sentences
from dragoman.optim.gains import scaled_gains
from dragoman.optim.loss import SparseVector
from dragoman.pool import Shard, spooled
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = ["Comparison", "Fear", "Hope", "ListLearner", "MarginLoss", "check_varying", "split_of", "stopping_by_gain"]


class Hope(StrEnum):
    """The candidate that stands for the reference."""

    COST_DIMINISHED = "cost-diminished"  # greatest model score + gain
    ORACLE = "oracle"  # greatest gain


class Fear(StrEnum):
    """The candidate that a passive-aggressive step moves away from."""

    COST_AUGMENTED = "cost-augmented"  # greatest model score - gain: the most violated margin
    WORST = "worst"  # least gain
    MODEL = "model"  # greatest model score


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Which candidates a loss compares: a hinge with the hope held fixed, or a ramp, a difference of maxima.

    `bound_weight` times the excess of the spread of scores over `bound` is added.
    """

    hope: _core.Hope
    fear: _core.Fear
    is_ramp: bool = False
    bound: float = float("inf")
    bound_weight: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginLoss(ABC):
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
            *shard.candidates, self.gains(shard), weights, c.hope, c.fear, c.is_ramp, c.bound, c.bound_weight
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
    return Split.draw(filled_sentences(problem.pool), stopping, key=(problem.seed, problem.round_number))


def check_varying(lists: _core.CandidateLists, problem: Problem) -> None:
    """Raise InputError unless a feature that is not frozen differs between candidates."""
    if not lists.vary(problem.frozen.view(np.uint8)):
        raise InputError(
            "no feature that may change differs between the candidates of a sentence, so weights cannot matter"
        )
