"""Large random shards."""

from __future__ import annotations

import numpy as np

from dragoman.candidates import Shard
from dragoman.candidates.synthetic import featured_shard
from dragoman.metric import External


def random_shard(
    *, seed: int, first_sentence: int, n_sentences: int, n_candidates: int, n_features: int, n_active: int
) -> Shard:
    """Candidates with `n_active` random features each, of `n_features`, and normal values; no words."""
    rng = np.random.default_rng([seed, first_sentence])
    n = n_sentences * n_candidates
    # Distinct ids in a row: one from each of n_active equal stretches of the index.
    stretch = n_features // n_active
    ids = rng.integers(0, stretch, (n, n_active), dtype=np.int32)
    ids += np.arange(0, stretch * n_active, stretch, dtype=np.int32)
    return featured_shard(
        counts=np.full(n_sentences, n_candidates),
        feature_rows=np.arange(0, n * n_active + 1, n_active, dtype=np.int64),
        feature_ids=ids.ravel(),
        feature_values=rng.standard_normal(n * n_active, dtype=np.float32),
        stats=np.zeros((n, 0)),
        first_sentence=first_sentence,
    )


def overlapping_shard(
    *,
    seed: int,
    first_sentence: int,
    n_sentences: int,
    n_candidates: int,
    n_features: int,
    n_active: int,
    n_shared: int,
    n_sentence_features: int,
) -> Shard:
    """Candidates as k-best lists have them: `n_active` indicator features, `n_shared` of them the sentence's own.

    A sentence has `n_sentence_features`; with as many as `n_shared` all its candidates have all of them. The other
    features are drawn from all `n_features`. Gains are uniform numbers, the external metric's statistics.
    """
    rng = np.random.default_rng([seed, first_sentence])
    n = n_sentences * n_candidates
    # Distinct ids in a row: one from each of equal stretches of the index, first the sentence's, then the others.
    stretch = n_features // (n_sentence_features + n_active - n_shared)
    own = rng.integers(0, stretch, (n_sentences, n_sentence_features), dtype=np.int32)
    own += np.arange(0, stretch * n_sentence_features, stretch, dtype=np.int32)
    own = np.repeat(own, n_candidates, axis=0)
    if n_shared < n_sentence_features:
        chosen = np.argsort(rng.random(own.shape, dtype=np.float32), axis=1)[:, :n_shared]
        own = np.sort(np.take_along_axis(own, chosen, axis=1), axis=1)
    others = rng.integers(0, stretch, (n, n_active - n_shared), dtype=np.int32)
    others += stretch * np.arange(n_sentence_features, n_sentence_features + n_active - n_shared, dtype=np.int32)
    return featured_shard(
        counts=np.full(n_sentences, n_candidates),
        feature_rows=np.arange(0, n * n_active + 1, n_active, dtype=np.int64),
        feature_ids=np.concatenate([own, others], axis=1).ravel(),
        feature_values=np.ones(n * n_active, dtype=np.float32),
        stats=External().from_values(rng.random(n)),
        first_sentence=first_sentence,
    )
