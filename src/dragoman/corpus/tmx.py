"""Sentence pairs of translation memories in TMX, of any version and encoding."""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from xml.parsers import expat

from dragoman.errors import InputError
from dragoman.text import MAX_LINE_BYTES, read_content
from dragoman.types import PathLike

__all__ = ["read_tmx"]

_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_OF_THE_PARSER = frozenset({"utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "iso-8859-1", "us-ascii", "ascii"})
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut", "sub"})
"""Inline elements of a segment whose content is formatting code, not text."""


def read_tmx(path: PathLike, source: str, target: str) -> Iterator[tuple[str, str]]:
    """The segments of two languages in every translation unit that has both, each normalised to one line.

    A language such as `de` also matches `de-AT`; an exact match is preferred, then the first segment. Raises InputError
    when the file is not TMX or no unit has both languages.
    """
    name = os.fspath(path)
    blocks = read_content(path)
    head = next(blocks, b"")
    encoding = _foreign_encoding(head)
    reader = _Reader(None if encoding is None else "utf-8")
    n_pairs = 0
    for block in _in_utf8(chain([head], blocks), encoding, name):
        for unit in reader.feed(block, name):
            texts = [_segment(unit, language) for language in (source, target)]
            if None not in texts:
                n_pairs += 1
                yield str(texts[0]), str(texts[1])
    reader.end(name)
    if n_pairs == 0:
        found = ", ".join(language for language, _ in reader.languages.most_common(20)) or "none"
        raise InputError(f"no unit has both {source} and {target}; languages in the file: {found}", path=name)


def _foreign_encoding(head: bytes) -> str | None:
    """The declared encoding if the XML parser does not support it, else None."""
    declared = _DECLARED.match(head)
    name = declared[1].decode("ascii") if declared else "utf-8"
    return None if name.lower() in _OF_THE_PARSER else name


def _in_utf8(blocks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    if encoding is None:
        yield from blocks
        return
    try:
        b"a".decode(encoding, "ignore")  # raises when this is not a text encoding
        decoder = codecs.getincrementaldecoder(encoding)()
        for block in blocks:
            yield decoder.decode(block).encode("utf-8")
        yield decoder.decode(b"", final=True).encode("utf-8")
    except (LookupError, ValueError) as error:
        raise InputError(f"cannot be read as {encoding}: {error}; convert the file to UTF-8", path=name) from None


def _segment(unit: list[tuple[str, str]], language: str) -> str | None:
    wanted = language.lower()
    exact = [text for tag, text in unit if tag == wanted]
    near = [text for tag, text in unit if tag.startswith(wanted + "-")]
    return next(iter(exact + near), None)


class _Reader:
    """Collects translation units while the file is parsed."""

    def __init__(self, encoding: str | None) -> None:
        self.languages: Counter[str] = Counter()
        self._units: list[list[tuple[str, str]]] = []
        self._unit: list[tuple[str, str]] = []
        self._language = ""
        self._pieces: list[str] = []
        self._n_chars = 0
        self._in_segment = False
        self._n_codes = 0
        self._is_tmx = False
        parser = expat.ParserCreate(encoding)
        parser.SkippedEntityHandler = self._skipped
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        self._parser = parser

    def feed(self, block: bytes, name: str) -> list[list[tuple[str, str]]]:
        """The units that end in this block, each a list of (language, text)."""
        self._parse(block, False, name)
        units, self._units = self._units, []
        return units

    def end(self, name: str) -> None:
        """Finish parsing; raises InputError when the file is truncated."""
        self._parse(b"", True, name)

    def _parse(self, block: bytes, is_last: bool, name: str) -> None:
        try:
            self._parser.Parse(block, is_last)
        except expat.ExpatError as error:
            raise InputError(
                f"is not well-formed XML: {expat.ErrorString(error.code)}", path=name, line=error.lineno
            ) from None
        except InputError as error:
            raise InputError(error.message, path=name, line=self._parser.CurrentLineNumber) from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._is_tmx:
            if tag != "tmx":
                raise InputError(f"expected a TMX file, whose first element is tmx; found {tag}")
            self._is_tmx = True
        if self._in_segment:
            self._n_codes += self._n_codes > 0 or tag in _CODES
        elif tag == "tu":
            self._unit = []
        elif tag == "tuv":
            self._language = (attributes.get("xml:lang") or attributes.get("lang") or "").lower().replace("_", "-")
        elif tag == "seg":
            self._in_segment, self._pieces, self._n_chars = True, [], 0

    def _end(self, tag: str) -> None:
        if self._in_segment and tag == "seg" and not self._n_codes:
            self._in_segment = False
            self._unit.append((self._language, " ".join("".join(self._pieces).split())))
            self.languages[self._language] += 1
        elif self._in_segment:
            self._n_codes -= self._n_codes > 0
        elif tag == "tu":
            self._units.append(self._unit)

    def _text(self, data: str) -> None:
        if self._in_segment and not self._n_codes:
            self._pieces.append(data)
            self._n_chars += len(data)
            if self._n_chars > MAX_LINE_BYTES:
                raise InputError(f"a segment of more than {MAX_LINE_BYTES >> 20} MiB; is this a translation memory?")

    def _skipped(self, name: str, _is_parameter: bool) -> None:
        raise InputError(f"the entity &{name}; is not defined; replace it with the character")

    def _entity(self, name: str, *_: object) -> None:
        # Nested entities can expand exponentially (billion laughs).
        raise InputError(f"declares the entity {name}; entity declarations are not supported, remove it")
