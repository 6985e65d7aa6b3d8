"""Features that some candidates lack: an indicator, and the mean of the others in its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dragoman.features import FeatureIndex
from dragoman.pool.pool import Pool
from dragoman.pool.shard import Shard
from dragoman.types import Float64Array, Int32Array

__all__ = ["MISSING", "fill_missing", "has_missing", "with_list_means"]

MISSING = ":missing"
"""Ends the name of the indicator of a feature that was null in JSON Lines."""


def fill_missing(pool: Pool) -> Pool:
    """The pool with the mean of all candidates that have a feature where its indicator says that it is missing.

    A weight of 0 for the indicator then means that nothing is known, and not that the score is the best possible.
    """
    names = pool.index.names(np.arange(len(pool.index), dtype=np.int32))
    indicators = [name for name in names if name.endswith(MISSING)]
    pairs = {pool.index.find(name): pool.index.find(name.removesuffix(MISSING)) for name in indicators}
    pairs = {indicator: feature for indicator, feature in pairs.items() if feature >= 0}
    if not pairs:
        return pool
    means = {feature: _mean(pool, indicator, feature) for indicator, feature in pairs.items()}
    shards = list(pool.shards)
    for indicator, feature in pairs.items():
        shards = [_filled(shard, _with(shard, indicator), feature, means[feature]) for shard in shards]
    return replace(pool, shards=tuple(shards))


def has_missing(pool: Pool) -> bool:
    """Whether a candidate lacks a feature that was null in JSON Lines."""
    names = pool.index.names(np.arange(len(pool.index), dtype=np.int32))
    indicators = [pool.index.find(name) for name in names if name.endswith(MISSING)]
    return any(len(_with(shard, id_)) > 0 for shard in pool.shards for id_ in indicators)


def with_list_means(shard: Shard, index: FeatureIndex, name: str) -> Shard:
    """The shard with a feature's mean over the list's other candidates where it was null; 0 where all are."""
    indicator, feature = index.find(name + MISSING), index.find(name)
    lacking = _with(shard, indicator) if indicator >= 0 else np.zeros(0, np.int32)
    if not len(lacking):
        return shard
    of_each = shard.sentence_of_each()
    rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
    values = np.zeros(shard.n_candidates)
    values[rows[shard.feature_ids == feature]] = shard.feature_values[shard.feature_ids == feature]
    values[lacking] = 0
    counts = np.bincount(of_each, minlength=shard.n_sentences) - np.bincount(
        of_each[lacking], minlength=shard.n_sentences
    )
    means = np.bincount(of_each, values, minlength=shard.n_sentences) / np.maximum(counts, 1)
    return _filled(shard, lacking, feature, means[of_each[lacking]])


def _with(shard: Shard, feature: int) -> Int32Array:
    """Candidates that have the feature."""
    rows = np.repeat(np.arange(shard.n_candidates, dtype=np.int32), np.diff(shard.feature_rows))
    found: Int32Array = rows[shard.feature_ids == feature]
    return found


def _mean(pool: Pool, indicator: int, feature: int) -> float:
    total = n = 0.0
    for shard in pool.shards:
        lacking = _with(shard, indicator)
        rows = np.repeat(np.arange(shard.n_candidates, dtype=np.int32), np.diff(shard.feature_rows))
        counts = (shard.feature_ids == feature) & ~np.isin(rows, lacking)
        total += float(shard.feature_values[counts].sum(dtype=np.float64))
        n += shard.n_candidates - len(lacking)
    return total / n if n else 0.0


def _filled(shard: Shard, where: Int32Array, feature: int, filling: Float64Array | float) -> Shard:
    """The shard with values of a feature that the candidates `where` (ascending) lack, or have as 0."""
    given = np.broadcast_to(np.asarray(filling, dtype=np.float32), len(where))
    where, given = where[given != 0], given[given != 0]
    if not len(where):
        return shard
    rows = np.repeat(np.arange(shard.n_candidates, dtype=np.int32), np.diff(shard.feature_rows))
    stays = (shard.feature_ids != feature) | ~np.isin(rows, where)
    all_rows = np.concatenate([rows[stays], where])
    ids = np.concatenate([shard.feature_ids[stays], np.full(len(where), feature, dtype=np.int32)])
    values = np.concatenate([shard.feature_values[stays], given])
    order = np.lexsort((ids, all_rows))
    counts = np.bincount(all_rows, minlength=shard.n_candidates)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return shard.with_features(offsets, ids[order], values[order])
