"""A loss that is written in NumPy, as a function of the scores and the gains of a list: the core does the features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.errors import InputError
from dragoman.optim.list_loss import GainLoss
from dragoman.optim.loss import SparseVector
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = ["ScoreLoss", "check_level"]

_LEVEL = 1e-6
"""What the slopes of a list may sum to, as a share of their magnitudes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLoss(GainLoss):
    """`function(scores, gains)` gives the loss of a list and its derivative with respect to each score.

    With `batched` it is `function(scores, gains, offsets)` for several lists at once, which have the numbers from
    offsets[i] to offsets[i + 1] (no list is empty), and gives the sum of the losses, or each: a call costs as much as
    the arithmetic of many lists. The loss must not change when all scores of a list grow by the same number.
    """

    function: Callable[..., tuple[Any, Any]]
    batched: bool = False

    def slopes(self, scores: Float64Array, gains: Float64Array, offsets: Int64Array) -> tuple[float, Float64Array]:
        """The loss summed over lists that follow one another, and its derivatives."""
        if self.batched:
            return self._called(scores, gains, offsets)
        if len(offsets) == 2:
            return self._called(scores, gains)
        lists = [slice(*offsets[i : i + 2]) for i in range(len(offsets) - 1)]
        found = [self._called(scores[each], gains[each]) for each in lists]
        return sum(value for value, _ in found), np.concatenate([slopes for _, slopes in found])

    def gradient(
        self, shard: Shard, weights: Float64Array, *, n_threads: int = 1
    ) -> tuple[float, SparseVector, Int32Array]:
        offsets = np.unique(shard.sentences)
        value, slopes = self.slopes(_core.model_scores(*shard.candidates, weights), self.gains(shard), offsets)
        check_level(slopes, offsets)
        _, ids, values, n_lists = _core.list_gradient(
            *shard.candidates, slopes, weights, _core.list_loss("linear"), n_threads
        )
        return value, SparseVector(ids, values), n_lists

    def _called(self, scores: Float64Array, *more: Any) -> tuple[float, Float64Array]:
        value, slopes = self.function(scores, *more)
        slopes = np.ascontiguousarray(slopes, dtype=np.float64)
        if slopes.shape != scores.shape:
            raise InputError(
                f"a loss gave derivatives of shape {slopes.shape} for {len(scores)} scores; expected "
                f"{scores.shape}, one for each candidate"
            )
        return float(value if np.ndim(value) == 0 else np.sum(value)), slopes


def check_level(slopes: Float64Array, offsets: Int64Array) -> None:
    """Raise InputError for the derivatives of a loss that depends on the level of the scores of a list."""
    if not len(slopes):
        return
    sums = np.abs(np.add.reduceat(slopes, offsets[:-1]))
    if (sums > _LEVEL * np.maximum(np.add.reduceat(np.abs(slopes), offsets[:-1]), 1)).any():
        raise InputError(
            "the derivatives of a loss must sum to 0 over the candidates of a list, or it depends on the level of "
            f"their scores, which means nothing; a list has the sum {sums.max():.3g}"
        )
