"""Tokenised segments as arrays, for metric kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from dragoman.errors import InputError
from dragoman.types import offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Lexicon", "MetricWords", "References", "Segments", "Spelling"]

# chrF++ separates these at the edges of words.
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """Word ids of many segments; segment i is ids[offsets[i]:offsets[i + 1]]."""

    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Segments:
        rows = list(rows)
        ids = np.fromiter(chain.from_iterable(rows), dtype=np.int32)
        return cls(offsets=offsets_of([len(row) for row in rows]), ids=ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """References of many sentences: those of sentence s are segments ref_offsets[s]:ref_offsets[s + 1]."""

    ref_offsets: NDArray[np.int64]
    segments: Segments

    def __len__(self) -> int:
        return len(self.ref_offsets) - 1

    @property
    def n_refs(self) -> int | None:
        """Number of references per sentence; None if it varies."""
        counts = np.unique(np.diff(self.ref_offsets))
        return int(counts[0]) if len(counts) == 1 else None

    @classmethod
    def of(cls, sentences: Iterable[Sequence[Sequence[int]]]) -> References:
        """References from one sequence of word ids each, grouped by sentence."""
        sentences = list(sentences)
        return cls(
            ref_offsets=offsets_of([len(references) for references in sentences]),
            segments=Segments.of(chain.from_iterable(sentences)),
        )


class Spelling:
    """The strings of a vocabulary, for character-level metrics; word i has id i."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def characters(self) -> Segments:
        """Code points of each word, without whitespace as defined by str.split."""
        texts = ["".join(word.split()) for word in self.words]
        # Lone surrogates cannot be encoded otherwise; here they are ordinary code points.
        blob = "".join(texts).encode("utf-32-le", "surrogatepass")
        return Segments(offsets=offsets_of([len(text) for text in texts]), ids=np.frombuffer(blob, dtype="<i4"))

    @cached_property
    def pieces(self) -> Segments:
        """The words that each word is split into by chrF++, which separates punctuation at the edges."""
        lexicon = Lexicon()
        return lexicon.segments(list(chain.from_iterable(map(_pieces, word.split()))) for word in self.words)

    def without_case(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Map word ids to ids shared by words that differ only in case."""
        if ids.size and not 0 <= ids.min() <= ids.max() < len(self):
            raise InputError(f"word ids must be below {len(self)}, not {ids.min()} to {ids.max()}")
        return self._lower_ids[ids]

    @cached_property
    def _lower_ids(self) -> NDArray[np.int32]:
        return Lexicon().segments([self.lower.words]).ids

    @cached_property
    def lower(self) -> Spelling:
        return Spelling(word.lower() for word in self.words)


class Lexicon:
    """Assigns word ids in order of first occurrence."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def segments(self, rows: Iterable[Iterable[str]]) -> Segments:
        """Word ids of tokenised lines; new words get new ids."""
        ids = self._ids
        return Segments.of([[ids.setdefault(word, len(ids)) for word in row] for row in rows])

    def references(self, sentences: Iterable[Iterable[Iterable[str]]]) -> References:
        """Word ids of tokenised references, any number per sentence."""
        groups = [list(references) for references in sentences]
        return References(
            ref_offsets=offsets_of([len(group) for group in groups]),
            segments=self.segments(chain.from_iterable(groups)),
        )

    def spelling(self) -> Spelling:
        return Spelling(self._ids)


class MetricWords:
    """The words of a vocabulary as metrics see them: cut at any white space, as the text of a translation is.

    Lists are cut at ASCII spaces and tabs alone, so that a candidate is written as it was read, and its words are those
    of the decoder. In French or Japanese text such a word may hold other spaces: narrow, ideographic, not to be broken
    at. Words without such spaces keep their ids.
    """

    def __init__(self, words: Sequence[str]) -> None:
        parts = [word.split() for word in words]
        self._is_plain = all(part == [word] for word, part in zip(words, parts, strict=True))
        ids = {word: i for i, word in enumerate(words)}
        self._pieces = Segments.of([ids.setdefault(piece, len(ids)) for piece in part] for part in parts)
        self.spelling = Spelling(ids)

    def cut(self, segments: Segments) -> Segments:
        """Segments of the vocabulary's ids, in words that metrics count."""
        if self._is_plain:
            return segments
        begins = self._pieces.offsets[segments.ids]
        counts = self._pieces.offsets[segments.ids + 1] - begins
        ends = offsets_of(counts)
        places = np.arange(ends[-1]) - np.repeat(ends[:-1] - begins, counts)
        return Segments(offsets=ends[segments.offsets], ids=self._pieces.ids[places])


def _pieces(word: str) -> tuple[str, ...]:
    if len(word) > 1:
        if word[-1] in _PUNCTUATION:
            return (word[:-1], word[-1])
        if word[0] in _PUNCTUATION:
            return (word[0], word[1:])
    return (word,)
