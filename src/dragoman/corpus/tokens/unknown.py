"""Source words that the tables lack, replaced by words that they have.

Another spelling of a known word becomes that word: other case, apostrophes, quotation marks, dashes, full-width letters
and digits. A compound becomes its parts, chosen as Koehn and Knight (2003) choose them: the split whose parts have the
highest geometric mean of counts. Another form of a known word becomes that word, if the two endings (or beginnings)
change places in many other words of the training text. Only words that have no translation of their own change.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations, groupby

from dragoman.corpus.tokens.spans import is_span
from dragoman.text import GLUE

__all__ = ["WordSplitter"]

_SHORTEST = 3
"""Letters of a part, at least."""
_LINKS = ("", "s", "es", "n", "en", "er", "e", "ens", "ns")
"""Letters between the parts of a compound, as in German."""
_PIECE = re.compile("[^-‑]+[-‑]*")
_MOST_LETTERS = 60
_STEM, _ENDING = 4, 3
"""Letters that two forms of a word share, at least, and letters in which they differ, at most."""
_MIN_PAIRS = 20
"""Words of the training text in which two endings change places, at least."""
_MOST_FORMS = 12
"""Forms of a stem, at most; what has more is no stem."""
_REMEMBERED = 100_000
_SPELLINGS = str.maketrans(
    {
        **dict.fromkeys("’‘ʼ‛‚‹›´`", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
_QUOTES = {
    **dict.fromkeys("„“‟«", f'"{GLUE}'),
    **dict.fromkeys("”»", f'{GLUE}"'),
    **dict.fromkeys("‚‘‛‹", f"'{GLUE}"),
    **dict.fromkeys("’›", f"{GLUE}'"),
}
"""Quotation marks with spaces on both sides, as they are without."""


class WordSplitter:
    """Splits words that are not in `counts`: those that can be translated, with their counts in the training text."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._exact = counts
        self._folded: dict[str, tuple[int, str]] = {}
        for word, count in counts.items():
            key = _folded(word)
            if count > self._folded.get(key, (0, ""))[0]:
                self._folded[key] = count, word
        self._known: dict[str, str] = {}

    def split(self, word: str) -> str:
        """What stands for a word, with spaces between; the word itself if it is known, or nothing stands for it."""
        if word in self._exact:
            return word
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[word] = self._parts(word)
        return found

    def _parts(self, word: str) -> str:
        if len(word) > _MOST_LETTERS or is_span(word):
            return word
        known = self._folded.get(_folded(_QUOTES.get(word, word)))
        if known is not None:
            return known[1]
        if not word[:1].isalpha():
            return _half_width(word)
        pieces = [piece for piece in _PIECE.findall(word) if piece.strip("-‑")]
        if len(pieces) < 2:
            return self._one(word) or _half_width(word)
        found = [(piece, self._one(piece.rstrip("-‑"))) for piece in pieces]
        if not any(known for _, known in found):
            return word
        # Of "osgi-anwendungen" the name stays as it is; unknown pieces side by side stay together.
        out = []
        for known, group in groupby(found, key=lambda pair: pair[1]):
            pieces = [piece for piece, _ in group]
            out += ["".join(pieces).rstrip("-‑")] if known is None else [known] * len(pieces)
        return " ".join(out)

    def _one(self, word: str) -> str | None:
        """The word in another spelling, its parts, or another form of it; None if there is none of these."""
        known = self._folded.get(_folded(word))
        if known is not None:
            return known[1]
        return (self._compound(word) or self._form(word)) if word.isalpha() else None

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
                    if found is None:
                        continue
                    parts = (before[0] + math.log(found[0]), before[1] + 1, (*before[2], found[1]))
                    here = best[end]
                    if here is None or parts[0] / parts[1] > here[0] / here[1]:
                        best[end] = parts
        whole = best[n]
        return " ".join(whole[2]) if whole is not None and whole[1] > 1 else None

    def _form(self, word: str) -> str | None:
        """The known word that this is most probably a form of; None if there is none."""
        best: tuple[int, int, str] | None = None
        for backwards in (False, True):
            text = word.lower()[::-1] if backwards else word.lower()
            forms, pairs = self._forms[backwards]
            for stem, ending in _stems(text):
                for other in forms.get(stem, ()):
                    n_pairs = pairs[min(ending, other), max(ending, other)]
                    if n_pairs >= _MIN_PAIRS:
                        count, known = self._folded[(stem + other)[::-1] if backwards else stem + other]
                        best = max(best or (0, 0, ""), (n_pairs, count, known))
        return None if best is None else best[2]

    @cached_property
    def _forms(self) -> tuple[_Forms, _Forms]:
        """Endings and beginnings of the words of the training text."""
        words = [word for word in self._folded if word.isalpha()]
        return _learn_forms(words), _learn_forms([word[::-1] for word in words])


def _folded(word: str) -> str:
    """The same for all spellings of a word."""
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word.translate(_SPELLINGS)).lower()


def _half_width(word: str) -> str:
    """A number or word in full-width letters as ordinary ones; anything else as it is."""
    if word.isascii():
        return word
    before, after = GLUE * word.startswith(GLUE), GLUE * word.endswith(GLUE)
    plain = unicodedata.normalize("NFKC", word.removeprefix(GLUE).removesuffix(GLUE))
    return f"{before}{plain}{after}" if plain.isascii() and plain[:1].isalnum() else word


_Forms = tuple[dict[str, list[str]], Counter[tuple[str, str]]]
"""Endings of each stem, and in how many stems two endings change places."""


def _stems(word: str) -> Iterator[tuple[str, str]]:
    for n in range(min(_ENDING, len(word) - _STEM) + 1):
        yield word[: len(word) - n], word[len(word) - n :]


def _learn_forms(words: list[str]) -> _Forms:
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        for stem, ending in _stems(word):
            forms[stem].append(ending)
    kept = {stem: endings for stem, endings in forms.items() if 1 < len(endings) <= _MOST_FORMS}
    pairs: Counter[tuple[str, str]] = Counter()
    for endings in kept.values():
        pairs.update(combinations(sorted(endings), 2))
    # A word that is its own stem's only form can still be what another form stands for.
    return {stem: endings for stem, endings in forms.items() if len(endings) <= _MOST_FORMS}, pairs
