"""Features whose weights stay as they are: single ones, or groups by their names before a number or a colon."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights

__all__ = ["frozen_at_zero", "frozen_names"]

_MEMBER = re.compile(r"_\d+$|:")


def frozen_names(index: FeatureIndex, asked: Collection[str]) -> tuple[str, ...]:
    """The features that `asked` names: itself, or a group: `TM0` is `TM0_1`, `TM0_2`; `word_pair` all `word_pair:…`.

    Raises InputError for a name that neither a feature nor a group has, as a misspelt one.
    """
    found: dict[str, None] = {}
    groups: dict[str, list[str]] | None = None
    for name in asked:
        if index.find(name) >= 0:
            found[name] = None
            continue
        groups = _groups(index) if groups is None else groups
        if name not in groups:
            raise InputError(f"the feature '{name}' cannot be frozen: neither the candidates nor the weights have it")
        found |= dict.fromkeys(groups[name])
    return tuple(found)


def frozen_at_zero(start: Weights, names: Collection[str]) -> tuple[str, ...]:
    """A note about frozen features to which the start gives no weight."""
    zero = [name for name in names if start[name] == 0]
    return (f"frozen at 0, because the start gives no weight: {', '.join(zero[:5])}",) if zero else ()


def _groups(index: FeatureIndex) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in index.names(np.arange(len(index), dtype=np.int32)):
        if member := _MEMBER.search(name):
            groups.setdefault(name[: member.start()], []).append(name)
    return groups
