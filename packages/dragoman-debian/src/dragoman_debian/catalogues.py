"""Catalogues of messages, as gettext has them: compiled (`.mo`) and as text (`.po`)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping

from dragoman.errors import InputError
from dragoman.types import PathLike

__all__ = ["message_pairs", "read_mo", "read_po"]

_MAGIC = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}
_CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_CONTEXT = "\x04"
_QUOTED = re.compile(r'\s*(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)?\s*"(.*)"\s*')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_MNEMONIC = re.compile(r"(?<![\w&])[_&](?=\w)|(?<=\w)[_&](?=[^\W\d_])|\s?\([_&]\w\)")
_LETTERS = re.compile(r"[^\W\d_]{2}")


def read_mo(data: bytes, path: PathLike = "catalogue") -> dict[str, str]:
    """Messages and their translations, the singular where there are several forms; contexts are left out.

    Messages that are not text in the catalogue's encoding are left out, too. Raises InputError for something else.
    """
    order = _MAGIC.get(data[:4])
    if order is None or len(data) < 28:
        raise InputError("is no compiled catalogue of messages (.mo)", path=path)
    n, at_ids, at_texts = struct.unpack(f"{order}3I", data[8:20])
    tables = [_table(data, order, begin, n, path) for begin in (at_ids, at_texts)]
    pairs = [(data[a : a + m], data[b : b + k]) for (m, a), (k, b) in zip(*tables, strict=True)]
    header = next((text for message, text in pairs if not message), b"")
    charset = _CHARSET.search(header)
    encoding = charset[1].decode("ascii") if charset else "utf-8"
    found: dict[str, str] = {}
    for message, text in pairs:
        try:
            _add(found, message.decode(encoding), text.decode(encoding))
        except UnicodeDecodeError:
            continue
        except LookupError:
            raise InputError(f"has an encoding '{encoding}' that is not known", path=path) from None
    return found


def read_po(lines: Iterator[str], path: PathLike = "catalogue") -> dict[str, str]:
    """The same of a catalogue as text; messages that are marked fuzzy or obsolete are left out."""
    found: dict[str, str] = {}
    entry: dict[str, str] = {}
    key, fuzzy = "", False
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            if "msgstr" in entry or "msgstr[0]" in entry:
                _add_entry(found, entry, fuzzy)
                entry, fuzzy = {}, False
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        if not line.strip():
            continue
        match = _QUOTED.fullmatch(line)
        if match is None or not (match[1] or key):
            raise InputError('expected msgid "…" or msgstr "…"', path=path, line=number)
        if match[1]:
            if match[1] in ("msgctxt", "msgid") and any(name.startswith("msgstr") for name in entry):
                _add_entry(found, entry, fuzzy)
                entry, fuzzy = {}, False
            key = match[1]
            entry[key] = ""
        entry[key] += _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), match[2])
    _add_entry(found, entry, fuzzy)
    return found


def message_pairs(source: Mapping[str, str] | None, target: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """Source and target of the messages that both have; None: the messages as they are, which are English.

    Marks of keyboard shortcuts are taken out, and messages of several lines are cut where both sides have as many.
    """
    messages = source if source is not None else target or {}
    for message in messages:
        texts = [message if side is None else side.get(message) for side in (source, target)]
        if texts[0] is None or texts[1] is None:
            continue
        sides = [[" ".join(_MNEMONIC.sub("", line).split()) for line in text.split("\n")] for text in texts if text]
        if len(sides) < 2:
            continue
        if len(sides[0]) != len(sides[1]):
            sides = [[" ".join(filter(None, lines))] for lines in sides]
        for one, other in zip(*sides, strict=True):
            if one != other and _LETTERS.search(one) and _LETTERS.search(other):
                yield one, other


def _table(data: bytes, order: str, begin: int, n: int, path: PathLike) -> list[tuple[int, int]]:
    """Lengths and places of n texts, all inside the data."""
    if begin + 8 * n > len(data):
        raise InputError("is a damaged catalogue: its tables are longer than the file", path=path)
    rows = list(struct.iter_unpack(f"{order}2I", data[begin : begin + 8 * n]))
    if any(length + place > len(data) for length, place in rows):
        raise InputError("is a damaged catalogue: a message lies beyond the end of the file", path=path)
    return [(length, place) for length, place in rows]


def _add_entry(found: dict[str, str], entry: Mapping[str, str], fuzzy: bool) -> None:
    if not fuzzy:
        _add(found, entry.get("msgid", ""), entry.get("msgstr", entry.get("msgstr[0]", "")))


def _add(found: dict[str, str], message: str, text: str) -> None:
    key, value = message.rpartition(_CONTEXT)[2].partition("\0")[0], text.partition("\0")[0]
    if key and value:
        found.setdefault(key, value)
