"""Weights of learners side by side, mixed: McDonald, Hall and Mann 2010, *Distributed training strategies for the
structured perceptron*, iterative parameter mixing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dragoman.engine import TreeSum
from dragoman.features.index import FeatureIndex
from dragoman.features.table import FeatureTable
from dragoman.features.weights import Weights

__all__ = ["MixedWeights", "mix_weights"]

_SUM = "sum"


@dataclass(frozen=True, slots=True, eq=False)
class MixedWeights:
    """The sum of n·w, and of n, over learners that saw n examples each. Travels by names, and adds up in a TreeSum."""

    table: FeatureTable
    n: float

    @classmethod
    def of(cls, weights: Weights, n: float = 1.0) -> MixedWeights:
        """The weights of one learner."""
        if not (np.isfinite(n) and n > 0):
            raise ValueError(f"a learner's share must be positive and finite, not {n}")
        table = FeatureTable.from_weights(weights, _SUM)
        return cls(table.with_columns({_SUM: n * table.columns[_SUM].astype(np.float64)}), n)

    def add(self, other: MixedWeights) -> MixedWeights:
        return MixedWeights(self.table.add(other.table), self.n + other.n)

    def mean(self, index: FeatureIndex | None = None) -> Weights:
        """The mean of the weights; a learner without a feature has the weight 0 for it."""
        mean = self.table.columns[_SUM].astype(np.float64) / self.n
        return self.table.with_columns({_SUM: mean}).weights(_SUM, index)


def mix_weights(learners: Iterable[tuple[Weights, float]], index: FeatureIndex | None = None) -> Weights:
    """The mean of learners' weights, each counted as many times as its number says; sums follow the tree of learners.

    Raises ValueError when there are none.
    """
    tree: TreeSum[MixedWeights] = TreeSum(MixedWeights.add)
    for place, (weights, n) in enumerate(learners):
        tree.put(place, MixedWeights.of(weights, n))
    return tree.total().mean(index)
