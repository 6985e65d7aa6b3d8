"""A forest as flat arrays, exchanged with the native core."""

from __future__ import annotations

from typing import NamedTuple

from dragoman import _core
from dragoman.types import Float32Array, Int32Array, Int64Array

__all__ = ["ForestArrays"]


class ForestArrays(NamedTuple):
    """Ragged parts are offsets and values. Negative symbols are tails: -1 the first, -2 the second, and so on."""

    nodes: Int32Array
    """Rows of (label, span begin, span end, number of source words covered); spans are half-open."""
    rules: Int64Array
    """The grammar's rule id of each instance, or -1."""
    spans: Int32Array
    """The source span of each instance."""
    symbol_offsets: Int64Array
    symbols: Int32Array
    local_offsets: Int64Array
    local_ids: Int32Array
    local_values: Float32Array
    """Feature values of each instance."""
    node_edges: Int64Array
    """Offsets of each node's edges."""
    instances: Int32Array
    """The instance of each edge."""
    tail_offsets: Int64Array
    tails: Int32Array
    feature_offsets: Int64Array
    feature_ids: Int32Array
    feature_values: Float32Array
    """Feature values of each edge in addition to those of its instance."""

    @classmethod
    def of(cls, core: _core.Forest) -> ForestArrays:
        return cls(*core.arrays())

    def build(self) -> _core.Forest:
        """Build the forest. Raises ValueError when the arrays are inconsistent."""
        return _core.forest_of_arrays(*self)
