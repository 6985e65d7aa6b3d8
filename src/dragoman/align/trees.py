"""Minimal trees of word-aligned sentence pairs (Zhang, Gildea and Chiang 2008)."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman._core import minimal_trees as _minimal_trees
from dragoman.align.links import Alignment
from dragoman.errors import MismatchError
from dragoman.types import Int32Array, Int64Array

__all__ = ["MinimalTrees", "TreeNodeKind", "minimal_trees"]


class TreeNodeKind(enum.IntEnum):
    """What a node's children are like."""

    PLAIN = 0
    """Words, or children of which no neighbours can be joined to a phrase pair."""
    MONOTONE = 1
    """A row of two or more, in the same order on both sides."""
    REVERSE = 2
    """A row in the opposite order."""
    PART = 3
    """The first children of a row of more than two, which is binarised from the left."""


@dataclass(frozen=True, slots=True, eq=False)
class MinimalTrees:
    """Tree i has the nodes offsets[i] to offsets[i + 1], children before their parents, the top last.

    spans: int32, (n_nodes, 4): source begin and end, target begin and end (ends excluded). parents: int32, places in
    the same tree, -1 for the top. kinds: uint8, `TreeNodeKind`. Nodes that are not parts of rows are the tight phrase
    pairs that overlap no other one without nesting; the top is widened to the whole pair. Unaligned words belong to the
    lowest node around them. A pair with an empty side has no nodes, one without links only the top.
    """

    offsets: Int64Array
    spans: Int32Array
    parents: Int32Array
    kinds: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def minimal_trees(
    alignment: Alignment, source_lengths: Int64Array, target_lengths: Int64Array, *, n_threads: int = 1
) -> MinimalTrees:
    """The minimal tree of every pair, in n log n time. Raises InputError for a link outside its sentences."""
    if not len(alignment) == len(source_lengths) == len(target_lengths):
        raise MismatchError(
            f"{len(alignment)} pairs have links, but there are {len(source_lengths)} source and "
            f"{len(target_lengths)} target sentences"
        )
    return MinimalTrees(
        *_minimal_trees(
            np.ascontiguousarray(source_lengths, np.int32),
            np.ascontiguousarray(target_lengths, np.int32),
            alignment.offsets,
            np.ascontiguousarray(alignment.links),
            n_threads,
        )
    )
