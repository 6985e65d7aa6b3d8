"""Search spaces that some decoder stored, as the decoder of the outer loop: nothing is decoded, they are searched anew.

The lists of a round are the k best derivations by its weights, so that rounds see what lists of one decoding lack.
Methods that learn from forests or while decoding learn from the search spaces themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dragoman.candidates import Pool, Shard
from dragoman.candidates.shard import UNKNOWN_LENGTH, concatenate
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.forest import Forest, ForestArrays, ForestSet
from dragoman.optim import LearningContext, LearnsFrom
from dragoman.optim.context import LiveDecoder
from dragoman.optim.learner_pass import Ground, Learners, LearningTask
from dragoman.system.candidates import shard_of, words_of
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.mixing import LocalLearners
from dragoman.types import Float64Array, Int32Array

__all__ = ["StoredForests", "StoredForestsContext", "dense_of", "forest_pool"]

_FEW_FEATURES = 100
"""Up to so many, all features are dense, as in lists of decoders that omit zeros."""


def forest_pool(
    forests: ForestSet,
    weights: Weights,
    k: int,
    *,
    dense: Sequence[str] | None = None,
    lengths: Int32Array | None = None,
    distinct: bool = False,
    n_threads: int = 1,
) -> Pool:
    """The k best derivations of every search space, over its own index; `lengths` are source words by sentence."""
    best = forests.kbest(weights, k, distinct=distinct, n_threads=n_threads)
    if lengths is None:
        lengths = forests.source_lengths()
    shard = shard_of(best, passed=np.zeros(0, np.int32), n_words=len(forests.vocab.table), source_lengths=lengths)
    shard = replace(shard, sentence_ids=np.array(forests.ids, np.int32))
    ids = frozenset(forests.index.find(name) for name in (dense_of(forests) if dense is None else dense))
    return Pool(index=forests.index, words=words_of(forests.vocab), shards=(shard,), dense=ids - {-1})


def dense_of(forests: ForestSet) -> list[str]:
    """The features that all search spaces with a derivation have, or all of a few."""
    n_features = len(forests.index)
    counts = np.zeros(n_features, np.int64)
    n_spaces = 0
    for forest in forests.forests:
        arrays = ForestArrays.of(forest.core)
        n_spaces += len(arrays.instances) > 0
        counts[np.unique(np.concatenate([arrays.local_ids, arrays.feature_ids]))] += 1
    kept = (counts > 0) if np.count_nonzero(counts) <= _FEW_FEATURES else counts == n_spaces
    return forests.index.names(np.flatnonzero(kept).astype(np.int32))


class StoredForests(Decoder):
    """Stored search spaces as a decoder."""

    def __init__(
        self,
        forests: ForestSet,
        *,
        k: int = 100,
        dense: Sequence[str] | None = None,
        lengths: Int32Array | None = None,
        distinct: bool = False,
        n_threads: int = 1,
    ) -> None:
        self._forests = forests
        self._k = k
        self._dense = dense_of(forests) if dense is None else dense
        self._lengths = forests.source_lengths() if lengths is None else lengths
        self._distinct = distinct
        self._n_threads = n_threads

    def decode(self, weights: Weights) -> Pool:
        """The k best derivations by these weights."""
        return forest_pool(
            self._forests,
            weights,
            self._k,
            dense=self._dense,
            lengths=self._lengths,
            distinct=self._distinct,
            n_threads=self._n_threads,
        )


class StoredForestsContext(LearningContext):
    """Stored search spaces and references, as methods that learn from more than lists want them."""

    offers = (LearnsFrom.LISTS, LearnsFrom.FORESTS, LearnsFrom.DECODING)

    def __init__(
        self,
        forests: ForestSet,
        references: Sequence[Sequence[str]],
        *,
        k: int = 30,
        distinct: bool = True,
        dense: Sequence[str] | None = None,
        lengths: Int32Array | None = None,
    ) -> None:
        self._forests = forests
        self._references = references
        self._dense = dense_of(forests) if dense is None else list(dense)
        self._lengths = forests.source_lengths() if lengths is None else lengths
        self.k = k
        self.distinct = distinct

    @property
    def references(self) -> Sequence[Sequence[str]]:
        return self._references

    @property
    def dense(self) -> Sequence[str]:
        return self._dense

    def forests(self, weights: Weights, *, n_threads: int) -> Iterator[Forest]:
        """The same for all weights, one for each reference."""
        return iter(self._forests.filled(len(self._references)))

    def live_decoder(self) -> LiveDecoder:
        """The best derivations of single sentences. Raises InputError where source lengths are unknown."""
        if np.any(self._lengths == UNKNOWN_LENGTH):
            raise InputError("the search spaces do not say how long the source is; name the source with `source`")
        return _LiveForests(self._forests, self._dense, self._lengths)

    def learners(self, task: LearningTask, decoder: LiveDecoder) -> Learners:
        """Threads of this process."""
        references: Mapping[int, Sequence[str]] = {i: self._references[i] for i in self._forests.ids}
        return LocalLearners(Ground.of(task, decoder, references))


class _LiveForests:
    """Sentences are their numbers; those without a derivation have the length 0 and are not learned from."""

    def __init__(self, forests: ForestSet, dense: Sequence[str], lengths: Int32Array) -> None:
        self._vocab_size = len(forests.vocab.table)
        self._forests = forests.filled(forests.n_sentences)
        self.index = forests.index
        self.words = words_of(forests.vocab)
        self.dense = frozenset(forests.index.find(name) for name in dense) - {-1}
        self.lengths = np.zeros(forests.n_sentences, np.int32)
        for number, forest, length in zip(forests.ids, forests.forests, lengths.tolist(), strict=True):
            self.lengths[number] = length if forest.has_derivation else 0

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> Shard:
        """The k best derivations of one sentence."""
        return shard_of(
            self._forests[sentence].kbest(weights, k, distinct=distinct),
            passed=np.zeros(0, np.int32),
            n_words=self._vocab_size,
            source_lengths=self.lengths[sentence : sentence + 1],
            first_sentence=sentence,
        )

    def extraction_shares(self, ids: Int32Array) -> Float64Array:
        """Zeros: nothing is known of rules."""
        return np.zeros(len(ids))

    def pool_of(self, shards: Sequence[Shard]) -> Pool:
        return Pool(index=self.index, words=self.words, shards=(concatenate(shards),), dense=self.dense)
