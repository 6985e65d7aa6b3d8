"""Sums whose bits do not depend on who added what: shards are the leaves of one binary tree, whatever computes them.

Node (level, place) is the sum of the shards place·2^level to (place + 1)·2^level - 1. A run keeps the sums of whole
nodes only, about log2(n) of them, and adds two as soon as they are the halves of one node. So a part of the shards done
elsewhere, a run that was stopped, and one that was not all meet in the same additions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeVar

__all__ = ["Node", "TreeSum"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Node(Generic[T]):
    """The sum of the 2^level shards from place·2^level on."""

    level: int
    place: int
    value: T

    @property
    def first(self) -> int:
        return self.place << self.level

    @property
    def end(self) -> int:
        return (self.place + 1) << self.level


class TreeSum(Generic[T]):
    """A sum in the making. `add` joins two neighbours, the earlier first."""

    def __init__(self, add: Callable[[T, T], T], nodes: Iterable[Node[T]] = ()) -> None:
        self._add = add
        self._nodes: list[Node[T]] = []
        for node in sorted(nodes, key=lambda node: node.first):
            self._push(node)

    @property
    def nodes(self) -> tuple[Node[T], ...]:
        """What is summed so far, from left to right: all that must be kept to go on."""
        return tuple(self._nodes)

    @property
    def end(self) -> int:
        """The shard after the last one."""
        return self._nodes[-1].end if self._nodes else 0

    def put(self, shard: int, value: T) -> None:
        """The value of a shard; shards come in ascending order. Raises ValueError for one that is there."""
        self._push(Node(0, shard, value))

    def missing(self, n_shards: int) -> list[tuple[int, int]]:
        """Ranges of shards, of the first `n_shards`, that are not there."""
        ends = [0, *(node.end for node in self._nodes)]
        begins = [*(min(node.first, n_shards) for node in self._nodes), n_shards]
        return [(end, begin) for end, begin in zip(ends, begins, strict=True) if end < begin]

    def total(self) -> T:
        """The sum of everything. Nodes without a sibling are joined from the right, so it depends on the shards alone.

        Raises ValueError where shards are missing in between, or there are none.
        """
        if not self._nodes or self.missing(self.end):
            raise ValueError("shards are missing")
        values = [node.value for node in self._nodes]
        return reduce(lambda right, left: self._add(left, right), reversed(values[:-1]), values[-1])

    def _push(self, node: Node[T]) -> None:
        if self._nodes and node.first < self._nodes[-1].end:
            raise ValueError(f"shard {node.first} is there already, or came after a later one")
        nodes = list(self._nodes)  # an addition that is interrupted leaves the sum as it was
        while nodes:
            left = nodes[-1]
            if left.level != node.level or left.place + 1 != node.place or left.place % 2:
                break
            nodes.pop()
            node = Node(node.level + 1, left.place // 2, self._add(left.value, node.value))
        self._nodes = [*nodes, node]
