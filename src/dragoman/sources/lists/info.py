"""What lists hold: features by template, and how good their first and best candidates are, fold by fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dragoman._core import oracle_candidates
from dragoman.candidates import Pool
from dragoman.metric import Metric
from dragoman.sources.lists.shard import ALL_DATA, ListShard
from dragoman.types import Float64Array, Int64Array, Progress

__all__ = ["FoldScores", "TemplateCount", "count_features", "list_scores"]

_TOGETHER = 8192
"""Lists whose oracle is found together: statistics of so many are in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldScores:
    """Lists of one fold, decoded without it; `fold` is None for all lists together."""

    fold: int | None
    n_lists: int
    n_candidates: int
    score: float
    """Of the first candidates, the metric's score in its own direction."""
    oracle: float
    """Of the best choice that hill climbing finds: a bound from below of what a choice can reach."""
    length_ratio: float | None
    """Of the first candidates to the references, where the metric knows it."""


def list_scores(shards: Iterable[ListShard], metric: Metric) -> list[FoldScores]:
    """The scores of all lists together and, where they were made without folds, of each. Shards are streamed."""
    sums: dict[int, _Sums] = {}
    for batch in _batches(shards):
        best = oracle_candidates(
            [(shard.sentences, shard.stats, metric.segment_gains(shard.stats)) for shard in batch], metric.scorer()
        )
        for shard, chosen in zip(batch, best, strict=True):
            filled = np.diff(shard.sentences) > 0
            for fold in np.unique(shard.folds[filled]).tolist():
                at = np.flatnonzero(filled & (shard.folds == fold))
                sums.setdefault(fold, _Sums(metric)).add(shard, at, chosen)
    rows = [sums[fold].row(None if fold == ALL_DATA else fold) for fold in sorted(sums)]
    if len(rows) == 1 and ALL_DATA in sums:
        return rows
    total = _Sums(metric)
    for part in sums.values():
        total.join(part)
    return [total.row(None), *rows]


@dataclass(frozen=True, slots=True)
class TemplateCount:
    """How many different features of a template occur, and how many of them a candidate has on average."""

    n_features: int
    per_candidate: float


def count_features(pool: Pool, progress: Progress | None = None) -> dict[str, TemplateCount]:
    """The features of candidates: dense ones together, sparse ones by template. Shards are streamed."""
    counts = np.zeros(len(pool.index), np.int64)
    for number, shard in enumerate(pool.shards, start=1):
        counts += np.bincount(shard.feature_ids, minlength=len(counts))
        if progress is not None:
            progress(number)
    used = np.flatnonzero(counts)
    groups: dict[str, list[int]] = {}
    for id_, name in zip(used.tolist(), pool.index.names(used.astype(np.int32)), strict=True):
        groups.setdefault("dense" if id_ in pool.dense else name.partition(":")[0], []).append(id_)
    n_candidates = max(1, pool.n_candidates)
    return {name: TemplateCount(len(ids), float(counts[ids].sum() / n_candidates)) for name, ids in groups.items()}


class _Sums:
    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.n_lists = self.n_candidates = 0
        self.first = np.zeros(metric.n_stats)
        self.best = np.zeros(metric.n_stats)

    def add(self, shard: ListShard, at: Int64Array, chosen: Int64Array) -> None:
        """The lists at some places; `chosen` is the oracle's candidate of every list."""
        self.n_lists += len(at)
        self.n_candidates += int(np.diff(shard.sentences)[at].sum())
        self.first += shard.stats[shard.sentences[:-1][at]].sum(axis=0)
        self.best += shard.stats[chosen[at]].sum(axis=0)

    def join(self, other: _Sums) -> None:
        self.n_lists += other.n_lists
        self.n_candidates += other.n_candidates
        self.first += other.first
        self.best += other.best

    def row(self, fold: int | None) -> FoldScores:
        return FoldScores(
            fold=fold,
            n_lists=self.n_lists,
            n_candidates=self.n_candidates,
            score=self._score(self.first),
            oracle=self._score(self.best),
            length_ratio=self._metric.length_ratio(self.first),
        )

    def _score(self, total: Float64Array) -> float:
        return float(self._metric.score_of(total)) if self.n_lists else 0.0


def _batches(shards: Iterable[ListShard]) -> Iterator[list[ListShard]]:
    batch: list[ListShard] = []
    n_lists = 0
    for shard in shards:
        batch.append(shard)
        n_lists += shard.n_lines
        if n_lists >= _TOGETHER:
            yield batch
            batch, n_lists = [], 0
    if batch:
        yield batch
