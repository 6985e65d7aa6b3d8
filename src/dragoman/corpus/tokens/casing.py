"""The case of words: those that begin a sentence get their usual form, and a translation its capitals back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from dragoman.corpus.tokens.spans import is_span
from dragoman.corpus.tokens.tokenizer import CLOSING_QUOTES, ENDS, GLUE, QUOTES, bare

__all__ = ["CaseModel", "begins_small", "learn_case"]

_CLAUSES = frozenset(":;–—")
"""Signs after which a capital tells nothing of the word; so do quotation marks."""
_SKIPPED = QUOTES | CLOSING_QUOTES | frozenset("([{¿¡*-–—•")
"""Signs before the first word of a sentence."""
_FEW_CAPITALS = 0.05


class CaseModel:
    """The usual form of each word, by its form in lower case; `learn_case` counts it where no sentence begins.

    `begins_small`: sentences of the text do not begin with capitals, and translations shall not either.
    """

    def __init__(self, forms: Iterable[str], *, begins_small: bool = False) -> None:
        self.forms = {form.lower(): form for form in forms}
        self.begins_small = begins_small

    def lower_beginnings(self, tokens: Sequence[str], *, clauses: bool = False) -> list[str]:
        """Words that begin a sentence in their usual form; a line in capitals throughout, all of its words.

        With `clauses`, also words after a colon or a quotation mark.
        """
        out = list(tokens)
        capitals = _is_capitals(out)
        for place in range(len(out)) if capitals else _beginnings(out, clauses=clauses):
            word, small = out[place], out[place].lower()
            usual = self.forms.get(small, word)
            if capitals or (usual == small and (word[1:].islower() or len(word) == 1)):
                out[place] = usual
        return out

    def raise_beginnings(self, tokens: Sequence[str], source: Sequence[str]) -> list[str]:
        """Capitals where sentences begin; of the first, if the source has one there.

        All capitals if the source has nothing else.
        """
        out = list(tokens)
        if self.begins_small:
            return out
        if _is_capitals(source):
            return [token if is_span(bare(token)) else token.upper() for token in out]
        first = next(iter(_beginnings(source)), None)
        small = first is not None and source[first][0].islower()
        for place in _beginnings(out)[small:]:
            if out[place].islower() and not is_span(out[place]):  # not iPhone
                out[place] = out[place][0].upper() + out[place][1:]
        return out

    def recase(self, tokens: Sequence[str], source: Sequence[str]) -> list[str]:
        """Lowercased words in their usual form; those that the text never had and the source has, in the source's."""
        copied = {token.lower(): token for token in source}
        forms = self.forms
        return [forms.get(token) or copied.get(token, token) for token in tokens]


def learn_case(lines: Iterable[str]) -> CaseModel:
    """The most frequent form of every word, of equals the one in lower case."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        tokens = line.split(" ")
        if _is_capitals(tokens):
            continue
        unsure = set(_beginnings(tokens, clauses=True))
        for place, token in enumerate(tokens):
            if token[:1].isalpha() and place not in unsure:
                counts[token.lower()][token] += 1
    return CaseModel(
        min(found, key=lambda form: (-found[form], form != word, form)) for word, found in sorted(counts.items())
    )


def begins_small(lines: Iterable[str]) -> bool:
    """Whether next to no sentence begins with a capital, as in text that was lowercased."""
    n_small = n_capitals = 0
    for line in lines:
        tokens = line.split(" ")
        for place in _beginnings(tokens):
            n_small += tokens[place][0].islower()
            n_capitals += tokens[place][0].isupper()
    return n_capitals < _FEW_CAPITALS * n_small


def _beginnings(tokens: Sequence[str], *, clauses: bool = False) -> list[int]:
    """Places of words that begin a sentence; with `clauses`, also those after a colon or a quotation mark."""
    places, begins, asks = [], True, False
    for place, token in enumerate(tokens):
        if token[:1].isalnum():
            if begins:
                places.append(place)
                begins = False
            continue
        sign = token.replace(GLUE, "")
        if sign[-1:] in ENDS:
            begins = len(sign) < 4 and not token.endswith(GLUE) and (token.startswith(GLUE) or not sign.isascii())
            asks = sign != "."
        elif asks and begins and sign in CLOSING_QUOTES and token.startswith(GLUE):
            begins = False  # as in “Why?” he said
        elif clauses and (sign in _CLAUSES or (sign in QUOTES and token.endswith(GLUE))):
            begins = True
        elif begins and sign not in _SKIPPED and not (sign.startswith("<") and sign.endswith(">")):
            begins = False
    return places


def _is_capitals(tokens: Sequence[str]) -> bool:
    """Whether these are at least two words, all in capitals."""
    n_words = n_letters = 0
    for token in tokens:
        if token[:1].isalpha() and not is_span(token):
            if not token.isupper():
                return False
            n_words += 1
            n_letters += len(token)
    return n_words > 1 and n_letters > 5
