"""How held-out lines judged what was learned from the training text, as records of tunings and cells have it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["HeldOutLines", "Kept"]


class Kept(StrEnum):
    """Weights that a tuning ended with."""

    START = "start"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutLines:
    """Lines that nothing was learned from, decoded by tables that have not seen them. Scores are the metric's own."""

    n_lines: int
    score_before: float
    """With the weights of the start; where sparse weights were learned beside others that a search found, the better of
    both.
    """
    score_after: float
    """With those that were learned."""
    length_before: float | None
    """Output words for a reference word; None where the metric does not count words."""
    length_after: float | None
    worse: bool
    """Whether what was learned decodes them worse than the start."""
    kept: str
    """`start` or `learned`."""

    @property
    def changed(self) -> bool:
        """Whether the scores differ."""
        return self.score_after != self.score_before
