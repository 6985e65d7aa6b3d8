"""Losses of candidate lists that are functions of the scores and the gains of a list; those that the core knows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.loss import SparseVector
from dragoman.settings import Record
from dragoman.types import Float64Array, Int32Array

__all__ = ["GainLoss", "ListLoss"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GainLoss(Record, ABC):
    """A loss of each list apart: of the model scores and the gains of its candidates.

    Gains are those of the metric on the candidate alone (BLEU: smoothed as `sentence_bleu` says), times `gain_scale`.
    None of these losses changes when all scores of a list grow by the same number.
    """

    metric: Metric
    sentence_bleu: SentenceBleu | None = None
    gain_scale: float = 1.0

    def gains(self, shard: Shard) -> Float64Array:
        gains = self.metric.segment_gains(shard.stats, self.sentence_bleu)
        return gains if self.gain_scale == 1 else gains * self.gain_scale

    @abstractmethod
    def gradient(
        self, shard: Shard, weights: Float64Array, *, n_threads: int = 1
    ) -> tuple[float, SparseVector, Int32Array]:
        """The loss summed over the lists, its gradient, and in how many lists a candidate has each feature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLoss(GainLoss):
    """One that the native core knows."""

    @property
    @abstractmethod
    def kernel(self) -> _core.ListLoss:
        """The native form."""

    @property
    def watched(self) -> _core.ListLoss:
        """What tells whether learning still helps, on lists that are held out."""
        return self.kernel

    def gradient(
        self, shard: Shard, weights: Float64Array, *, n_threads: int = 1
    ) -> tuple[float, SparseVector, Int32Array]:
        value, ids, values, n_lists = _core.list_gradient(
            *shard.candidates, self.gains(shard), weights, self.kernel, n_threads
        )
        return value, SparseVector(ids, values), n_lists
