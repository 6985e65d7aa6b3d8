"""Pruning of many forests to a density, which does not depend on the scale of the weights."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman import _core
from dragoman.features import Weights, live_values
from dragoman.forest.forest import Forest
from dragoman.types import Float64Array

__all__ = ["prune_to_density"]


def prune_to_density(
    forests: Sequence[Forest], weights: Weights | Float64Array, density: float, *, n_threads: int = 1
) -> list[Forest]:
    """Copies with `density` edges for each word of the best translation: those with the greatest max-marginals.

    Edges that are as good as the last of them stay too, and so does the best derivation. All forests must share one
    feature index.
    """
    if not density > 0:
        raise ValueError(f"the density must be positive, not {density}")
    if not forests:
        return []
    values = live_values(weights, forests[0].index)
    cores = _core.prune_forests([forest.core for forest in forests], values, density, n_threads)
    return [
        Forest(core, forest.vocab, forest.index, labels=forest.labels)
        for core, forest in zip(cores, forests, strict=True)
    ]
