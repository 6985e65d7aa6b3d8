"""Weights: one float64 for each feature of an index."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from dragoman.features.index import FeatureIndex
from dragoman.types import Float64Array, Int32Array

__all__ = ["Weights", "live_values"]


class Weights:
    """A float64 for every feature of an index, 0 by default, or a weight for each name: `Weights({"lm": 1.0})`.

    The index may grow afterwards; `values` always has one element for each of its features.
    """

    def __init__(self, index: FeatureIndex | Mapping[str, float], values: Float64Array | None = None) -> None:
        if isinstance(index, Mapping):
            named = Weights.from_dict(index)
            index, values = named.index, named.values
        self.index: FeatureIndex = index
        self._values = np.zeros(len(index)) if values is None else np.array(values, dtype=np.float64)
        if self._values.ndim != 1 or len(self._values) > len(index):
            raise ValueError(f"{self._values.shape} weights for {len(index)} features")

    @classmethod
    def from_dict(cls, values: Mapping[str, float], index: FeatureIndex | None = None) -> Weights:
        """Weights by name over an index, to which the names that it lacks are added."""
        index = FeatureIndex() if index is None else index
        ids = _intern(index, values)
        weights = cls(index)
        weights.values[ids] = list(values.values())
        return weights

    @property
    def values(self) -> Float64Array:
        """One number for each feature of the index. What is written into it is a weight from then on.

        A feature that the index learns later has no element here: ask again after the index has grown.
        """
        if missing := len(self.index) - len(self._values):
            self._values = np.concatenate([self._values, np.zeros(missing)])
        return self._values

    def __getitem__(self, name: str) -> float:
        id_ = self.index.find(name)
        return float(self.values[id_]) if id_ >= 0 else 0.0

    def __setitem__(self, name: str, value: float) -> None:
        id_ = self.index.intern(name)
        self.values[id_] = value

    def ids(self) -> Int32Array:
        """The ids of the nonzero weights."""
        return np.flatnonzero(self.values).astype(np.int32)

    def items(self) -> Iterator[tuple[str, float]]:
        """Names and values of the nonzero weights, in id order."""
        ids = self.ids()
        return zip(self.index.names(ids), self._values[ids].tolist(), strict=True)

    def digest(self) -> str:
        """Names the nonzero weights, whatever their ids."""
        ids = self.ids()
        keys = self.index.keys()[ids]
        order = np.argsort(keys)
        arrays = keys[order].astype("<u8"), self._values[ids[order]].astype("<f8")
        return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).hexdigest()

    def copy(self) -> Weights:
        return Weights(self.index, self.values)

    def values_on(self, index: FeatureIndex) -> Float64Array:
        """One weight for each feature of another index; features missing from it are dropped."""
        if index is self.index:
            return self.values.copy()
        values = np.zeros(len(index))
        ids = self.ids()
        found = index.find_all(self.index, ids)
        values[found[found >= 0]] = self._values[ids[found >= 0]]
        return values

    def on(self, index: FeatureIndex) -> Weights:
        """The same weights over another index, to which missing names are added."""
        if index is self.index:
            return self.copy()
        ids = self.ids()
        there = index.extend(self.index, ids)
        weights = Weights(index)
        weights.values[there] = self._values[ids]
        return weights

    def is_usable(self) -> bool:
        """Whether a decoder can use them: all finite, and not all zero or vanishingly small."""
        values = self.values
        return bool(np.isfinite(values).all() and np.abs(values).max(initial=0.0) > 1e-30)

    def __repr__(self) -> str:
        n_nonzero = int(np.count_nonzero(self.values))
        return f"Weights({n_nonzero} of {len(self.index)} features)"


def _intern(index: FeatureIndex, names: Collection[str]) -> Int32Array:
    lines = "\n".join(names).encode("utf-8", "surrogatepass") + b"\n"
    if lines.count(b"\n") == len(names):
        return index.intern_lines(lines)
    return np.array([index.intern(name) for name in names], dtype=np.int32)  # none, or one that is refused


def live_values(weights: Weights | Float64Array, index: FeatureIndex) -> Float64Array:
    """The weights as one number for each feature of the index; a caller's own buffer is used as it is.

    A buffer may be shorter than the index: features met later weigh 0. Weights of features that the index lacks are
    left out.
    """
    if not isinstance(weights, np.ndarray):
        return weights.values if weights.index is index else weights.values_on(index)
    missing = len(index) - len(weights)
    return np.concatenate([weights, np.zeros(missing)]) if missing > 0 else weights
