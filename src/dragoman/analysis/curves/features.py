"""Which weights are worth a curve, and over which range: by what features do in candidate lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.analysis.curves.exact import differing, feature_column
from dragoman.candidates import Pool, Shard
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.types import Float64Array, Int64Array

__all__ = ["frequent_and_rare", "list_counts", "reaches_of"]

_REACH = 2.0
"""A range goes as far as it takes to change model scores so many times as much as the strongest dense feature does."""
_INDICATOR = 0.5
"""The deviation of a feature that half of the candidates have: all sparse features have the same range."""


def list_counts(pool: Pool) -> Int64Array:
    """For each feature of the index, the number of lists whose candidates differ in it."""
    counts = np.zeros(len(pool.index), dtype=np.int64)
    for shard in pool.shards:
        for begin, end in zip(shard.sentences[:-1].tolist(), shard.sentences[1:].tolist(), strict=True):
            rows = slice(int(shard.feature_rows[begin]), int(shard.feature_rows[end]))
            order = np.argsort(shard.feature_ids[rows], kind="stable")
            ids, first, n_candidates = np.unique(shard.feature_ids[rows][order], return_index=True, return_counts=True)
            if len(ids):
                values = shard.feature_values[rows][order]
                several = np.maximum.reduceat(values, first) > np.minimum.reduceat(values, first)
                counts[ids[several | (n_candidates < end - begin)]] += 1
    return counts


def frequent_and_rare(
    pool: Pool, n_frequent: int, n_rare: int, *, besides: set[str] | None = None
) -> tuple[list[str], list[str]]:
    """Sparse features in which most lists differ, and some in which fewest do; ties are broken by the features' keys.

    Keys are hashes of names: of the many features of a single list they draw some, the same in every process. Raises
    InputError where the lists have too few.
    """
    counts = list_counts(pool)
    counts[sorted(pool.dense)] = 0
    for name in besides or ():
        if (id_ := pool.index.find(name)) >= 0:
            counts[id_] = 0
    ids = np.flatnonzero(counts).astype(np.int32)
    if len(ids) < n_frequent + n_rare:
        raise InputError(
            f"{n_frequent + n_rare} sparse features are asked for, but candidates differ in {len(ids)}; "
            + ("ask for fewer" if len(ids) else "the system has none: name templates with `features`, such as rule_id")
        )
    order = np.lexsort((pool.index.keys()[ids], counts[ids]))
    rare = order[:n_rare]
    rest = order[n_rare:]
    frequent = rest[np.lexsort((pool.index.keys()[ids[rest]], -counts[ids[rest]]))][:n_frequent]
    return pool.index.names(ids[frequent]), pool.index.names(ids[rare])


def reaches_of(pool: Pool, weights: Weights, features: Sequence[str]) -> list[float]:
    """How far from its present value each weight is worth a look, rounded to two digits."""
    spreads = {id_: _spread(pool, id_) for id_ in sorted(pool.dense)}
    values = weights.values_on(pool.index)
    strongest = max((abs(float(values[id_])) * spread for id_, spread in spreads.items()), default=0.0) or 1.0
    own = [spreads.get(pool.index.find(name), 0.0) or _INDICATOR for name in features]
    return [float(f"{_REACH * strongest / spread:.1e}") for spread in own]


def _spread(pool: Pool, feature: int) -> float:
    """The standard deviation of a feature in a list, mean over the lists that differ in it; 0 if none does."""
    parts = [_deviations(shard, feature_column(shard, feature)) for shard in pool.shards]
    deviations = np.concatenate([np.zeros(0), *parts])
    return float(deviations.mean()) if len(deviations) else 0.0


def _deviations(shard: Shard, column: Float64Array) -> Float64Array:
    found = [
        column[int(shard.sentences[s]) : int(shard.sentences[s + 1])].std() for s in differing(shard, column).tolist()
    ]
    return np.array(found, dtype=np.float64)
