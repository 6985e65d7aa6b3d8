"""Epochs of a learner: which lists it sees, in which order, when it stops, and which epoch's weights are kept."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.candidates import Pool, outlines
from dragoman.errors import FailedError, InputError
from dragoman.settings import Record
from dragoman.types import Float64Array, Int64Array

__all__ = [
    "Entry",
    "EpochLearner",
    "Epochs",
    "Split",
    "Stopping",
    "Watched",
    "filled_sentences",
    "folds_of",
    "run_epochs",
    "sentence_ids",
    "visiting_order",
]

_BLOCK = 4096

Entry = dict[str, float | int | str]
"""What the trace says about an epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping(Record):
    """When to end, and with which weights: the best ones (`keep_best`) or those of the last epoch.

    After each epoch the loss of lists that are held out is watched, a share `held_out` of all; where that is fewer
    than `least`, the lists learned from are watched. Where lists have folds, as those of the training text, whole folds
    are held out, since equal source sentences share one: `held_out_fold`, or the last ones.

    Early stopping: learning ends when the watched loss has not fallen by a factor of `tolerance` for `patience` epochs.
    """

    max_epochs: int = 100
    tolerance: float = 3e-4
    patience: int = 3
    held_out: float = 0.1
    held_out_fold: int | None = None
    least: int = 100
    keep_best: bool = True

    def _check(self) -> None:
        if self.max_epochs < 1 or self.patience < 1:
            raise InputError("epochs and patience must be positive")
        if not self.tolerance >= 0:
            raise InputError(f"the tolerance must not be negative, but is {self.tolerance}")
        if not 0 <= self.held_out < 1:
            raise InputError(f"the share to hold out must be in [0, 1), not {self.held_out}")
        if self.held_out_fold is not None and self.held_out_fold < 0:
            raise InputError(f"held_out_fold must be the number of a fold, from 0, not {self.held_out_fold}")


class Split(NamedTuple):
    """Lists to learn from, in the order drawn too, and lists to watch: those held out, or the same."""

    learned: Int64Array
    watched: Int64Array
    drawn: Int64Array
    n_held_out: int
    held_out_folds: tuple[int, ...] = ()

    @classmethod
    def draw(
        cls,
        positions: Int64Array,
        stopping: Stopping,
        *,
        key: Sequence[int],
        folds: NDArray[np.integer] | None = None,
    ) -> Split:
        """Ascending positions of lists, split by the stream of `key`, or by the `folds` of the lists."""
        order = np.random.default_rng([*key, 0]).permutation(positions)
        chosen = _held_out_folds(folds, stopping)
        if folds is not None and chosen:
            held = positions[np.isin(folds, chosen)]
            if len(held) < stopping.least and stopping.held_out_fold is None:
                return cls(positions, positions, order, 0)
            drawn = order[~np.isin(order, held)]
            return cls(np.sort(drawn), held, drawn, len(held), chosen)
        n_held_out = int(stopping.held_out * len(positions))
        if n_held_out < stopping.least:
            return cls(positions, positions, order, 0)
        drawn = order[n_held_out:]
        return cls(np.sort(drawn), np.sort(order[:n_held_out]), drawn, n_held_out)


def _held_out_folds(folds: NDArray[np.integer] | None, stopping: Stopping) -> tuple[int, ...]:
    """Whole folds to hold out: the one asked for, or the last ones, at least one; none where there are no two.

    Raises InputError for a fold that no list has.
    """
    asked = stopping.held_out_fold
    if folds is None:
        if asked is None:
            return ()
        raise InputError(
            f"held_out_fold={asked}: the lists have no folds, as stored ones of a training text do (tune --lists); "
            "hold out a share of them with held_out"
        )
    present: list[int] = np.unique(folds).tolist()
    if asked is not None:
        if asked not in present or len(present) == 1:
            raise InputError(
                f"held_out_fold={asked} leaves nothing to {'watch' if asked not in present else 'learn from'}; "
                f"the lists are of folds {', '.join(map(str, present))}"
            )
        return (asked,)
    n = max(1, round(stopping.held_out * len(present)))
    return tuple(present[-n:]) if stopping.held_out > 0 and n < len(present) else ()


