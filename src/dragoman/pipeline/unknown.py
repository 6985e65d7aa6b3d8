"""Source words that the tables lack, split into words that they have.

Parts are chosen as Koehn and Knight (2003) choose those of compounds: the split whose parts have the highest geometric
mean of counts. Only words that could not be translated at all are split, so nothing that is known changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from dragoman.pipeline.spans import is_span

__all__ = ["WordSplitter"]

_SHORTEST = 3
"""Letters of a part, at least."""
_LINKS = ("", "s", "es", "n", "en", "er", "e", "ens", "ns")
"""Letters between the parts of a compound, as in German."""
_HYPHENS = re.compile("[-‑]")
_MIN_COUNT = 2
_MOST_LETTERS = 60


class WordSplitter:
    """Splits words that are not in `counts`, the words of the training text with their counts."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._exact = counts
        self._folded: dict[str, tuple[int, str]] = {}
        for word, count in counts.items():
            key = word.lower()
            if count > self._folded.get(key, (0, ""))[0]:
                self._folded[key] = count, word
        self._known: dict[str, str] = {}

    def split(self, word: str) -> str:
        """The parts of a word with spaces between; the word itself if it is known or cannot be split."""
        if word in self._exact:
            return word
        found = self._known.get(word)
        if found is None:
            if len(self._known) > 100_000:
                self._known.clear()
            found = self._known[word] = self._parts(word)
        return found

    def _parts(self, word: str) -> str:
        if not word[:1].isalpha() or len(word) > _MOST_LETTERS or is_span(word):
            return word
        other = self._folded.get(word.lower())
        if other is not None:
            return other[1]  # known in another case
        pieces = [piece for piece in _HYPHENS.split(word) if piece]
        if len(pieces) > 1:
            known = [self._find(piece) or self._compound(piece) for piece in pieces]
            # Of "osgi-anwendungen" the name stays as it is; a word of which nothing is known stays whole.
            if any(known):
                return " ".join(part or piece for part, piece in zip(known, pieces, strict=True))
            return word
        return (self._compound(word) if word.isalpha() else None) or word

    def _find(self, word: str) -> str | None:
        found = self._folded.get(word.lower())
        return None if found is None else found[1]

    def _compound(self, word: str) -> str | None:
        """The best split into known parts, with or without letters between them; None if there is none."""
        text, n = word.lower(), len(word)
        # best[i]: sum of log counts, number of parts, and the parts, of the first i letters
        best: list[tuple[float, int, tuple[str, ...]] | None] = [None] * (n + 1)
        best[0] = (0.0, 0, ())
        for end in range(_SHORTEST, n + 1):
            for begin in range(end - _SHORTEST + 1):
                before = best[begin]
                if before is None:
                    continue
                for link in _LINKS:
                    stop = end - len(link)
                    if stop - begin < _SHORTEST or (link and (end == n or not text.startswith(link, stop))):
                        continue
                    found = self._folded.get(text[begin:stop])
                    if found is None or found[0] < _MIN_COUNT:
                        continue
                    parts = (before[0] + math.log(found[0]), before[1] + 1, (*before[2], found[1]))
                    here = best[end]
                    if here is None or parts[0] / parts[1] > here[0] / here[1]:
                        best[end] = parts
        whole = best[n]
        return " ".join(whole[2]) if whole is not None and whole[1] > 1 else None
