"""What a worker does with a shard of training lines: decode, measure, differentiate; the lists are then thrown away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dragoman import _core
from dragoman.candidates import Pool, Shard, metric_of
from dragoman.errors import FailedError
from dragoman.features import FeatureTable
from dragoman.gradients.gradient import N_LISTS, Gradient, ListSums
from dragoman.gradients.settings import PassSettings
from dragoman.metric import Metric
from dragoman.optim import GainLoss, Loss, SparseVector
from dragoman.system import FoldDecoder, System
from dragoman.types import Float64Array, Int32Array, Int64Array
from dragoman.work.engine import Job

__all__ = ["WEIGHT", "GradientJob", "gradient_of"]

WEIGHT = "weight"
"""The column of a table of weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientJob(Job[Int64Array, Gradient]):
    """The gradient of a shard, given its lines.

    The system must be freshly opened: features that have weights are then the first of its index, in one order for all
    workers, and scores are added up in that order.
    """

    system: System
    settings: PassSettings
    weights: FeatureTable
    """Of search, in the column `weight`."""

    def open(self, n_threads: int) -> Callable[[Int64Array], Gradient]:
        settings = self.settings
        weights = self.weights.weights(WEIGHT, self.system.index)
        decoder = FoldDecoder(self.system, preset=settings.preset, all_data=settings.all_data)
        metric, losses = settings.measure(), settings.made_losses()

        def work(lines: Int64Array) -> Gradient:
            pool = decoder.kbest(lines, weights, settings.k, distinct=settings.distinct, n_threads=n_threads)
            pool = decoder.measured(pool, metric, n_threads=n_threads)
            with np.errstate(over="ignore"):  # the loss tells
                scaled = settings.scale * weights.values
            return gradient_of(pool, losses, scaled, n_threads=n_threads)

        return work


def gradient_of(pool: Pool, losses: dict[str, Loss], weights: Float64Array, *, n_threads: int = 1) -> Gradient:
    """The gradient of each loss over the lists of a pool of one shard, at these weights.

    Raises FailedError where it is not finite.
    """
    (shard,) = pool.shards
    found = {name: _differentiated(loss, shard, weights, n_threads) for name, loss in losses.items()}
    for name, (value, vector, _) in found.items():
        if not (np.isfinite(value) and np.isfinite(vector.values).all()):
            raise FailedError(f"the loss {name} is not a finite number; are weights or their scale too large?")
    ids, n_lists = _counted(losses, found, shard, weights, n_threads)
    columns = {name: _spread(vector, ids) for name, (_, vector, _) in found.items()}
    best, oracle = _chosen(shard, metric_of(pool))
    sums = ListSums(
        n_lines=shard.n_sentences,
        n_lists=int((np.diff(shard.sentences) > 0).sum()),
        n_candidates=shard.n_candidates,
        losses={name: value for name, (value, _, _) in found.items()},
        best=tuple(shard.stats[best].sum(axis=0).tolist()),
        oracle=tuple(shard.stats[oracle].sum(axis=0).tolist()),
    )
    table = FeatureTable.from_ids(pool.index, ids, {**columns, N_LISTS: n_lists.astype(np.int64)})
    return Gradient(table=table, sums=sums)


_Found = tuple[float, SparseVector, Int32Array]


def _differentiated(loss: Loss, shard: Shard, weights: Float64Array, n_threads: int) -> _Found:
    if isinstance(loss, GainLoss):
        return loss.gradient(shard, weights, n_threads=n_threads)
    return loss.gradient(shard, weights)


def _counted(
    losses: dict[str, Loss], found: dict[str, _Found], shard: Shard, weights: Float64Array, n_threads: int
) -> tuple[Int32Array, Int32Array]:
    """All features of the candidates, and in how many lists a candidate has each.

    Losses of the whole list tell; those that compare a few candidates know only the features of these.
    """
    for name, loss in losses.items():
        if isinstance(loss, GainLoss):
            _, vector, n_lists = found[name]
            return vector.ids, n_lists
    no_gains = np.zeros(shard.n_candidates)
    _, ids, _, n_lists = _core.list_gradient(
        *shard.candidates, no_gains, weights, _core.list_loss("likelihood"), n_threads
    )
    return ids, n_lists


def _spread(vector: SparseVector, ids: Int32Array) -> Float64Array:
    """The values at `ids`, all of the vector's among them; 0 elsewhere."""
    if len(vector.ids) == len(ids):
        return vector.values
    values = np.zeros(len(ids))
    values[np.searchsorted(ids, vector.ids)] = vector.values
    return values


def _chosen(shard: Shard, metric: Metric) -> tuple[Int64Array, Int64Array]:
    """The first candidate of each list, and the first of those with the highest gain."""
    begins = shard.sentences[:-1][np.diff(shard.sentences) > 0]
    if not len(begins):
        return begins, begins
    gains = metric.segment_gains(shard.stats)
    lengths = np.diff(np.append(begins, shard.n_candidates))
    is_best = gains == np.repeat(np.maximum.reduceat(gains, begins), lengths)
    places = np.flatnonzero(is_best)
    return begins, places[np.searchsorted(places, begins)]
