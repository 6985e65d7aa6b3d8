"""Text as people write it, for systems that were trained on tokens: another spelling of it that they know more of."""

from __future__ import annotations

import re

from dragoman.corpus import Vocab
from dragoman.text import split_tokens

__all__ = ["suggested"]

_SIGNS = re.compile(r"(?<!\S)([^\w\s<&]+)(?=\w)|(?<=\w)([^\w\s>;]+)(?!\S)")
"""Signs at either end of a word."""


def suggested(text: str, vocab: Vocab) -> str | None:
    """The text in lower case, with spaces before and after its signs, or both: what leaves the fewest words unknown.

    None where that is the text itself.
    """

    def n_unknown(spelling: str) -> int:
        return sum(word not in vocab for word in split_tokens(spelling.replace("\n", " ")))

    apart = _SIGNS.sub(lambda found: f"{found[1]} " if found[1] else f" {found[2]}", text)
    spellings = (text, apart, text.lower(), apart.lower())
    counts = [n_unknown(spelling) for spelling in spellings]
    best = counts.index(min(counts))
    return None if best == 0 else spellings[best]
