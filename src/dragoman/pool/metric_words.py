"""Words of lists as metrics see them: cut at any white space, as the text of a translation is.

Lists are cut at ASCII spaces and tabs alone, so that a candidate is written as it was read, and its words are those of
the decoder. In French or Japanese text such a word may hold other spaces: narrow, ideographic, not to be broken at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.metric import Segments, Spelling
from dragoman.types import offsets_of

__all__ = ["MetricWords"]


class MetricWords:
    """The words of a vocabulary, cut where `str.split` cuts; words without such spaces keep their ids."""

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
