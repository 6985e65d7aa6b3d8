"""What losses share, so that any of them goes with any rule of update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from dragoman.candidates import Shard
from dragoman.metric import Metric
from dragoman.types import Float64Array, Int32Array

__all__ = ["Loss", "LowersLoss", "SparseVector"]


class SparseVector(NamedTuple):
    """Values of some features; ids ascending and distinct."""

    ids: Int32Array
    values: Float64Array


class Loss(Protocol):
    """A loss of candidate lists, to be minimised. Knows the metric whose statistics the lists carry."""

    def gradient(self, shard: Shard, weights: Float64Array) -> tuple[float, SparseVector, Int32Array]:
        """The loss summed over the shard's lists, its (sub)gradient, and in how many lists each feature has one.

        `weights[i]` is the weight of feature i. The third part is parallel to the gradient's ids.
        """
        ...


@runtime_checkable
class LowersLoss(Protocol):
    """A method whose steps lower a loss of candidate lists."""

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> Loss:
        """The loss with the method's settings. `shards` tell the range of gains where the metric's scale is unknown."""
        ...
