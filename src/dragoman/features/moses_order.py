"""The order of Moses' dense features, which its search graphs give without names: that of the lines of [feature]."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dragoman.errors import InputError
from dragoman.features.weight_files import WeightFormat, read_weights
from dragoman.text import read_lines
from dragoman.types import PathLike

__all__ = ["moses_order"]

_SECTION = re.compile(r"\[([^\]]+)\]\s*\Z")


def moses_order(path: PathLike) -> list[str] | None:
    """Names of the values of all dense features of a moses.ini, or None if the file has no [feature] section.

    A feature has as many values as it has weights, or else as num-features says. Raises InputError.
    """
    lines = _feature_lines(list(read_lines(path)))
    if not lines:
        return None
    weights = read_weights(path, format_=WeightFormat.MOSES_INI)
    counts: dict[str, int] = {}
    names: list[str] = []
    for line in lines:
        kind, *options = line.split()
        told = dict(option.partition("=")[::2] for option in options)
        name = told.get("name", f"{kind}{counts.get(kind, 0)}")
        counts[kind] = counts.get(kind, 0) + 1
        n_values = _n_weights(weights.index.find, name) or _whole(told.get("num-features", "1"), path)
        names += [name] if n_values == 1 else [f"{name}_{place + 1}" for place in range(n_values)]
    return names


def _feature_lines(lines: Sequence[str]) -> list[str]:
    found = []
    section = ""
    for line in lines:
        text = line.partition("#")[0].strip()
        if match := _SECTION.match(text):
            section = match[1]
        elif text and section == "feature":
            found.append(text)
    return found


def _n_weights(find: Callable[[str], int], name: str) -> int:
    if find(name) >= 0:
        return 1
    n_values = 0
    while find(f"{name}_{n_values + 1}") >= 0:
        n_values += 1
    return n_values


def _whole(text: str, path: PathLike) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise InputError(f"num-features={text} is not a small whole number", path=path)
    return int(text)
