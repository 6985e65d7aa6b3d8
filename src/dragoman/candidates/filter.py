"""Parts of pools: fewer candidates, sentences or features; and where candidates came from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dragoman.candidates.lazy import map_shards
from dragoman.candidates.pool import Pool
from dragoman.candidates.shard import Shard
from dragoman.errors import InputError
from dragoman.settings import Record
from dragoman.types import Float64Array, Int32Array, Int64Array, offsets_of

__all__ = ["PoolFilter", "filter_pool", "resampled", "with_origin", "without_scores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFilter(Record):
    """What stays, in this order: sentences, distinct texts, lengths, a random sample, the first of each list."""

    first_sentence: int = 0
    last_sentence: int | None = None
    distinct_text: bool = False
    """Of candidates with the same words the first stays."""
    max_words: int | None = None
    sample: int | None = None
    """Candidates of each sentence, drawn at random; they stay in order."""
    first: int | None = None
    """Candidates of each sentence, from the beginning of its list."""
    seed: int = 0


def filter_pool(
    pool: Pool, what: PoolFilter, *, keep: Collection[str] | None = None, drop: Collection[str] = ()
) -> Pool:
    """The pool with some of its candidates; only the features `keep` if given, and none of `drop`.

    Raises InputError for a feature that the pool does not have.
    """
    features = _kept_features(pool, keep, drop)
    shards = []
    for whole in pool.shards:
        ids = whole.sentence_ids
        last = np.inf if what.last_sentence is None else what.last_sentence
        shard = whole.of_sentences(np.flatnonzero((ids >= what.first_sentence) & (ids <= last)))
        shard = shard.select(np.flatnonzero(_kept(shard, what)))
        shards.append(shard if features is None else _with_some(shard, features))
    kept = tuple(shard for shard in shards if shard.n_sentences)
    if not any(shard.n_candidates for shard in kept):
        raise InputError("no candidate is left")
    dense = pool.dense if features is None else frozenset(id_ for id_ in pool.dense if features[id_])
    return replace(pool, shards=kept, dense=dense)


def without_scores(pool: Pool) -> Pool:
    """The pool without named scores, for formats that cannot hold them."""
    shards = map_shards(lambda shard: replace(shard, scores=np.zeros((shard.n_candidates, 0))), pool.shards)
    return replace(pool, shards=shards, score_names=())


def _kept(shard: Shard, what: PoolFilter) -> np.ndarray:
    kept = np.ones(shard.n_candidates, dtype=bool)
    of_each = shard.sentence_of_each()
    if what.distinct_text:
        seen: set[tuple[int, bytes]] = set()
        for c, sentence in enumerate(of_each.tolist()):
            text = (sentence, shard.tokens[shard.token_rows[c] : shard.token_rows[c + 1]].tobytes())
            kept[c] = text not in seen
            seen.add(text)
    if what.max_words is not None:
        kept &= np.diff(shard.token_rows) <= what.max_words
    if what.sample is not None:
        kept &= _drawn(shard, kept, of_each, what.sample, what.seed)
    if what.first is not None:
        running = np.cumsum(kept)
        before = np.concatenate([[0], running])[shard.sentences[:-1]]
        kept &= running - before[of_each] <= what.first
    return kept


def _drawn(shard: Shard, kept: np.ndarray, of_each: Int32Array, n: int, seed: int) -> np.ndarray:
    """The draw of a sentence depends on its number alone, so shards and other sentences do not matter."""
    drawn = np.zeros_like(kept)
    for s, id_ in enumerate(shard.sentence_ids.tolist()):
        own = np.flatnonzero(kept[shard.sentences[s] : shard.sentences[s + 1]]) + shard.sentences[s]
        rng = np.random.default_rng([seed, id_])
        drawn[own if len(own) <= n else rng.choice(own, size=n, replace=False)] = True
    return drawn


def _kept_features(pool: Pool, keep: Collection[str] | None, drop: Collection[str]) -> np.ndarray | None:
    if keep is None and not drop:
        return None
    kept = np.full(len(pool.index), keep is None)
    for names, value in ((keep or (), True), (drop, False)):
        for name in names:
            id_ = pool.index.find(name)
            if id_ < 0:
                raise InputError(f"no candidate has a feature '{name}'")
            kept[id_] = value
    return kept


def _with_some(shard: Shard, features: np.ndarray) -> Shard:
    stays = features[shard.feature_ids]
    rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
    counts: Int64Array = np.bincount(rows[stays], minlength=shard.n_candidates).astype(np.int64)
    return shard.with_features(offsets_of(counts), shard.feature_ids[stays], shard.feature_values[stays])


def with_origin(pools: Sequence[Pool], names: Sequence[str]) -> list[Pool]:
    """The pools with a feature `from_NAME` each, 1 for its candidates: systems differ in the scale of their scores."""
    if len(set(names)) < len(names):
        raise InputError("origins need different names")

    def ones(pool: Pool) -> list[Float64Array]:
        return [np.ones(shard.n_candidates) for shard in pool.shards]

    return [pool.add_features({f"from_{name}": ones(pool)}) for pool, name in zip(pools, names, strict=True)]


def resampled(pool: Pool, positions: Int64Array) -> Pool:
    """The sentences at these positions of a pool in memory, which may repeat, under new numbers."""
    (shard,) = pool.shards
    drawn = shard.of_sentences(positions)
    return replace(pool, shards=(replace(drawn, sentence_ids=np.arange(len(positions), dtype=np.int32)),), folds=None)
