"""Sparse features that candidates of a shard get."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import numpy as np

from dragoman.candidates import Shard
from dragoman.errors import InputError
from dragoman.features import FeatureIndex
from dragoman.types import offsets_of

__all__ = ["SparseRows"]


class SparseRows:
    """Features by candidate; names become ids of an index at once."""

    def __init__(self, index: FeatureIndex) -> None:
        self._index = index
        self._ids: dict[str, int] = {}
        self._rows, self._features, self._values = array("q"), array("i"), array("f")

    def __bool__(self) -> bool:
        return len(self._rows) > 0

    def add(self, candidate: int, features: Mapping[str, float]) -> None:
        """The features of a candidate that are not 0."""
        for name, value in features.items():
            id_ = self._ids.get(name)
            if id_ is None:
                id_ = self._ids[name] = self._index.intern(name)
            if value:
                self._rows.append(candidate)
                self._features.append(id_)
                self._values.append(value)

    def added_to(self, shard: Shard) -> Shard:
        """The shard with these features beside its own. Raises InputError for one that a candidate has already."""
        if not self:
            return shard
        own = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
        rows = np.concatenate([own, np.frombuffer(self._rows, dtype=np.int64)])
        ids = np.concatenate([shard.feature_ids, np.frombuffer(self._features, dtype=np.int32)])
        values = np.concatenate([shard.feature_values, np.frombuffer(self._values, dtype=np.float32)])
        order = np.lexsort((ids, rows))
        rows, ids, values = rows[order], ids[order], values[order]
        twice = np.flatnonzero((rows[1:] == rows[:-1]) & (ids[1:] == ids[:-1]))
        if len(twice):
            (name,) = self._index.names(ids[twice[:1]])
            raise InputError(f"the candidates already have a feature '{name}'")
        counts = np.bincount(rows, minlength=shard.n_candidates).astype(np.int64)
        return shard.with_features(offsets_of(counts), ids, values)
