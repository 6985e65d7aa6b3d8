"""The row that each row of a comparison is tested against, if one is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dragoman.analysis.rows import RowKey
from dragoman.errors import InputError

__all__ = ["baselines", "baselines_of"]

_PARTS = ("optimiser", "features", "system")


def baselines(keys: list[RowKey], names: Sequence[str]) -> dict[RowKey, RowKey]:
    """The baseline row of each row that has one, by the first name that its corpus has."""
    known = _known(keys)
    for name in names:
        if name not in known:
            raise InputError(f"`baseline={name}`: no such row; expected one of {', '.join(known)}")
    found: dict[RowKey, RowKey] = {}
    for corpus in dict.fromkeys(key.corpus for key in keys):
        same = [key for key in keys if key.corpus == corpus]
        theirs = _known(same)
        for name in [name for name in names if name in theirs][:1]:
            found |= baselines_of(same, name)
    return found


def _known(keys: list[RowKey]) -> list[str]:
    """What a baseline may be called."""
    return [*dict.fromkeys(getattr(key, part) for part in _PARTS for key in keys), *sorted({key.name for key in keys})]


def baselines_of(keys: list[RowKey], name: str) -> dict[RowKey, RowKey]:
    """Of rows of one corpus. The start, which has no features, takes the first of an optimiser on its system."""
    named = next((key for key in keys if key.name == name), None)
    found = {}
    for key in keys:
        candidates = [named, *(replace(key, **{part: name}) for part in _PARTS)]
        alone = [k for k in keys if (k.system, k.optimiser) == (key.system, name)]
        candidates += alone[:1] if len(alone) == 1 or key.is_start else []
        base = next((base for base in candidates if base in keys), key)
        if base is not None and base != key:
            found[key] = base
    return found
