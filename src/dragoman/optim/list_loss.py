"""Losses of candidate lists that the native core knows: functions of the scores and the gains of a list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dragoman import _core
from dragoman.metric import External, Metric, SentenceBleu
from dragoman.optim.loss import SparseVector
from dragoman.pool import Pool, Shard, metric_of, sentence_gains
from dragoman.types import Float64Array, Int32Array

__all__ = ["ListLoss", "gain_scale"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLoss(ABC):
    """A loss of each list apart: of the model scores and the gains of its candidates.

    Gains are those of the metric on the candidate alone (BLEU: smoothed as `sentence_bleu` says), times `gain_scale`.
    None of these losses changes when all scores of a list grow by the same number.
    """

    metric: Metric
    sentence_bleu: SentenceBleu | None = None
    gain_scale: float = 1.0

    @property
    @abstractmethod
    def kernel(self) -> _core.ListLoss:
        """The native form."""

    @property
    def watched(self) -> _core.ListLoss:
        """What tells whether learning still helps, on lists that are held out."""
        return self.kernel

    def gains(self, shard: Shard) -> Float64Array:
        """Of each candidate."""
        gains = sentence_gains(self.metric, shard.stats, sentence_bleu=self.sentence_bleu)
        return gains if self.gain_scale == 1 else gains * self.gain_scale

    def gradient(
        self, shard: Shard, weights: Float64Array, *, n_threads: int = 1
    ) -> tuple[float, SparseVector, Int32Array]:
        """The loss summed over the lists, its gradient, and in how many lists a candidate has each feature."""
        value, ids, values, n_lists = _core.list_gradient(
            *shard.candidates, self.gains(shard), weights, self.kernel, n_threads
        )
        return value, SparseVector(ids, values), n_lists


def gain_scale(pool: Pool) -> float:
    """What to multiply gains with: 1, but for external metrics what makes lists span 1 on average.

    Step sizes and costs assume gains like BLEU's; nobody knows the scale of a number that the user brings.
    """
    if not isinstance(metric_of(pool), External):
        return 1.0
    total, n_lists = 0.0, 0
    for shard in pool.shards:
        filled = np.diff(shard.sentences) > 1
        begins = shard.sentences[:-1][np.diff(shard.sentences) > 0]
        if len(begins) == 0:
            continue
        values = shard.stats[:, 0]
        spans = np.maximum.reduceat(values, begins) - np.minimum.reduceat(values, begins)
        total += float(spans.sum())
        n_lists += int(filled.sum())
    return n_lists / total if total > 0 else 1.0
