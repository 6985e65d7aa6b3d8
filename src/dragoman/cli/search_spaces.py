"""Stored search spaces, as commands read them."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.errors import naming
from dragoman.forest import ForestSet, read_forests

__all__ = ["named_forests"]


def named_forests(paths: Sequence[str], weights: Sequence[str]) -> ForestSet:
    """The search spaces; dense features of Moses' search graphs get names if a file of the weights is a moses.ini."""
    forests = read_forests(paths)
    if forests.index.find("core_1") < 0:
        return forests
    from dragoman.features.moses_order import moses_order
    from dragoman.features.table import is_feature_table

    for path in weights:
        names = None if is_feature_table(path) else moses_order(path)
        if names is not None:
            with naming(path):
                return forests.with_names(names)
    return forests
