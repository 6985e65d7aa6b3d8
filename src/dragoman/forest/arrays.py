"""A forest as flat arrays: what the native core gives and takes."""

from __future__ import annotations

from typing import NamedTuple

from dragoman import _core
from dragoman.types import Float32Array, Int32Array, Int64Array

__all__ = ["ForestArrays"]


class ForestArrays(NamedTuple):
    """Ragged parts are offsets and values. Negative symbols are tails: -1 the first, -2 the second."""

    nodes: Int32Array
    """Rows of label, first and last source position (half open), source words covered."""
    rules: Int64Array
    """Of each instance, the grammar's rule id or -1."""
    spans: Int32Array
    """Of each instance."""
    symbol_offsets: Int64Array
    symbols: Int32Array
    local_offsets: Int64Array
    local_ids: Int32Array
    local_values: Float32Array
    """Features of each instance."""
    node_edges: Int64Array
    """Offsets of each node's edges."""
    instances: Int32Array
    """Of each edge."""
    tail_offsets: Int64Array
    tails: Int32Array
    feature_offsets: Int64Array
    feature_ids: Int32Array
    feature_values: Float32Array
    """Features of each edge beside those of its instance."""

    @classmethod
    def of(cls, core: _core.Forest) -> ForestArrays:
        """Copies of a forest's arrays."""
        return cls(*core.arrays())

    def build(self) -> _core.Forest:
        """The forest. Raises ValueError when the arrays do not fit together."""
        return _core.forest_of_arrays(*self)
