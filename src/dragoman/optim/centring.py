"""Weights of features that say what words become, without what they say of which source words to translate together.

A contest among rules with one source side leaves the weights of features of that source side open but for a constant:
adding it to all of them changes no probability. A decoder compares source sides too, as it chooses how to cut a
sentence up. So `centred` shifts such weights until their mean, over how often the features are met, is 0.
"""

from __future__ import annotations

import re

import numpy as np

from dragoman.features import FeatureIndex
from dragoman.types import Float64Array, Int64Array

__all__ = ["centred", "source_groups"]

_TARGET_ARGUMENT = {"rule_id": -1, "word_context": 1, "word_pair": -1}
"""Which argument of a feature is its target side, by template; features of other templates are in no group.
Of rules the label comes before both sides, of phrase pairs there is none."""
_COMMA = re.compile(r"(?<!\\)((?:\\\\)*),")
_NO_GROUP = -1
_NAMES_PER_BLOCK = 1 << 16


def source_groups(index: FeatureIndex) -> Int64Array:
    """The group of each feature, of those that differ in their target sides alone; -1 for one in no group."""
    groups: dict[tuple[str, ...], int] = {}
    result = np.empty(len(index), np.int64)
    for begin in range(0, len(index), _NAMES_PER_BLOCK):
        ids = np.arange(begin, min(begin + _NAMES_PER_BLOCK, len(index)), dtype=np.int32)
        result[ids] = [_group(name, groups) for name in index.names(ids)]
    return result


def _group(name: str, groups: dict[tuple[str, ...], int]) -> int:
    template, _, rest = name.partition(":")
    place = _TARGET_ARGUMENT.get(template)
    if place is None:
        return _NO_GROUP
    arguments = (_COMMA.sub(r"\1\n", rest) if "\\" in rest else rest.replace(",", "\n")).split("\n")
    if len(arguments) < 2:
        return _NO_GROUP
    del arguments[place]
    return groups.setdefault((template, *arguments), len(groups))


def centred(values: Float64Array, groups: Int64Array, counts: Float64Array) -> Float64Array:
    """The weights with the mean of each group, by these counts, taken off.

    Weights in no group stay, and those that were counted nowhere.
    """
    grouped = (groups >= 0) & (counts > 0)
    own = groups[grouped]
    sums = np.bincount(own, counts[grouped] * values[grouped])
    totals = np.bincount(own, counts[grouped])
    result = values.copy()
    result[grouped] -= sums[own] / totals[own]
    return result
