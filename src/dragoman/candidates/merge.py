"""Merging of pools: tuning rounds, several systems, parts of a list larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from dragoman._core import WordTable
from dragoman.candidates.lazy import map_shards
from dragoman.candidates.pool import Pool
from dragoman.candidates.shard import Shard, concatenate
from dragoman.errors import MismatchError
from dragoman.features import FeatureIndex
from dragoman.types import Int32Array, offsets_of

__all__ = ["aligned", "compacted", "merge_pools", "merged_shards", "on_tables", "renumbered"]


def merge_pools(pools: Sequence[Pool], *, distinct: bool = True, n_threads: int = 1) -> Pool:
    """One in-memory pool with the candidates of all, without duplicates (the first is kept) unless not `distinct`.

    Features and words of the first pool keep their ids; those of the others are added. A feature is dense if it is
    dense in all pools whose candidates have it.
    """
    same = aligned(pools)
    shards = list(merged_shards(same, n_candidates=None, distinct=distinct, n_threads=n_threads))
    return replace(same[0], shards=tuple(shards))


def aligned(pools: Sequence[Pool]) -> list[Pool]:
    """The pools mapped to the first one's index and words, with the same named scores and dense features."""
    first = pools[0]
    names: list[str] = []
    for pool in pools:
        if pool.metric != first.metric:
            raise MismatchError("pools with statistics of different metrics cannot be merged")
        names.extend(name for name in pool.score_names if name not in names)
    result = [_with_scores(on_tables(pool, first.index, first.words), names) for pool in pools]
    dense = _dense(result)
    return [replace(pool, dense=dense, score_names=tuple(names)) for pool in result]


def _dense(pools: Sequence[Pool]) -> frozenset[int]:
    dense = frozenset.union(*(pool.dense for pool in pools))
    for pool in pools:
        if doubtful := dense - pool.dense:
            used = np.zeros(len(pool.index), dtype=bool)
            for shard in pool.shards:
                used[shard.feature_ids] = True
            dense -= {id_ for id_ in doubtful if used[id_]}
    return dense


def merged_shards(
    pools: Sequence[Pool], *, n_candidates: int | None, distinct: bool = True, n_threads: int = 1
) -> Iterator[Shard]:
    """The shards of the merged pool, each of at most about `n_candidates`, with only one in memory at a time.

    The pools must be aligned.
    """
    counts: dict[int, int] = {}
    for pool in pools:
        for shard in pool.shards:
            for id_, count in zip(shard.sentence_ids.tolist(), np.diff(shard.sentences).tolist(), strict=True):
                counts[id_] = counts.get(id_, 0) + count
    ids = sorted(counts)
    begin = size = 0
    for end, id_ in enumerate(ids):
        if end > begin and n_candidates is not None and size + counts[id_] > n_candidates:
            yield _merged(pools, ids[begin], ids[end - 1], distinct, n_threads)
            begin, size = end, 0
        size += counts[id_]
    if begin < len(ids):
        yield _merged(pools, ids[begin], ids[-1], distinct, n_threads)


def _merged(pools: Sequence[Pool], first: int, last: int, distinct: bool, n_threads: int) -> Shard:
    parts = []
    for pool in pools:
        for shard in pool.shards:
            begin, end = np.searchsorted(shard.sentence_ids, (first, last + 1)).tolist()
            if begin < end:
                parts.append(shard.part(begin, end))
    together = concatenate(parts)
    return together.distinct(n_threads=n_threads) if distinct else together


def on_tables(pool: Pool, index: FeatureIndex, words: WordTable) -> Pool:
    """The pool with ids of other tables, to which missing features and words are added in the pool's order."""
    if pool.index is not index:
        to = index.extend(pool.index)
        pool = replace(
            pool,
            index=index,
            shards=map_shards(lambda shard: renumbered(shard, to), pool.shards),
            dense=frozenset(int(to[id_]) for id_ in pool.dense),
        )
    if pool.words is not words:
        table = np.array([words.intern(pool.words.word(i)) for i in range(len(pool.words))], dtype=np.int32)
        pool = replace(
            pool,
            words=words,
            shards=map_shards(lambda shard: replace(shard, tokens=table[shard.tokens]), pool.shards),
        )
    return pool


def compacted(pool: Pool, also: Int32Array | None = None) -> Pool:
    """The pool over an index of its own, in the same order: dense features, those of its candidates, and `also`."""
    used = np.zeros(len(pool.index), dtype=bool)
    used[[] if also is None else also] = True
    used[sorted(pool.dense)] = True
    for shard in pool.shards:
        used[shard.feature_ids] = True
    ids = np.flatnonzero(used).astype(np.int32)
    to = np.zeros(len(used), np.int32)
    index = FeatureIndex()
    to[ids] = index.extend(pool.index, ids)
    return replace(
        pool,
        index=index,
        shards=map_shards(lambda shard: renumbered(shard, to), pool.shards),
        dense=frozenset(int(to[id_]) for id_ in pool.dense),
    )


def renumbered(shard: Shard, to: np.ndarray) -> Shard:
    """The shard with feature `to[i]` in the place of feature i."""
    ids = to[shard.feature_ids]
    rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
    order = np.lexsort((ids, rows))
    return shard.with_features(offsets_of(np.diff(shard.feature_rows)), ids[order], shard.feature_values[order])


def _with_scores(pool: Pool, names: Sequence[str]) -> Pool:
    if tuple(names) == pool.score_names:
        return pool
    shards = []
    for shard in pool.shards:
        scores = np.full((shard.n_candidates, len(names)), np.nan)
        # A part of a list may have been read before the list's first candidate with some score.
        for column, name in enumerate(pool.score_names[: shard.scores.shape[1]]):
            scores[:, names.index(name)] = shard.scores[:, column]
        shards.append(replace(shard, scores=scores))
    return replace(pool, shards=tuple(shards))
