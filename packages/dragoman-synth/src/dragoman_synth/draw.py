"""The random stream of one sentence."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Draw"]

T = TypeVar("T")


class Draw(Random):
    """A seeded random stream with the draws the grammar needs."""

    def restart(self, seed: int, index: int) -> None:
        """Reseed to the start of the stream of sentence `index`."""
        self.seed((seed << 48) | index)

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self.random() * len(items))]

    def pick_where(self, items: Sequence[T], accept: Callable[[T], bool]) -> T:
        """Rejection sampling: the first uniform pick that is accepted."""
        return self.draw_where(lambda r: r.pick(items), accept)

    def draw_where(self, draw: Callable[[Draw], T], accept: Callable[[T], bool]) -> T:
        """Rejection sampling: the first draw that is accepted."""
        while not accept(drawn := draw(self)):
            pass
        return drawn

    def prefer(self, items: Sequence[T]) -> T:
        """One item: the first with probability 1/2, else another."""
        n = len(items)
        if n == 1 or self.random() < 0.5:
            return items[0]
        return items[1 + int(self.random() * (n - 1))]
