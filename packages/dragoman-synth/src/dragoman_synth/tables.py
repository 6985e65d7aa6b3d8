"""The files of the lexicon, `lexicon/*.txt`: UTF-8 text, one entry per line.

A line `[name]` begins a section; empty lines and lines that begin with `#` are skipped. The form of an entry is
described at the top of its file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeVar

from dragoman.errors import InputError

__all__ = ["Expression", "Pair", "expressions", "grouped", "irregular", "pair", "parse", "read", "weighted"]

T = TypeVar("T")
Pair = tuple[str, tuple[str, ...]]
"""German words and their translations."""

_WIDTHS = {"german": (4, 5), "english": (3,), "plural": (2,)}
"""Number of words per entry in each section of irregular forms."""


def parse(text: str, name: str, make: Callable[[str, str], T]) -> list[T]:
    """`make(section, entry)` of every entry in the text of the file `name`.

    Raises InputError with file and line where `make` raises ValueError or LookupError.
    """
    section, made = "", []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            try:
                made.append(make(section, line))
            except (ValueError, LookupError) as error:
                reason = f"unknown {error}" if isinstance(error, KeyError) else error
                expected = "the top of the file describes an entry"
                raise InputError(f"cannot read '{line}': {reason}; {expected}", path=name, line=number) from error
    return made


def read(name: str, make: Callable[[str, str], T]) -> list[T]:
    """`make(section, entry)` of every entry of a file of the lexicon."""
    return parse(files("dragoman_synth").joinpath("lexicon", name).read_text(encoding="utf-8"), name, make)


def grouped(name: str, make: Callable[[str], T]) -> dict[str, list[T]]:
    """`make(entry)` of every entry, by section."""
    found: dict[str, list[T]] = {}
    for section, made in read(name, lambda section, entry: (section, make(entry))):
        found.setdefault(section, []).append(made)
    return found


def pair(entry: str) -> Pair:
    """Parse `german = english / english`."""
    de, en = entry.split(" = ")
    return de, tuple(en.split(" / "))


class Expression(NamedTuple):
    """Fixed words, their translations, and a tag for the pattern that uses them."""

    german: str
    english: tuple[str, ...]
    tag: str


def _expression(section: str, entry: str) -> tuple[str, Expression]:
    words, _, tag = entry.partition(" #")
    german, english = pair(words) if words != "-" else ("", ("",))
    return section, Expression(german, english, tag)


@cache
def expressions(kind: str) -> tuple[Expression, ...]:
    """The expressions of one section of expressions.txt."""
    return tuple(made for section, made in read("expressions.txt", _expression) if section == kind)


def _irregular(section: str, entry: str) -> tuple[str, str, str]:
    head, *forms = entry.split(" ")
    if 1 + len(forms) not in _WIDTHS[section]:
        raise ValueError(f"{1 + len(forms)} words")
    return section, head, " ".join(forms)


@cache
def irregular(kind: str) -> dict[str, str]:
    """Irregular forms by their base: `german` and `english` verbs, English `plural`."""
    return {head: forms for section, head, forms in read("irregular.txt", _irregular) if section == kind}


def weighted(items: Sequence[T], offset: int = 3) -> tuple[T, ...]:
    """Repeat items so that a uniform draw is Zipf-like: the i-th has weight proportional to 1 / (i + offset)."""
    top = len(items) + offset
    return tuple(item for rank, item in enumerate(items) for _ in range(max(1, round(top / (rank + offset)))))
