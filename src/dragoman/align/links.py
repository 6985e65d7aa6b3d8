"""Word alignments of sentence pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dragoman._core import overlap_of_links
from dragoman.errors import InputError
from dragoman.types import Int32Array, Int64Array, rows_of

__all__ = ["Agreement", "Alignment"]


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Links (source position, target position), counted from 0. Pair i has links[offsets[i]:offsets[i + 1]].

    offsets: int64, (n_pairs + 1,); links: int32, (n_links, 2), sorted and distinct within each pair.
    """

    offsets: Int64Array
    links: Int32Array

    @classmethod
    def of(cls, pairs: Iterable[Iterable[tuple[int, int]]]) -> Alignment:
        """An alignment from the links of each sentence pair."""
        rows = [sorted(set(row)) for row in pairs]
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        links = np.array([link for row in rows for link in row], dtype=np.int32).reshape(-1, 2)
        if links.size and links.min() < 0:
            raise InputError("link positions must not be negative")
        return cls(offsets, links)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> list[tuple[int, int]]:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return [(int(s), int(t)) for s, t in self.links[self.offsets[i] : self.offsets[i + 1]]]

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alignment):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.links, other.links)

    def take(self, pairs: Int64Array) -> Alignment:
        """The links of these pairs."""
        offsets, places = rows_of(self.offsets, pairs)
        return Alignment(offsets, np.ascontiguousarray(self.links[places]))

    @property
    def n_links(self) -> int:
        return len(self.links)

    def first_outside(self, source_lengths: Int64Array, target_lengths: Int64Array) -> int | None:
        """The first pair with a link outside its sentences, or None."""
        pair = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        outside = (self.links[:, 0] >= source_lengths[pair]) | (self.links[:, 1] >= target_lengths[pair])
        return int(pair[outside.argmax()]) if outside.any() else None

    def agreement(self, other: Alignment, *, n_threads: int = 1) -> Agreement:
        if len(self) != len(other):
            raise InputError(f"cannot compare alignments of {len(self)} and {len(other)} sentence pairs")
        sizes = overlap_of_links(self.offsets, self.links, other.offsets, other.links, n_threads)
        return Agreement(n_first=sizes[0], n_second=sizes[1], n_shared=sizes[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of two alignments A and B; 1 if both are empty."""

    n_first: int
    n_second: int
    n_shared: int

    @property
    def jaccard(self) -> float:
        """|A ∩ B| / |A ∪ B|."""
        n_union = self.n_first + self.n_second - self.n_shared
        return self.n_shared / n_union if n_union else 1.0

    @property
    def f1(self) -> float:
        """2 |A ∩ B| / (|A| + |B|)."""
        n_both = self.n_first + self.n_second
        return 2 * self.n_shared / n_both if n_both else 1.0

    @property
    def precision(self) -> float:
        """|A ∩ B| / |A|: precision of A with B as reference."""
        return self.n_shared / self.n_first if self.n_first else 1.0

    @property
    def recall(self) -> float:
        """|A ∩ B| / |B|: recall of A with B as reference."""
        return self.n_shared / self.n_second if self.n_second else 1.0
