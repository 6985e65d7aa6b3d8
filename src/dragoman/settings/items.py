"""Values as the command line and TOML give them: `NAME=VALUE` items, dotted keys, sizes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from dragoman.errors import InputError

__all__ = ["key_path", "parse_bytes", "parse_settings", "parse_value"]

_SIZE_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LOOSE_NUMBER = re.compile(r"[+-]?(\d+\.|\.\d+)([eE][+-]?\d+)?")
"""Numbers that TOML wants written otherwise: `5.` and `.5`."""


def parse_settings(items: Iterable[str]) -> dict[str, Any]:
    """`NAME=VALUE` items as nested tables: VALUE is TOML, or a bare word; `outer.inner` reaches into a table."""
    values: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not (name.strip() and equals):
            raise InputError(f"--set {item}: expected NAME=VALUE")
        *outer, last = key_path(name, item)
        place = values
        for key in outer:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise InputError(f"--set {item}: '{key}' was given a value before")
        if last in place:
            raise InputError(f"--set {item}: '{name}' is set twice")
        place[last] = parse_value(text)
    return values


def key_path(name: str, item: str) -> list[str]:
    """The parts of a dotted key, as TOML splits it; `item` is what messages quote."""
    try:
        nested: Any = tomllib.loads(f"{name} = 0") if "#" not in name and "=" not in name else None
    except (tomllib.TOMLDecodeError, RecursionError):
        nested = None
    if nested is None or len(nested) != 1:
        raise InputError(f"--set {item[:200]}: '{name[:200]}' is not a key; quote what is not a letter, digit, _ or -")
    path = []
    while isinstance(nested, dict):
        ((key, nested),) = nested.items()
        path.append(key)
    return path


def parse_value(text: str) -> Any:
    """A TOML value, or the text itself where it is not TOML."""
    try:
        found = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        found = {}
    if found.keys() == {"value"}:
        return found["value"]
    text = text.strip()
    if text[:1] in {"[", "{", '"', "'"}:
        raise InputError(f"--set …={text[:200]}: this is not TOML; texts in lists and tables need quotes")
    return float(text) if _LOOSE_NUMBER.fullmatch(text) else text


def parse_bytes(text: str) -> int:
    """Bytes of a size such as 500M, 2G or 1.5GiB, by powers of 1024. Raises InputError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) *([kmgt]?)(?:i?b)?", text.strip(), re.IGNORECASE)
    size = 0 if match is None else int(float(match[1]) * 1024 ** _SIZE_UNITS[match[2].lower()])
    if size < 1:
        raise InputError(f"'{text}' is no size; expected a number with K, M, G or T, such as 500M or 2G")
    return size
