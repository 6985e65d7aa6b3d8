"""A pool as a matrix, for learners of others such as scikit-learn's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.candidates.pool import Pool
from dragoman.errors import InputError
from dragoman.types import Float64Array, Int32Array

__all__ = ["CandidateMatrix", "candidate_matrix"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CandidateMatrix:
    """A row for each candidate of a pool, in its order."""

    names: tuple[str, ...]
    values: Float64Array  # [n_candidates, len(names)]
    groups: Int32Array  # [n_candidates]: the sentence id
    gains: Float64Array | None  # [n_candidates]: sentence-level gain, higher is better; None without a metric
    sizes: tuple[int, ...]
    """Candidates of each shard."""

    def of_shards(self, predicted: Float64Array) -> list[Float64Array]:
        """A number for each candidate as `best_by` and `ranked` take them: one array for each shard."""
        if np.shape(predicted) != (sum(self.sizes),):
            raise InputError(f"expected one number for each of {sum(self.sizes)} candidates")
        return np.split(np.asarray(predicted, dtype=np.float64), np.cumsum(self.sizes)[:-1])


def candidate_matrix(pool: Pool, names: Sequence[str] | None = None) -> CandidateMatrix:
    """Features, sentences and gains of all candidates; the dense features unless `names` are given.

    Raises InputError for a feature that the pool does not have.
    """
    names = pool.dense_names() if names is None else names
    ids = [pool.index.find(name) for name in names]
    if absent := [name for name, id_ in zip(names, ids, strict=True) if id_ < 0]:
        raise InputError(f"no candidate has a feature '{absent[0]}'")
    column = np.full(len(pool.index), -1, dtype=np.int64)
    column[ids] = np.arange(len(ids))
    parts, groups, gains = [], [], []
    for shard in pool.shards:
        values = np.zeros((shard.n_candidates, len(ids)))
        at = column[shard.feature_ids]
        rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
        values[rows[at >= 0], at[at >= 0]] = shard.feature_values[at >= 0]
        parts.append(values)
        groups.append(shard.sentence_ids[shard.sentence_of_each()])
        if pool.metric is not None:
            gains.append(pool.metric.segment_gains(shard.stats))
    return CandidateMatrix(
        names=tuple(names),
        values=np.concatenate(parts) if parts else np.zeros((0, len(ids))),
        groups=np.concatenate(groups) if groups else np.zeros(0, np.int32),
        gains=np.concatenate(gains) if gains else None,
        sizes=tuple(len(part) for part in parts),
    )
