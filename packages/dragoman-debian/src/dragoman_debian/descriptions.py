"""Descriptions of packages: a line that names a package, and paragraphs about it.

`Translation-de` of the archive has stanzas with the fields `Package`, `Description-md5` and `Description-de`;
descriptions of two languages belong together where the digest, of the English text, is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dragoman.corpus.tokens import split_sentences
from dragoman.errors import InputError
from dragoman.text import read_lines
from dragoman.types import PathLike

__all__ = ["Description", "description_pairs", "read_descriptions"]

_FIELD = re.compile(r"([A-Za-z0-9_-]+):\s?(.*)")
_ITEM = re.compile(r"(?:[*+•–-]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Description:
    """Of one package: the short description, then paragraphs and items of lists, each in one line."""

    package: str
    parts: tuple[tuple[str, ...], ...]
    """The lines of each paragraph; the first is the short description alone."""


def read_descriptions(path: PathLike, language: str) -> dict[str, Description]:
    """Descriptions in this language by the digest of the English text. Raises InputError for another file."""
    wanted = f"description-{language.lower()}"
    found: dict[str, Description] = {}
    fields: dict[str, list[str]] = {}
    last = ""
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            _keep(fields, wanted, found)
            fields = {}
        elif line[0] in " \t":
            if not last or last not in fields:
                raise InputError("a line goes on that has not begun; expected 'Field: value'", path=path, line=number)
            fields[last].append(line[1:])
        else:
            match = _FIELD.match(line)
            if match is None:
                raise InputError("expected 'Field: value', as in Debian's Translation-xx files", path=path, line=number)
            last = match[1].lower()
            fields[last] = [match[2]]
    _keep(fields, wanted, found)
    if number and not found:
        raise InputError(f"has no Description-{language}; is it the Translation file of another language?", path=path)
    return found


def description_pairs(
    source: Mapping[str, Description], target: Mapping[str, Description], languages: tuple[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Package, source and target of what belongs together, in the order of the source.

    Paragraphs are paired where both sides have as many of them and as many items in each, and cut into sentences where
    both have as many.
    """
    for digest, one in source.items():
        other = target.get(digest)
        if other is None:
            continue
        pairs = [(one.parts[0], other.parts[0])]
        if len(one.parts) == len(other.parts):
            pairs += zip(one.parts[1:], other.parts[1:], strict=True)
        for lines, others in pairs:
            if len(lines) == len(others):
                for line, counterpart in zip(lines, others, strict=True):
                    for pair in _sentences(line, counterpart, languages):
                        yield (one.package, *pair)


def _sentences(source: str, target: str, languages: tuple[str, str]) -> Iterable[tuple[str, str]]:
    one, other = (split_sentences(text, code) for text, code in zip((source, target), languages, strict=True))
    return zip(one, other, strict=True) if len(one) == len(other) else [(source, target)]


def _keep(fields: Mapping[str, list[str]], wanted: str, found: dict[str, Description]) -> None:
    digest, text, package = (fields.get(name) for name in ("description-md5", wanted, "package"))
    if digest and text and package:
        found[digest[0]] = Description(package[0], tuple(_parts(text)))


def _parts(lines: list[str]) -> Iterator[tuple[str, ...]]:
    """The short description, then the items of each paragraph; a line that is indented or marked begins an item."""
    yield (" ".join(lines[0].split()),)
    items: list[str] = []
    for line in [*lines[1:], "."]:
        text = line.strip()
        if text == ".":
            if items:
                yield tuple(items)
            items = []
            continue
        mark = _ITEM.match(text)
        if mark is not None:
            items.append(text[mark.end() :])
        elif items:
            items[-1] = f"{items[-1]} {text}"
        else:
            items.append(text)
