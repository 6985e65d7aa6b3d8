"""Weights as a binary file: a table of the columns `weight` and `place`, the order in which features were added."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dragoman.errors import InputError, naming
from dragoman.features.index import FeatureIndex
from dragoman.features.table import Column, FeatureTable
from dragoman.features.weights import Weights
from dragoman.types import PathLike

__all__ = ["read_binary_weights", "write_binary_weights"]

WEIGHT, _PLACE = "weight", "place"


def read_binary_weights(path: PathLike, *, index: FeatureIndex | None = None, column: str = WEIGHT) -> Weights:
    """Read weights, also from a column of a table without places: then features are added in the order of their keys.

    Raises InputError when the file is damaged, lacks the column, has no features or a weight that is not finite.
    """
    table = FeatureTable.load(path)
    with naming(path):
        if column not in table.columns:
            raise InputError(f"has no column '{column}' but {', '.join(table.columns) or 'none'}")
        if not len(table):
            raise InputError("no weights here; the table has no features")
        if len(bad := np.flatnonzero(~np.isfinite(table.columns[column]))):
            raise InputError(f"the weight of '{table.names(bad[:1])[0]}' is not finite")
        return table.weights(column, index, places=_PLACE if _PLACE in table.columns else None)


def write_binary_weights(weights: Weights, path: PathLike, *, headers: Mapping[str, str] | None = None) -> None:
    """Write the weights that are not 0, such that reading them gives ids in the same order."""
    ids = weights.ids()
    columns: dict[str, Column] = {WEIGHT: weights.values[ids], _PLACE: np.arange(len(ids))}
    FeatureTable.from_ids(weights.index, ids, columns, {"headers": dict(headers)} if headers else None).save(path)
