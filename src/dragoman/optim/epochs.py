"""Epochs of an online learner: which sentences it sees, in which order, and which epoch's weights are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dragoman.errors import FailedError, InputError
from dragoman.pool import Pool
from dragoman.types import Float64Array, Int64Array

__all__ = ["BestEpoch", "split_sentences", "visiting_order"]

_BLOCK = 4096
_HELD_OUT_STREAM = 0x68656C64


def split_sentences(pool: Pool, held_out: float, *, seed: int) -> tuple[Int64Array, Int64Array]:
    """Positions of the sentences to learn from and of those held out; sentences count through all shards.

    Only sentences with candidates are among them. The split depends on the seed alone, not on the shards.
    """
    counts = [np.diff(shard.sentences) for shard in pool.shards]
    positions = np.flatnonzero(np.concatenate(counts))
    if held_out == 0:
        return positions, positions[:0]
    n_held = round(held_out * len(positions))
    if not 0 < n_held < len(positions):
        raise InputError(f"of {len(positions)} sentences {n_held} would be held out; change held_out")
    order = np.random.default_rng([seed, _HELD_OUT_STREAM]).permutation(positions)
    return np.sort(order[n_held:]), np.sort(order[:n_held])


def visiting_order(positions: Int64Array, *, key: Sequence[int]) -> Int64Array:
    """The positions shuffled by the stream of `key`.

    Blocks of a few thousand neighbours are shuffled, and the sentences of each: pools mapped from disk are read
    part by part, whatever their shards.
    """
    rng = np.random.default_rng(list(key))
    blocks = np.split(positions, np.searchsorted(positions, np.arange(_BLOCK, positions.max(initial=0) + 1, _BLOCK)))
    return np.concatenate([rng.permutation(blocks[i]) for i in rng.permutation(len(blocks))])


class BestEpoch:
    """Keeps the weights of the epoch with the greatest gain, the first of equals."""

    def __init__(self, patience: int | None) -> None:
        self._patience = patience
        self.number = 0
        self.gain = -math.inf
        self.weights: Float64Array | None = None

    def offer(self, number: int, gain: float, weights: Float64Array) -> bool:
        """Take an epoch into account; False when there is no use in going on."""
        if not (math.isfinite(gain) and np.isfinite(weights).all()):
            return False
        if gain > self.gain:
            self.number, self.gain, self.weights = number, gain, weights
        return self._patience is None or number - self.number < self._patience

    def result(self) -> Float64Array:
        """Raises FailedError when no epoch gave finite weights."""
        if self.weights is None:
            raise FailedError("the weights left the range of numbers in the first epoch; nothing was changed")
        return self.weights
