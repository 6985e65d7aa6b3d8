"""Which components of a gradient change their sign from one update to the next, by how frequent a feature is.

Flanigan, Dyer and Carbonell 2013, section 5.2: without conditioning, the features with the largest components
oscillate between updates while the rest keep their direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.features.table import FeatureTable
from dragoman.types import Float64Array

__all__ = ["SignFlips", "sign_flips"]

_BANDS = (2, 8, 30)
"""The greatest number of lists of every band but the last."""
_N_LARGEST = (100, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlips:
    """A group of features with a component in both gradients that is not 0."""

    group: str
    """`1-2`, `3-8`, …, `31+`: the number of lists with the feature, mean of both gradients; `largest 100`: components
    of the earlier gradient by absolute value; `all`."""
    n_features: int
    n_flipped: int
    """Features whose components have opposite signs."""
    cosine: float
    """Of the angle between the two gradients within the group; -1 if the later one undoes the earlier one."""

    @property
    def share(self) -> float:
        """The share of features that flipped; 0 of an empty group."""
        return self.n_flipped / max(1, self.n_features)


def sign_flips(
    before: FeatureTable,
    after: FeatureTable,
    column: str,
    *,
    frequency: str = "n_lists",
    bands: Sequence[int] = _BANDS,
) -> tuple[SignFlips, ...]:
    """Compare a column of two tables, group by group.

    `frequency` is the column that assigns features to bands; `bands` are the upper limits of all but the last one.
    """
    features, left, right = before.features.merge(after.features)
    components = np.zeros((2, len(features)))
    n_lists = np.zeros(len(features))
    for place, (table, rows) in enumerate(((before, left), (after, right))):
        components[place, rows] = table.columns[column]
        n_lists[rows] += table.columns[frequency]
    both = (components != 0).all(axis=0)
    first, second = components[:, both]
    groups = _groups(np.abs(first), n_lists[both] / 2, bands)
    return tuple(_compare(group, first[chosen], second[chosen]) for group, chosen in groups)


def _groups(sizes: Float64Array, n_lists: Float64Array, bands: Sequence[int]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """The features of every group, by place."""
    for low, high in zip((0, *bands), (*bands, math.inf), strict=True):
        name = f"{low + 1}+" if high == math.inf else f"{low + 1}-{high}"
        yield name, np.flatnonzero((n_lists > low) & (n_lists <= high))
    order = np.argsort(-sizes, kind="stable")
    for n in _N_LARGEST:
        yield f"largest {n}", order[:n]
    yield "all", np.arange(len(sizes))


def _compare(group: str, first: Float64Array, second: Float64Array) -> SignFlips:
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return SignFlips(
        group=group,
        n_features=len(first),
        n_flipped=int(np.count_nonzero(np.sign(first) != np.sign(second))),
        cosine=float(first @ second) / length if length else 0.0,
    )