def sentence_ids(pool: Pool) -> Int64Array:
    """Of all sentences of the pool, through all shards."""
    return np.concatenate([np.zeros(0, np.int64), *(outline.sentence_ids for outline in outlines(pool.shards))])


def folds_of(pool: Pool, positions: Int64Array) -> NDArray[np.integer] | None:
    """The folds of sentences at these positions, counted through all shards; None where the pool has no folds."""
    return None if pool.folds is None else pool.folds[sentence_ids(pool)[positions]]


def filled_sentences(pool: Pool) -> Int64Array:
    """Positions of the sentences that have candidates, counted through all shards."""
    return np.flatnonzero(np.concatenate([np.diff(outline.sentences) for outline in outlines(pool.shards)]))


def visiting_order(positions: Int64Array, *, key: Sequence[int]) -> Int64Array:
    """The positions shuffled by the stream of `key`.

    Blocks of a few thousand neighbours are shuffled, and the sentences of each: pools mapped from disk are read
    part by part, whatever their shards.
    """
    rng = np.random.default_rng(list(key))
    blocks = np.split(positions, np.searchsorted(positions, np.arange(_BLOCK, positions.max(initial=0) + 1, _BLOCK)))
    return np.concatenate([rng.permutation(blocks[i]) for i in rng.permutation(len(blocks))])


class Watched(NamedTuple):
    """How weights do on the watched lists: `loss` must keep falling, the best epoch has the greatest `merit`."""

    loss: float
    merit: float


class EpochLearner(ABC):
    """Weights that an epoch over some lists changes."""

    @abstractmethod
    def epoch(self, learned: Int64Array, number: int) -> Entry:
        """Visit the lists once, in an order of its own."""

    @abstractmethod
    def values(self) -> Float64Array:
        """The weights after the epochs so far, averaged if so asked."""

    @abstractmethod
    def watch(self, watched: Int64Array, values: Float64Array, entry: Entry) -> Watched:
        """How these weights do on these lists; adds to the trace's entry."""


@dataclass(slots=True)
class Epochs:
    """What came of running epochs: the values of epoch `best`, where 0 is the start."""

    values: Float64Array
    merit: float
    best: int
    trace: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    settled: bool = False


def run_epochs(
    learner: EpochLearner,
    split: Split,
    stopping: Stopping,
    *,
    start: tuple[Float64Array, float] | None = None,
) -> Epochs:
    """Epochs until the watched loss does not fall any more; `start` competes with them if given, with its merit.

    Ends, with a note, where weights or their loss leave the range of numbers; raises FailedError in the first epoch.
    """
    found = Epochs(*(start or (np.zeros(0), -math.inf)), 0)
    lowest, n_stale = 0.0, 0
    for number in range(1, stopping.max_epochs + 1):
        entry: Entry = {"epoch": number, **learner.epoch(split.learned, number)}
        values = learner.values()
        seen = learner.watch(split.watched, values, entry)
        if not (math.isfinite(seen.loss) and np.isfinite(values).all()):
            diverged = f"the weights grew beyond all bounds in epoch {number}; use smaller steps"
            if not found.best or not stopping.keep_best:
                raise FailedError(diverged)
            found.notes.append(diverged)
            return found
        found.trace.append(entry)
        if seen.merit > found.merit or not stopping.keep_best:
            found.values, found.merit, found.best = values, seen.merit, number
        if number == 1 or lowest - seen.loss > stopping.tolerance * abs(lowest):
            lowest, n_stale = seen.loss, 0
            continue
        n_stale += 1
        if n_stale == stopping.patience:
            found.settled = True
            break
    return found
