"""Synthetic pools: the experiment of PRO, sections 3 and 4.2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dragoman.candidates.pool import Pool, new_words
from dragoman.candidates.shard import UNKNOWN_LENGTH, Shard
from dragoman.features import FeatureIndex, Weights
from dragoman.metric import External
from dragoman.types import Float32Array, Float64Array, Int32Array, Int64Array, offsets_of

__all__ = ["SyntheticPool", "cosine", "featured_shard", "synthetic_pool"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticPool:
    """A pool and the gold weights w* of its external scores."""

    pool: Pool
    gold: Weights


def synthetic_pool(
    dimension: int,
    *,
    seed: int,
    n_sentences: int = 500,
    n_candidates: int = 100,
    upper: float = 500.0,
    noise: float = 0.0,
) -> SyntheticPool:
    """Candidates with features uniform in [0, upper], scored by w*.x for w* uniform in [-1, 1].

    The gold score is the external metric to maximise. Gaussian noise with standard deviation `noise` is added to the
    features after scoring, so that no weights explain the scores exactly.
    """
    rng = np.random.default_rng([seed, dimension])
    gold = rng.uniform(-1.0, 1.0, dimension)
    n = n_sentences * n_candidates
    features = rng.uniform(0.0, upper, (n, dimension)).astype(np.float32)
    values = features.astype(np.float64) @ gold
    if noise:
        features += rng.normal(0.0, noise, (n, dimension)).astype(np.float32)
    index = FeatureIndex()
    names = [f"x{i}" for i in range(1, dimension + 1)]
    for name in names:
        index.intern(name)
    metric = External(label="gold")
    shard = featured_shard(
        counts=np.full(n_sentences, n_candidates),
        feature_rows=np.arange(0, n * dimension + 1, dimension, dtype=np.int64),
        feature_ids=np.tile(np.arange(dimension, dtype=np.int32), n),
        feature_values=features.ravel(),
        stats=metric.from_values(values),
    )
    pool = Pool(index=index, words=new_words(), shards=(shard,), dense=frozenset(range(dimension)), metric=metric)
    return SyntheticPool(pool=pool, gold=Weights(index, gold))


def cosine(a: Weights, b: Weights) -> float:
    """Cosine of the angle between two weight vectors over the same index."""
    x, y = a.values, b.values_on(a.index)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def featured_shard(
    *,
    counts: Int64Array,
    feature_rows: Int64Array,
    feature_ids: Int32Array,
    feature_values: Float32Array,
    stats: Float64Array,
    first_sentence: int = 0,
) -> Shard:
    """Lists of `counts` candidates each that have features and statistics, but no words."""
    n = len(feature_rows) - 1
    return Shard(
        sentence_ids=np.arange(first_sentence, first_sentence + len(counts), dtype=np.int32),
        sentences=offsets_of(counts),
        feature_rows=feature_rows,
        feature_ids=feature_ids,
        feature_values=feature_values,
        token_rows=np.zeros(n + 1, dtype=np.int64),
        tokens=np.zeros(0, dtype=np.int32),
        rounds=np.zeros(n, dtype=np.int32),
        source_lengths=np.full(len(counts), UNKNOWN_LENGTH, dtype=np.int32),
        totals=np.full(n, np.nan),
        scores=np.zeros((n, 0)),
        stats=stats,
    )
