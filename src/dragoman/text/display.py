"""Corpus text made safe for a terminal, and its direction of reading."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["GLUE", "is_right_to_left", "printable", "readable"]

GLUE = "\uffed"
"""On the side of a token of raw text that stood directly beside its neighbour."""


def printable(text: str) -> str:
    """The text with control, format and line-separating characters shown as U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _unsafe(char) else char for char in text)


def readable(text: str) -> str:
    """The text as `printable` gives it; glue, a sign that few fonts have, is a dot."""
    return printable(text).replace(GLUE, "·")


def is_right_to_left(words: Iterable[str]) -> bool:
    """Whether most of the words with letters begin with a letter of a script that is read from right to left."""
    kinds = [_kind(word) for word in words]
    return 2 * kinds.count("R") > len(kinds) - kinds.count("")


def _kind(word: str) -> str:
    if word.isascii():
        return "L" if any(map(str.isalpha, word)) else ""
    first = next((char for char in word if char.isalpha()), "")
    return "" if not first else "R" if unicodedata.bidirectional(first) in {"R", "AL"} else "L"


def _unsafe(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char not in "\u200c\u200d"
