"""Candidates as plain text: the same number of lines for each sentence, without scores."""

from __future__ import annotations

import numpy as np

from dragoman._core import WordTable
from dragoman.candidates.pool import Pool, new_words
from dragoman.candidates.shard import UNKNOWN_LENGTH, Shard
from dragoman.errors import InputError, naming
from dragoman.features import FeatureIndex
from dragoman.text import read_blocks
from dragoman.types import PathLike, joined_offsets

__all__ = ["read_text_lists"]


def read_text_lists(
    path: PathLike,
    per_sentence: int,
    *,
    round_number: int = 0,
    index: FeatureIndex | None = None,
    words: WordTable | None = None,
) -> Pool:
    """A list of `per_sentence` lines for each sentence as a pool without features; an empty line is a candidate, too.

    Raises InputError unless the number of lines is a multiple of `per_sentence`.
    """
    if per_sentence < 1:
        raise InputError(f"a sentence needs at least one candidate, not {per_sentence}")
    words = new_words() if words is None else words
    with naming(path):
        blocks = [words.encode_growing(block.data, block.first_line) for block in read_blocks(path)]
        n = sum(len(offsets) - 1 for offsets, _ in blocks)
        if n == 0:
            raise InputError("the file is empty; expected candidates, one a line")
        if n % per_sentence:
            raise InputError(
                f"{n} lines are not a multiple of {per_sentence}, the number of candidates of each sentence"
            )
    n_sentences = n // per_sentence
    shard = Shard(
        sentence_ids=np.arange(n_sentences, dtype=np.int32),
        sentences=np.arange(n_sentences + 1, dtype=np.int64) * per_sentence,
        feature_rows=np.zeros(n + 1, dtype=np.int64),
        feature_ids=np.zeros(0, dtype=np.int32),
        feature_values=np.zeros(0, dtype=np.float32),
        token_rows=joined_offsets([offsets for offsets, _ in blocks]),
        tokens=np.concatenate([ids for _, ids in blocks]),
        rounds=np.full(n, round_number, dtype=np.int32),
        source_lengths=np.full(n_sentences, UNKNOWN_LENGTH, dtype=np.int32),
        totals=np.full(n, np.nan),
        scores=np.zeros((n, 0)),
        stats=np.zeros((n, 0)),
    )
    return Pool(index=FeatureIndex() if index is None else index, words=words, shards=(shard,))
