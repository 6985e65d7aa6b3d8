"""Shards that are made when they are asked for, so that a pool can be larger than memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from dragoman.candidates.shard import Shard
from dragoman.types import Int32Array, Int64Array

__all__ = ["LazyShards", "Outline", "light_shards", "map_shards", "of_sentences", "outlines"]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The sentences of a shard, and where the candidates of each begin."""

    sentence_ids: Int32Array  # [S]
    sentences: Int64Array  # [S + 1]


class LazyShards(Sequence[Shard]):
    """Shards that are made anew whenever they are asked for: go through them in order, and keep none.

    `light` is for those who need no features and words.
    """

    @property
    @abstractmethod
    def outlines(self) -> Sequence[Outline]:
        """Of every shard, without making it."""

    @abstractmethod
    def make(self, number: int) -> Shard: ...

    @abstractmethod
    def light(self, number: int) -> Shard:
        """The shard without features and words, which costs little."""

    def maker(self) -> Callable[[int, int], Shard] | None:
        """What makes a shard, by its number and with so many threads, in other processes too; None if nothing does."""
        return None

    def __len__(self) -> int:
        return len(self.outlines)

    @overload
    def __getitem__(self, number: int) -> Shard: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Shard]: ...
    def __getitem__(self, number: int | slice) -> Shard | Sequence[Shard]:
        if isinstance(number, slice):
            return tuple(self.make(i) for i in range(*number.indices(len(self))))
        if not -len(self) <= number < len(self):
            raise IndexError(f"shard {number} of {len(self)}")
        return self.make(number % len(self))


class _Mapped(LazyShards):
    """Some of the shards of others, changed when they are made."""

    def __init__(
        self,
        base: LazyShards,
        change: Callable[[Shard], Shard],
        places: Sequence[int] | None = None,
        outlines: Sequence[Outline] | None = None,
    ) -> None:
        self._base = base
        self._change = change
        self._places = range(len(base)) if places is None else places
        self._outlines = base.outlines if outlines is None else outlines

    @property
    def outlines(self) -> Sequence[Outline]:
        return self._outlines

    def make(self, number: int) -> Shard:
        return self._change(self._base.make(self._places[number]))

    def light(self, number: int) -> Shard:
        return self._change(self._base.light(self._places[number]))


def outlines(shards: Sequence[Shard]) -> Sequence[Outline]:
    """Sentences and numbers of candidates of all shards."""
    if isinstance(shards, LazyShards):
        return shards.outlines
    return [Outline(shard.sentence_ids, shard.sentences) for shard in shards]


def light_shards(shards: Sequence[Shard]) -> Iterator[Shard]:
    """The shards for somebody who looks at no features and words: lazy ones come without."""
    if isinstance(shards, LazyShards):
        return (shards.light(number) for number in range(len(shards)))
    return iter(shards)


def map_shards(change: Callable[[Shard], Shard], shards: Sequence[Shard]) -> Sequence[Shard]:
    """The shards changed, lazy ones when they are made. Sentences and their candidates must stay the same."""
    return _Mapped(shards, change) if isinstance(shards, LazyShards) else tuple(map(change, shards))


def of_sentences(shards: Sequence[Shard], ids: Int64Array) -> Sequence[Shard]:
    """The shards with only these sentences; those without any are left out."""

    def chosen(shard: Shard) -> Shard:
        return shard.of_sentences(np.flatnonzero(np.isin(shard.sentence_ids, ids)))

    kept = [(i, np.flatnonzero(np.isin(outline.sentence_ids, ids))) for i, outline in enumerate(outlines(shards))]
    kept = [(i, at) for i, at in kept if len(at)]
    if not isinstance(shards, LazyShards):
        return tuple(shards[i].of_sentences(at) for i, at in kept)
    found = [_part(shards.outlines[i], at) for i, at in kept]
    return _Mapped(shards, chosen, [i for i, _ in kept], found)


def _part(outline: Outline, at: Int64Array) -> Outline:
    counts = np.diff(outline.sentences)[at]
    return Outline(outline.sentence_ids[at], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
