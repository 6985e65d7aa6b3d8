"""Candidate lists of a decoder as a pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman._core import WordTable, escape_word, word_table
from dragoman.candidates import Pool, Shard
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex
from dragoman.forest import KBest
from dragoman.text import split_tokens
from dragoman.types import Int32Array

__all__ = ["intern_passed", "pool_of", "shard_of", "source_lengths", "words_of"]


def pool_of(
    best: KBest,
    sentences: Sequence[str],
    *,
    vocab: Vocab,
    index: FeatureIndex,
    dense: Sequence[str],
    round_number: int = 0,
    first_sentence: int = 0,
) -> Pool:
    """The lists over the decoder's own feature index; `vocab` is that of their words."""
    words = words_of(vocab)
    shard = shard_of(
        best,
        passed=intern_passed(words, vocab),
        n_words=len(vocab.table),
        source_lengths=source_lengths(sentences),
        round_number=round_number,
        first_sentence=first_sentence,
    )
    return Pool(index=index, words=words, shards=(shard,), dense=frozenset(index.find(name) for name in dense))


def source_lengths(sentences: Sequence[str]) -> Int32Array:
    """Words of each sentence."""
    return np.array([len(split_tokens(sentence)) for sentence in sentences], np.int32)


def words_of(vocab: Vocab) -> WordTable:
    """A copy of the vocabulary's native table with the same ids: a pool's table grows, the system's must not."""
    return word_table(vocab.table.blob(), vocab.table.offsets())


def intern_passed(words: WordTable, vocab: Vocab) -> Int32Array:
    """Ids of the words beyond the vocabulary's native table, which are added to the pool's table."""
    return np.array([words.intern(escape_word(word.encode("utf-8"))) for word in vocab.beyond], np.int32)


def shard_of(
    best: KBest,
    *,
    passed: Int32Array,
    n_words: int,
    source_lengths: Int32Array,
    round_number: int = 0,
    first_sentence: int = 0,
) -> Shard:
    """The lists as a shard. `passed` are the new ids of tokens from `n_words` on, the out-of-vocabulary words."""
    tokens = best.tokens
    if len(passed):
        beyond = tokens >= n_words
        tokens = tokens.copy()
        tokens[beyond] = passed[tokens[beyond] - n_words]
    n = len(best)
    return Shard(
        sentence_ids=np.arange(first_sentence, first_sentence + best.n_sentences, dtype=np.int32),
        sentences=best.sentences,
        feature_rows=best.feature_rows,
        feature_ids=best.feature_ids,
        feature_values=best.feature_values,
        token_rows=best.token_rows,
        tokens=tokens,
        rounds=np.full(n, round_number, np.int32),
        source_lengths=source_lengths,
        totals=best.totals,
        scores=np.zeros((n, 0)),
        stats=np.zeros((n, 0)),
        derivations=best.derivations,
    )
