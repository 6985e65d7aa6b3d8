"""Features whose weights stay as they are: single ones, or groups by their names before a number or a colon."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights

__all__ = ["frozen_at_zero", "frozen_members", "frozen_names"]

_MEMBER = re.compile(r"_\d+$|:")


def frozen_names(index: FeatureIndex, asked: Collection[str]) -> tuple[str, ...]:
    """The features that `asked` names, as `frozen_members` has them.

    Raises InputError for a name that neither a feature nor a group has, as a misspelt one.
    """
    found = frozen_members(index, asked)
    for name, members in found.items():
        if not members:
            raise InputError(f"the feature '{name}' cannot be frozen: neither the candidates nor the weights have it")
    return tuple(dict.fromkeys(member for members in found.values() for member in members))


def frozen_members(index: FeatureIndex, asked: Collection[str]) -> dict[str, list[str]]:
    """The features of an index that each name means: itself, or a group, or none.

    `TM0` is `TM0_1`, `TM0_2`; `word_pair` all `word_pair:…`.
    """
    found = {name: [name] if index.find(name) >= 0 else [] for name in asked}
    groups = {name for name, members in found.items() if not members}
    for name in index.names(np.arange(len(index), dtype=np.int32)) if groups else ():
        if (end := _MEMBER.search(name)) and (group := name[: end.start()]) in groups:
            found[group].append(name)
    return found


def frozen_at_zero(start: Weights, names: Collection[str]) -> tuple[str, ...]:
    """A note about frozen features to which the start gives no weight."""
    zero = [name for name in names if start[name] == 0]
    return (f"frozen at 0, because the start gives no weight: {', '.join(zero[:5])}",) if zero else ()
