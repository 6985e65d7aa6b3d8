"""How the lexicon's tables are read: sections, entries, continued lines, and frequencies by rank."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from dragoman.synth.lexemes import Adverb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["adverb", "adverbs", "entries", "lines", "pairs", "weighted"]

T = TypeVar("T")


def weighted(items: Sequence[T], offset: int = 3) -> tuple[T, ...]:
    """Repeat items so that a uniform draw is Zipf-like: the i-th comes in proportion to 1 / (i + offset)."""
    top = len(items) + offset
    return tuple(item for rank, item in enumerate(items) for _ in range(max(1, round(top / (rank + offset)))))


def lines(table: str) -> list[str]:
    """The lines of a table; one that begins with a space continues the line before."""
    return re.sub("\n +", " ", table.strip()).splitlines()


def entries(table: str) -> Iterator[tuple[str, str]]:
    """Entries of a table with the section they stand in."""
    section = ""
    for line in lines(table):
        if line.startswith("["):
            section = line.strip("[]")
        elif line:
            for entry in line.split(" ; "):
                yield section, entry.strip()


def pairs(table: str) -> list[tuple[str, tuple[str, ...]]]:
    """Entries `german = english / english`."""
    pairs = []
    for _, entry in entries(table):
        de, _, en = entry.partition(" = ")
        pairs.append((de, tuple(en.split(" / "))))
    return pairs


def adverb(de: str, translations: Iterable[str]) -> Adverb:
    """An adverb from its table entry, translations with `@` and a position."""
    made = []
    for translation in translations:
        words, _, position = translation.partition(" @")
        made.append((words, position))
    return Adverb(de, tuple(made), made[0][1] in ("m", "n"))


def adverbs(table: str) -> dict[str, list[Adverb]]:
    """Lines `kind: german = english ; …`."""
    found: dict[str, list[Adverb]] = {}
    for line in lines(table):
        kind, _, rest = line.partition(": ")
        found.setdefault(kind, []).extend(adverb(de, en) for de, en in pairs(rest))
    return found
