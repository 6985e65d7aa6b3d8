"""Blocks: named dense features, each the dot product of a fixed sparse vector with the features it covers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman._core import FeatureNames
from dragoman.features.table import FeatureTable
from dragoman.features.templates import known_templates
from dragoman.features.weights import Weights
from dragoman.types import Float64Array, Int64Array

__all__ = [
    "HOLS_BEFORE",
    "HOLS_STEP",
    "ORIENTATIONS",
    "REORDERING",
    "Block",
    "blocks_by_orientation",
    "blocks_by_template",
    "class_sizes",
    "places_by_template",
]

HOLS_BEFORE, HOLS_STEP = "hols_before", "hols_step"
"""Blocks of held-out line search: f_1, and f_2 or the beginning of its parts' names."""
ORIENTATIONS = ("m", "s", "l", "r", "g")
"""First arguments of features of reordering: monotone, swap, discontinuous to the left and right, monotone global."""
REORDERING = "reorder_"
"""How the names of their templates begin."""
_CLASSES = re.compile(r"c([1-9]\d*)")
"""The argument before a word's class: how many classes there are."""


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
    return _blocks(table, column, places_by_template(table), prefix)


def places_by_template(table: FeatureTable) -> dict[str, Int64Array]:
    """The places of features by their template, without those that have none."""
    return _by_text(table, *_templates(table))


def class_sizes(table: FeatureTable, places: Mapping[str, Int64Array]) -> dict[str, set[int]]:
    """The numbers of word classes that features at places look at, by template: {50} for `reorder_gap:r,c50,17`.

    Templates without a setting `classes` and those without such features are left out.
    """
    kinds = known_templates()
    offsets, blob = table.features.offsets, table.features.blob
    commas = np.flatnonzero(blob == ord(","))
    found: dict[str, set[int]] = {}
    for name, own in places.items() if len(commas) else ():
        if name not in kinds or not any(setting.name == "classes" for setting in kinds[name].settings):
            continue
        last = np.searchsorted(commas, offsets[own + 1]) - 1
        begins, ends = commas[np.maximum(last - 1, 0)] + 1, commas[np.maximum(last, 0)]
        chosen = (begins > offsets[own]) & (ends > begins)  # the name has two commas
        chosen[chosen] = blob[begins[chosen]] == ord("c")
        texts = _by_text(table, own[chosen], begins[chosen], ends[chosen])
        if sizes := {int(match[1]) for text in texts if (match := _CLASSES.fullmatch(text))}:
            found[name] = sizes
    return found


def blocks_by_orientation(table: FeatureTable, column: str, *, prefix: str) -> list[Block]:
    """Features of `reorder_…` templates split by their orientation (`<prefix>m`), others by template, as above."""
    places, begins, ends = _templates(table)
    offsets, blob = table.features.offsets, table.features.blob
    of_reordering = _begin_with(blob, begins, ends, REORDERING.encode())
    firsts = ends[of_reordering] + 1
    commas = np.append(np.flatnonzero(blob == ord(",")), len(blob))
    stops = np.minimum(commas[np.searchsorted(commas, firsts)], offsets[places[of_reordering] + 1])
    known = np.array([ord(orientation) for orientation in ORIENTATIONS], np.uint8)
    oriented = stops - firsts == 1
    oriented[oriented] = np.isin(blob[firsts[oriented]], known)
    chosen = np.flatnonzero(of_reordering)[oriented]
    begins, ends = begins.copy(), ends.copy()
    begins[chosen], ends[chosen] = firsts[oriented], stops[oriented]
    return _blocks(table, column, _by_text(table, places, begins, ends), prefix)


def _templates(table: FeatureTable) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Places of the features that have a template, and where its name begins and ends in the text of all names."""
    offsets, blob = table.features.offsets, table.features.blob
    colons = np.append(np.flatnonzero(blob == ord(":")), len(blob))
    ends = colons[np.searchsorted(colons, offsets[:-1])]
    places = np.flatnonzero(ends < offsets[1:])
    return places, offsets[places], ends[places]


def _begin_with(blob: NDArray[np.uint8], begins: Int64Array, ends: Int64Array, text: bytes) -> NDArray[np.bool_]:
    """Which stretches begin with a text."""
    found: NDArray[np.bool_] = ends - begins >= len(text)
    for number, byte in enumerate(text):
        found[found] = blob[begins[found] + number] == byte
    return found


def _by_text(table: FeatureTable, places: Int64Array, begins: Int64Array, ends: Int64Array) -> dict[str, Int64Array]:
    """The places of features by a stretch of their names."""
    blob, lengths = table.features.blob, ends - begins
    found: dict[str, Int64Array] = {}
    for length in np.unique(lengths).tolist():
        ours = np.flatnonzero(lengths == length)
        if not length:
            found[""] = places[ours]
            continue
        letters = np.ascontiguousarray(blob[begins[ours][:, None] + np.arange(length)]).view(f"V{length}")[:, 0]
        names, which = np.unique(letters, return_inverse=True)
        for number, name in enumerate(names):
            found[name.tobytes().decode("utf-8")] = places[ours[which == number]]
    return found


def _blocks(table: FeatureTable, column: str, places: Mapping[str, Int64Array], prefix: str) -> list[Block]:
    return [Block(prefix + name, table.take(places[name]), column) for name in sorted(places)]
