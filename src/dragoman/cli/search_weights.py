"""Weights that a user names for the search of a system."""

from __future__ import annotations

import numpy as np

from dragoman.errors import InputError
from dragoman.features import Weights, unite_weights
from dragoman.system import SystemView

__all__ = ["read_search_weights"]

_MAX_WEIGHT = 1e100
"""Of a weight: sums of some million scores stay finite."""


def read_search_weights(paths: list[str], view: SystemView) -> Weights:
    """Weights that have something to say about translations of this system."""
    found = unite_weights(paths)
    ids = view.weights.ids()
    theirs = found.index.find_all(view.index, ids)
    if not found.values[theirs[theirs >= 0]].any():
        names = ", ".join(view.index.names(ids[:6]))
        raise InputError(f"no weight of a feature of the system; it has {names}, …", path=paths[0])
    if len(great := np.flatnonzero(np.abs(found.values) > _MAX_WEIGHT)):
        name = found.index.name(int(great[0]))
        raise InputError(f"the weight of '{name}' is too great: scores could not be summed", path=paths[0])
    return found.on(view.index)
