"""Features that some candidates lack: an indicator, and the mean of the others in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dragoman.candidates.pool import Pool
from dragoman.candidates.shard import Shard
from dragoman.features import FeatureIndex
from dragoman.types import Float32Array, Float64Array, Int32Array

__all__ = ["MISSING", "Means", "fill_missing", "has_missing", "missing_means", "with_list_means", "with_means"]

MISSING = ":missing"
"""Ends the name of the indicator of a feature that was null in JSON Lines."""

Means = Mapping[int, tuple[int, float]]
"""By the indicator the feature and its mean."""


def fill_missing(pool: Pool) -> Pool:
    """The pool with the mean of all candidates that have a feature where its indicator says that it is missing.

    A weight of 0 for the indicator then means that nothing is known, and not that the score is the best possible.
    """
    means = missing_means(pool.index, pool.shards)
    return replace(pool, shards=tuple(with_means(shard, means) for shard in pool.shards)) if means else pool


def missing_means(index: FeatureIndex, shards: Iterable[Shard]) -> Means:
    """Of each feature that has an indicator its mean over the candidates that have it; the same for any cut in shards.

    A sentence may be in several shards.
    """
    names = index.names(np.arange(len(index), dtype=np.int32))
    pairs = {index.find(name): index.find(name.removesuffix(MISSING)) for name in names if name.endswith(MISSING)}
    pairs = {indicator: feature for indicator, feature in pairs.items() if feature >= 0}
    sums = dict.fromkeys(pairs, Fraction(0))
    counts = dict.fromkeys(pairs, 0)
    for shard in shards if pairs else ():
        for indicator, feature in pairs.items():
            total, n = _known(shard, indicator, feature)
            sums[indicator] += total
            counts[indicator] += n
    return {
        indicator: (feature, float(sums[indicator] / counts[indicator]) if counts[indicator] else 0.0)
        for indicator, feature in pairs.items()
    }


def with_means(shard: Shard, means: Means) -> Shard:
    """The shard with these means where indicators say that features are missing."""
    for indicator, (feature, mean) in means.items():
        shard = _filled(shard, _with(shard, indicator), feature, mean)
    return shard


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


def _known(shard: Shard, indicator: int, feature: int) -> tuple[Fraction, int]:
    """The exact sum of a feature over the candidates that have it, and how many they are."""
    lacking = _with(shard, indicator)
    rows = np.repeat(np.arange(shard.n_candidates, dtype=np.int32), np.diff(shard.feature_rows))
    counts = (shard.feature_ids == feature) & ~np.isin(rows, lacking)
    return _exact_sum(shard.feature_values[counts]), shard.n_candidates - len(lacking)


def _exact_sum(values: Float32Array) -> Fraction:
    """By exponent: integers of 24 bits add up without rounding."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas.astype(np.float64), 24).astype(np.int64)
    found = Fraction(0)
    for exponent in np.unique(exponents).tolist():
        found += int(whole[exponents == exponent].sum()) * Fraction(2) ** (exponent - 24)
    return found


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
