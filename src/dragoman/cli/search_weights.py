"""Weights that a user names for the search of a system."""

from __future__ import annotations

from dragoman.errors import InputError
from dragoman.features import Weights, unite_weights
from dragoman.system import SystemView

__all__ = ["read_search_weights"]

_MAX_WEIGHT = 1e100
"""Of a weight: sums of some million scores stay finite."""


def read_search_weights(paths: list[str], view: SystemView) -> Weights:
    """Weights that have something to say about translations of this system."""
    found = unite_weights(paths)
    names = [name for name, _ in view.weights.items()]
    if not any(found.index.find(name) >= 0 and found[name] for name in names):
        raise InputError(f"no weight of a feature of the system; it has {', '.join(names[:6])}, …", path=paths[0])
    if great := [name for name, value in found.items() if abs(value) > _MAX_WEIGHT]:
        raise InputError(f"the weight of '{great[0]}' is too great: scores could not be summed", path=paths[0])
    return found.on(view.index)
