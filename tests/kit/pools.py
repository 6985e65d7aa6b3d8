"""Small pools for tests, built by hand or at random."""

from __future__ import annotations

import numpy as np

from dragoman.candidates import Pool, Shard, new_words
from dragoman.features import FeatureIndex
from dragoman.metric import Bleu, External, Metric, Smoothing
from dragoman.types import offsets_of


def pool_of(sentences, *, metric: Metric | None = None, stats=None, dense=True) -> Pool:
    """From, per sentence, a list of (features by name, value) pairs; the value is the external metric."""
    index = FeatureIndex()
    rows = [features for candidates in sentences for features, _ in candidates]
    for row in rows:
        for name in row:
            index.intern(name)
    encoded = [sorted((index.find(name), value) for name, value in row.items() if value != 0) for row in rows]
    n = len(rows)
    if metric is None:
        metric = External()
        stats = metric.from_values([value for candidates in sentences for _, value in candidates])
    shard = Shard(
        sentence_ids=np.arange(len(sentences), dtype=np.int32),
        sentences=offsets_of(np.array([len(candidates) for candidates in sentences], dtype=np.int64)),
        feature_rows=offsets_of(np.array([len(row) for row in encoded], dtype=np.int64)),
        feature_ids=np.array([id_ for row in encoded for id_, _ in row], dtype=np.int32),
        feature_values=np.array([value for row in encoded for _, value in row], dtype=np.float32),
        token_rows=np.zeros(n + 1, dtype=np.int64),
        tokens=np.zeros(0, dtype=np.int32),
        rounds=np.zeros(n, dtype=np.int32),
        source_lengths=np.full(len(sentences), -1, dtype=np.int32),
        totals=np.full(n, np.nan),
        scores=np.zeros((n, 0)),
        stats=np.ascontiguousarray(stats, dtype=np.float64),
    )
    ids = frozenset(range(len(index))) if dense else frozenset()
    return Pool(index=index, words=new_words(), shards=(shard,), dense=ids, metric=metric)


def random_pool(seed, *, n_sentences=12, n_candidates=15, n_features=5, active=1.0, bleu=False, grid=False) -> Pool:
    """Normal features (or small whole numbers, which give ties), and gains that they explain in part."""
    rng = np.random.default_rng(seed)
    n = n_sentences * n_candidates
    x = rng.integers(-2, 3, (n, n_features)) if grid else rng.normal(size=(n, n_features))
    x = np.where(rng.random(x.shape) < active, x, 0).astype(np.float32)
    gold = rng.normal(size=n_features)
    quality = x @ gold + rng.normal(size=n)
    names = [f"f{i}" for i in range(n_features)]
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in x]
    counts = [n_candidates] * n_sentences
    pairs = list(zip(rows, quality.tolist(), strict=True))
    sentences = [pairs[i * n_candidates : i * n_candidates + count] for i, count in enumerate(counts)]
    if not bleu:
        return pool_of(sentences)
    share = 1 / (1 + np.exp(-quality))
    length = rng.integers(4, 12, n)
    total = np.stack([length - i for i in range(4)], axis=1)
    correct = np.floor(total * share[:, None] * np.array([1, 0.8, 0.6, 0.4]))
    reference = np.repeat(rng.integers(5, 10, n_sentences), n_candidates)
    stats = np.column_stack([length, reference, correct, total]).astype(np.float64)
    return pool_of(sentences, metric=Bleu(smoothing=Smoothing.NONE), stats=stats)


def dense_features(pool: Pool) -> np.ndarray:
    """All features as a dense matrix, for slow twins."""
    matrix = []
    for shard in pool.shards:
        part = np.zeros((shard.n_candidates, len(pool.index)))
        rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
        part[rows, shard.feature_ids] = shard.feature_values
        matrix.append(part)
    return np.concatenate(matrix)


def arrays_of(pool: Pool) -> list[bytes]:
    """The content of every array of every shard; of derivations, which such pools lack, nothing."""
    arrays = [getattr(shard, name) for shard in pool.shards for name in shard.__slots__ if name != "derivations"]
    assert all(shard.derivations is None for shard in pool.shards)
    return [array.tobytes() for array in arrays]
