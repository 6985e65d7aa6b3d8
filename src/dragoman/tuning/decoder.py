"""What the outer loop wants of a decoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dragoman.candidates import Pool
from dragoman.features import Weights

__all__ = ["Decoder", "DecodingRound"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingRound:
    """Where the loop is. `dense` are the features known to be dense, None before the first list was seen.

    `folder` may be filled with logs; it becomes a part of the run's record, or vanishes where there is no run.
    """

    number: int
    seed: int
    folder: Path
    dense: tuple[str, ...] | None


class Decoder:
    """Anything that translates the development set with given weights.

    `foreign` says that its order of candidates is its own affair: the score of a round is then that of the first
    candidate of each list, whatever the weights say about it.
    """

    foreign: bool = False

    def begin_round(self, current: DecodingRound) -> None:
        """Called before each `decode` with where the loop is."""

    def decode(self, weights: Weights) -> Pool:
        """The best candidates of every sentence by these weights, the best first, with their features.

        Sentence ids are line numbers from 0. The pool may have an index and words of its own, may repeat candidates,
        and needs no metric. The same weights in the same round must give the same candidates, else a run that
        is resumed ends elsewhere. `weights` belong to the loop: read them, do not change or keep them.
        """
        raise NotImplementedError
