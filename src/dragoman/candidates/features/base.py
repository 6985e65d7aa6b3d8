"""The interface of features for candidates that came from elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dragoman.candidates import Pool, Shard, texts_of
from dragoman.types import Float64Array, Int64Array

__all__ = ["CandidateBlock", "CandidateFeature", "SparseCandidateFeature", "token_sums"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidateBlock:
    """Whole lists of some sentences, and the source of each."""

    pool: Pool
    shard: Shard
    sources: Sequence[str]

    @cached_property
    def texts(self) -> list[str]:
        """The text of each candidate."""
        return texts_of(self.pool, self.shard)

    @property
    def lengths(self) -> Int64Array:
        """Words of each candidate."""
        return np.diff(self.shard.token_rows)

    @cached_property
    def distinct_words(self) -> tuple[list[bytes], Int64Array]:
        """The words of the block as the word table spells them, and which of them each token is."""
        ids, places = np.unique(self.shard.tokens, return_inverse=True)
        return [self.pool.words.word(int(id_)) for id_ in ids], places.reshape(-1).astype(np.int64)


class CandidateFeature(ABC):
    """Some numbers for each candidate, from its text, its source and the other candidates of its list."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The features that it adds."""

    @abstractmethod
    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        """[n_candidates, len(names)], finite; the same for any number of threads and any cut into blocks."""


class SparseCandidateFeature(CandidateFeature):
    """Features by name, of which a candidate has few: counts, which 0 stands for where they are missing."""

    stem = ""
    """Begins the names of all of them, for messages."""
    names = ()

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        return np.zeros((block.shard.n_candidates, 0))

    @abstractmethod
    def sparse_values(self, block: CandidateBlock, n_threads: int) -> Iterable[Mapping[str, float]]:
        """The features of each candidate, in order; the same for any number of threads and any cut into blocks."""


def token_sums(block: CandidateBlock, values: Float64Array) -> Float64Array:
    """The sum over the tokens of each candidate of a value per token, [n_tokens] or [n_tokens, k]."""
    rows = block.shard.token_rows
    sums = np.zeros((len(rows) - 1, *values.shape[1:]))
    filled = rows[1:] > rows[:-1]
    if filled.any():
        sums[filled] = np.add.reduceat(values.astype(np.float64), rows[:-1][filled], axis=0)
    return sums
