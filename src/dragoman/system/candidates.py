"""Candidate lists of a decoder as a pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman._core import escape_word, word_table
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex
from dragoman.forest import KBest
from dragoman.pool import Pool, Shard
from dragoman.text import split_tokens

__all__ = ["pool_of"]


def pool_of(
    best: KBest,
    sentences: Sequence[str],
    *,
    vocab: Vocab,
    own_words: Sequence[str],
    index: FeatureIndex,
    dense: Sequence[str],
    round_number: int = 0,
    first_sentence: int = 0,
) -> Pool:
    """The lists over the decoder's own feature index; a word of no vocabulary gets an id in the pool's table."""
    # A copy: a pool's table grows, the system's must not.
    words = word_table(vocab.table.blob(), vocab.table.offsets())
    if own_words:
        own = [words.intern(escape_word(word.encode("utf-8"))) for word in own_words]
        tokens = np.concatenate([np.arange(len(vocab), dtype=np.int32), np.array(own, np.int32)])[best.tokens]
    else:
        tokens = best.tokens
    n = len(best)
    shard = Shard(
        sentence_ids=np.arange(first_sentence, first_sentence + best.n_sentences, dtype=np.int32),
        sentences=best.first,
        feature_rows=best.feature_offsets,
        feature_ids=best.feature_ids,
        feature_values=best.feature_values,
        token_rows=best.token_offsets,
        tokens=tokens,
        rounds=np.full(n, round_number, np.int32),
        source_lengths=np.array([len(split_tokens(sentence)) for sentence in sentences], np.int32),
        totals=best.scores,
        scores=np.zeros((n, 0)),
        stats=np.zeros((n, 0)),
    )
    return Pool(index=index, words=words, shards=(shard,), dense=frozenset(index.find(name) for name in dense))
