"""What a pool holds: sizes, and per feature how many candidates have it, its range, and how it goes with the metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.candidates.pool import Pool, metric_of
from dragoman.types import Float64Array

__all__ = ["FeatureSummary", "PoolSummary", "describe_pool", "gain_correlation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSummary:
    """A feature over all candidates; `coverage` is the share that has it, not 0.

    `correlation` is Pearson's with the sentence-level gain, both relative to the mean of their list: what the feature
    can tell among candidates of one sentence. None without a metric or where nothing varies.
    """

    name: str
    coverage: float
    low: float
    mean: float
    high: float
    correlation: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSummary:
    """Sizes of a pool, and its features by name."""

    n_sentences: int
    n_candidates: int
    n_features: int
    shortest_list: int
    longest_list: int
    n_distinct_texts: int
    mean_words: float
    score_names: tuple[str, ...]
    scores: tuple[FeatureSummary, ...]
    """Of the candidates that have them: `coverage` is their share."""
    features: tuple[FeatureSummary, ...]


def describe_pool(pool: Pool, *, max_features: int = 100) -> PoolSummary:
    """Look at every candidate once per shard. Features beyond `max_features` (dense ones first) are only counted."""
    sizes = np.concatenate([np.diff(shard.sentences) for shard in pool.shards])
    shown = [*sorted(pool.dense), *(id_ for id_ in range(len(pool.index)) if id_ not in pool.dense)][:max_features]
    columns: dict[int, list[Float64Array]] = {id_: [] for id_ in shown}
    gains, lists = [], []
    n_texts = n_words = n_lists = 0
    for shard in pool.shards:
        rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
        for id_ in shown:
            at = np.flatnonzero(shard.feature_ids == id_)
            values = np.zeros(shard.n_candidates)
            values[rows[at]] = shard.feature_values[at]
            columns[id_].append(values)
        of_each = shard.sentence_of_each()
        texts = zip(of_each.tolist(), np.split(shard.tokens, shard.token_rows[1:-1]), strict=False)
        n_texts += len({(sentence, row.tobytes()) for sentence, row in texts})
        n_words += len(shard.tokens)
        lists.append(of_each + n_lists)
        n_lists += shard.n_sentences
        if pool.metric is not None:
            gains.append(pool.metric.segment_gains(shard.stats))
    within = _Within(np.concatenate(lists), n_lists)
    gain = within.centred(np.concatenate(gains)) if gains else None
    names = pool.index.names(np.array(shown, dtype=np.int32))
    return PoolSummary(
        n_sentences=pool.n_sentences,
        n_candidates=pool.n_candidates,
        n_features=pool.n_features,
        shortest_list=int(sizes.min(initial=int(sizes.max(initial=0)))),
        longest_list=int(sizes.max(initial=0)),
        n_distinct_texts=n_texts,
        mean_words=n_words / max(1, pool.n_candidates),
        score_names=pool.score_names,
        scores=tuple(_score_summary(pool, name, within, gain) for name in pool.score_names),
        features=tuple(
            _summary(name, np.concatenate(columns[id_]), within, gain) for name, id_ in zip(names, shown, strict=True)
        ),
    )


def gain_correlation(pool: Pool, values: Sequence[Float64Array]) -> float | None:
    """The correlation of a value per candidate, one array per shard, with the sentence-level gain within lists.

    As `FeatureSummary.correlation`.
    """
    metric = metric_of(pool)
    lists, n_lists = [], 0
    for shard in pool.shards:
        lists.append(shard.sentence_of_each() + n_lists)
        n_lists += shard.n_sentences
    within = _Within(np.concatenate(lists), n_lists)
    gain = np.concatenate([metric.segment_gains(shard.stats) for shard in pool.shards])
    return within.correlation(np.concatenate(values), within.centred(gain))


@dataclass(frozen=True, slots=True)
class _Within:
    list_of: np.ndarray
    n_lists: int

    def centred(self, values: Float64Array) -> Float64Array:
        """The values relative to the mean of their list."""
        counts = np.maximum(np.bincount(self.list_of, minlength=self.n_lists), 1)
        centred: Float64Array = values - (np.bincount(self.list_of, values, self.n_lists) / counts)[self.list_of]
        return centred

    def part(self, kept: NDArray[np.bool_]) -> _Within:
        """Some of the candidates."""
        return _Within(self.list_of[kept], self.n_lists)

    def correlation(self, values: Float64Array, gain: Float64Array) -> float | None:
        """Pearson's, of values with centred gains; None where nothing varies."""
        centred = self.centred(values)
        size = float(np.sqrt((centred @ centred) * (gain @ gain)))
        return float(centred @ gain) / size if size > 1e-12 else None


def _summary(name: str, values: Float64Array, within: _Within, gain: Float64Array | None) -> FeatureSummary:
    correlation = None if gain is None else within.correlation(values, gain)
    return FeatureSummary(
        name=name,
        coverage=np.count_nonzero(values) / max(1, len(values)),
        low=float(values.min()) if len(values) else 0.0,
        mean=float(values.mean()) if len(values) else 0.0,
        high=float(values.max()) if len(values) else 0.0,
        correlation=correlation,
    )


def _score_summary(pool: Pool, name: str, within: _Within, gain: Float64Array | None) -> FeatureSummary:
    column = pool.score_names.index(name)
    values = np.concatenate([shard.scores[:, column] for shard in pool.shards])
    known = ~np.isnan(values)
    those = values[known]
    correlation = None
    if gain is not None and len(those):
        correlation = within.part(known).correlation(those, within.part(known).centred(gain[known]))
    return FeatureSummary(
        name=name,
        coverage=len(those) / max(1, len(values)),
        low=float(those.min()) if len(those) else 0.0,
        mean=float(those.mean()) if len(those) else 0.0,
        high=float(those.max()) if len(those) else 0.0,
        correlation=correlation,
    )
