"""Feature names, their dense int32 ids for arrays, and 64-bit keys that are the same in every process."""

from __future__ import annotations

import re
from pathlib import Path

from dragoman._core import FeatureIndex, feature_key
from dragoman.errors import InputError, naming
from dragoman.text import atomic_output, read_blocks
from dragoman.types import PathLike

__all__ = ["FeatureIndex", "feature_arguments", "feature_key", "feature_name", "load_index", "save_index"]

_NAMES_PER_BLOCK = 1 << 16
_ESCAPES = str.maketrans(
    {chr(code): f"\\x{code:02x}" for code in (*range(0x20), 0x7F)}
    | {"\\": "\\\\", ",": "\\,", " ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
)

_ARGUMENT = re.compile(r"((?:[^\\,]|\\.)*)(,?)")
_ESCAPED = re.compile(r"\\(x[0-9a-f]{2}|.)")
_PLAIN = {"s": " ", "t": "\t", "n": "\n", "r": "\r"}


def feature_name(template: str, *arguments: str | int) -> str:
    """The name of a template feature, `template:argument,argument`; escaping keeps it unique."""
    if not template or ":" in template:
        raise ValueError(f"a template's name must be non-empty and without ':', not {template!r}")
    if not arguments:
        return template
    return f"{template}:" + ",".join(str(argument).translate(_ESCAPES) for argument in arguments)


def feature_arguments(name: str) -> tuple[str, ...]:
    """The arguments of a template feature's name, as `feature_name` was given them."""
    _, more, rest = name.partition(":")
    arguments, at = [], 0
    while more and (found := _ARGUMENT.match(rest, at)):
        arguments.append(_ESCAPED.sub(_unescaped, found[1]))
        more, at = found[2], found.end()
    return tuple(arguments)


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    return chr(int(escape[1:], 16)) if escape[0] == "x" else _PLAIN.get(escape, escape)


def save_index(index: FeatureIndex, path: PathLike) -> None:
    """Write the names, one per line, in id order."""
    with atomic_output(path) as stream:
        for begin in range(0, len(index), _NAMES_PER_BLOCK):
            stream.write(index.lines(begin, min(begin + _NAMES_PER_BLOCK, len(index))))


def load_index(path: PathLike) -> FeatureIndex:
    """Read an index written by save_index; the id of a feature is its line number (from 0)."""
    index = FeatureIndex()
    n_lines = 0
    for block in read_blocks(Path(path)):
        with naming(path):
            n_lines += len(index.intern_lines(block.data))
    if n_lines != len(index):
        raise InputError(f"{n_lines} lines but {len(index)} distinct features; there are duplicate names", path=path)
    return index
