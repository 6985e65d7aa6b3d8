"""Lists of several systems in one pool, whose scores the candidates of the others lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dragoman.candidates.filter import with_origin
from dragoman.candidates.merge import merge_pools
from dragoman.candidates.pool import Pool
from dragoman.candidates.shard import Shard

__all__ = ["unite_pools"]


def unite_pools(pools: Mapping[str, Pool], *, distinct: bool = True, n_threads: int = 1) -> Pool:
    """One pool with a feature `from_NAME` for each of several; a dense feature that no candidate of a list's system has
    is, for them, the mean of the sentence's other candidates.

    So a score that says nothing of a candidate favours it nowhere, and the origins' weights say what it is worth: 0
    would be the best log probability. A sentence that has candidates of one system alone keeps its features. Duplicates
    are left out unless not `distinct`.
    """
    if len(pools) == 1:
        return next(iter(pools.values()))
    origins = [f"from_{name}" for name in pools]
    own = [frozenset(pool.dense_names()) for pool in pools.values()]
    united = merge_pools(with_origin(list(pools.values()), list(pools)), distinct=distinct, n_threads=n_threads)
    marks = [united.index.find(name) for name in origins]
    shards = list(united.shards)
    for name in sorted(frozenset.union(*own)):
        has = [mark for mark, names in zip(marks, own, strict=True) if name in names]
        if len(has) < len(marks):
            shards = [_with_means(shard, united.index.find(name), has) for shard in shards]
    ids = [united.index.find(name) for name in (*sorted(frozenset.union(*own)), *origins)]
    return replace(united, shards=tuple(shards), dense=united.dense | frozenset(ids))


def _with_means(shard: Shard, feature: int, has: list[int]) -> Shard:
    """The shard where candidates without a mark have the mean of a feature over the others of the sentence."""
    of_each = shard.sentence_of_each()
    rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
    values = np.zeros(shard.n_candidates)
    at = shard.feature_ids == feature
    values[rows[at]] = shard.feature_values[at]
    known = np.zeros(shard.n_candidates, dtype=bool)
    known[rows[np.isin(shard.feature_ids, has)]] = True
    counts = np.bincount(of_each[known], minlength=shard.n_sentences)
    sums = np.bincount(of_each[known], values[known], minlength=shard.n_sentences)
    means = sums / np.maximum(counts, 1)
    values = np.where(known, values, means[of_each])
    others = ~at
    filled = np.flatnonzero(values)
    all_rows = np.concatenate([rows[others], filled])
    ids = np.concatenate([shard.feature_ids[others], np.full(len(filled), feature, dtype=np.int32)])
    all_values = np.concatenate([shard.feature_values[others], values[filled].astype(np.float32)])
    order = np.lexsort((ids, all_rows))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(all_rows, minlength=shard.n_candidates))]).astype(np.int64)
    return shard.with_features(offsets, ids[order], all_values[order])
