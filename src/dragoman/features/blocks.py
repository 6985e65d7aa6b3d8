"""Blocks: named dense features, each the dot product of a fixed sparse vector with the features it covers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dragoman._core import FeatureNames
from dragoman.features.table import FeatureTable
from dragoman.features.weights import Weights
from dragoman.types import Float64Array, Int64Array

__all__ = ["HOLS_BEFORE", "HOLS_STEP", "Block", "blocks_by_template"]

HOLS_BEFORE, HOLS_STEP = "hols_before", "hols_step"
"""Blocks of held-out line search: f_1, and f_2 or the beginning of its parts' names."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A dense feature `name` whose value is the sum of coefficient · value over the features it covers.

    Projecting a pool removes the columns of the covered features (including those with coefficient 0), so that a line
    search over `name` scales the whole direction.
    """

    name: str
    table: FeatureTable
    column: str

    def __post_init__(self) -> None:
        if not len(self.table):
            raise ValueError(f"the block {self.name!r} covers no features")
        if len(bad := np.flatnonzero(~np.isfinite(self.coefficients))):
            (name,) = self.table.names(bad[:1])
            raise ValueError(f"the block {self.name!r} has a non-finite coefficient for {name!r}")

    @classmethod
    def from_dict(cls, name: str, coefficients: Mapping[str, float]) -> Block:
        """A block of few features."""
        index = Weights.from_dict(coefficients).index
        values = np.array(list(coefficients.values()), dtype=np.float64)
        table = FeatureTable.from_ids(index, np.arange(len(index), dtype=np.int32), {"coefficient": values})
        return cls(name, table, "coefficient")

    @property
    def features(self) -> FeatureNames:
        """The features it covers, in the order of their keys."""
        return self.table.features

    @property
    def coefficients(self) -> Float64Array:
        """The coefficient of each of them."""
        return np.asarray(self.table.columns[self.column], dtype=np.float64)

    def digest(self) -> str:
        """Names the features that it covers and their coefficients."""
        arrays = self.features.keys.astype("<u8"), self.coefficients.astype("<f8")
        return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).hexdigest()


def blocks_by_template(table: FeatureTable, column: str, *, prefix: str) -> list[Block]:
    """A column split by template, the text before the first colon: the blocks `<prefix><template>`, by name.

    Features without a colon have no template and are left out.
    """
    offsets, blob = table.features.offsets, table.features.blob
    colons = np.append(np.flatnonzero(blob == ord(":")), len(blob))
    ends = colons[np.searchsorted(colons, offsets[:-1])]
    sparse = np.flatnonzero(ends < offsets[1:])
    lengths = ends[sparse] - offsets[sparse]
    places: dict[str, Int64Array] = {}
    for length in np.unique(lengths).tolist():
        ours = sparse[lengths == length]
        if not length:
            places[""] = ours
            continue
        letters = np.ascontiguousarray(blob[offsets[ours][:, None] + np.arange(length)]).view(f"V{length}")[:, 0]
        names, which = np.unique(letters, return_inverse=True)
        for number, name in enumerate(names):
            places[name.tobytes().decode("utf-8")] = ours[which == number]
    return [Block(prefix + template, table.take(places[template]), column) for template in sorted(places)]
