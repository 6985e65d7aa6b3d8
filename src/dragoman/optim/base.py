"""What every optimiser shares: its interface, its result, and the checks that keep it from failing silently."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.pool import Pool, metric_of, rerank, weights_for
from dragoman.types import Int32Array

__all__ = ["Optimiser", "Result", "Trace", "check_start", "check_tunable", "finish", "frozen_ids"]

Trace = tuple[Mapping[str, float | int | str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Weights over the pool's index, and how they came about.

    Gains are those of the pool's metric in [0, 1], of the best candidates by the start and by the result.
    `notes` are for the user: what was left out or could not be done.
    """

    weights: Weights
    gain_before: float
    gain_after: float
    trace: Trace = ()
    notes: tuple[str, ...] = ()


class Optimiser(Protocol):
    """A batch optimiser: hyperparameters are its fields, all with defaults."""

    def optimise(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int = 0,
        frozen: Collection[str] = (),
        n_threads: int = 1,
    ) -> Result:
        """Better weights than `start`; those of `frozen` features stay as they are.

        The same seed and round give the same result for any number of threads. Raises InputError for a pool that
        cannot teach anything, FailedError instead of returning weights that a decoder could not use.
        """
        ...


def check_tunable(pool: Pool) -> None:
    """Raise InputError unless there are candidates to choose between and the metric tells them apart."""
    metric = metric_of(pool)
    if pool.n_candidates == 0:
        raise InputError("the pool has no candidates")
    if not any((np.diff(shard.sentences) > 1).any() for shard in pool.shards):
        raise InputError(
            "every sentence has only one candidate, so there is nothing to choose between; make longer n-best lists"
        )
    for shard in pool.shards:
        first = np.minimum(shard.sentences[:-1], max(shard.n_candidates - 1, 0))[shard.sentence_of_each()]
        if (shard.stats != shard.stats[first]).any():
            return
    raise InputError(
        f"the candidates of every sentence have the same {metric.name}, so there is nothing to learn; "
        "are these the right references?"
    )


def check_start(pool: Pool, start: Weights) -> Weights:
    """The start over the pool's index, names that the pool lacks included. Raises InputError if it is not usable."""
    weights_for(pool, start)
    return start.on(pool.index)


def frozen_ids(pool: Pool, frozen: Collection[str]) -> Int32Array:
    """Ids of the frozen features. Raises InputError for a name that nobody has, as a misspelt one."""
    ids = {name: pool.index.find(name) for name in frozen}
    if absent := [name for name, id_ in ids.items() if id_ < 0]:
        raise InputError(f"the feature '{absent[0]}' cannot be frozen: neither the candidates nor the weights have it")
    return np.array(sorted(ids.values()), dtype=np.int32)


def finish(
    pool: Pool,
    start: Weights,
    weights: Weights,
    *,
    n_threads: int,
    trace: Trace = (),
    notes: tuple[str, ...] = (),
) -> Result:
    """The result, measured. Raises FailedError for weights that no decoder could use."""
    if not weights.is_usable():
        raise FailedError("the optimiser found no usable weights (not finite, or all zero); nothing was changed")
    return Result(
        weights=weights,
        gain_before=rerank(pool, start, n_threads=n_threads).gain(),
        gain_after=rerank(pool, weights, n_threads=n_threads).gain(),
        trace=trace,
        notes=notes,
    )
