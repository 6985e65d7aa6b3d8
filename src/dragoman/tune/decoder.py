"""What the outer loop wants of a decoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from dragoman.features import Weights
from dragoman.pool import Pool

__all__ = ["Decoder", "DecodingRound", "RoundAware"]


class Decoder(Protocol):
    """Anything that translates the development set with given weights."""

    def decode(self, weights: Weights) -> Pool:
        """The best candidates of every sentence by these weights, the best first, with their features.

        Sentence ids are line numbers from 0. The pool may have an index and words of its own, may repeat candidates,
        and needs no metric. The same weights in the same round must give the same candidates, else a run that
        is resumed ends elsewhere. `weights` belong to the loop: read them, do not change or keep them.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingRound:
    """Where the loop is. `dense` are the features known to be dense, None before the first list was seen.

    `folder` may be filled with logs; it becomes a part of the run's record, or vanishes where there is no run.
    """

    number: int
    seed: int
    folder: Path
    dense: tuple[str, ...] | None


@runtime_checkable
class RoundAware(Protocol):
    """A decoder that wants to know where the loop is may have this method besides `decode`."""

    def begin_round(self, current: DecodingRound) -> None:
        """Called before each `decode`."""
        ...
