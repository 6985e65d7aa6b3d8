"""The edits that TER counts, word by word."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from dragoman.types import offsets_of

if TYPE_CHECKING:
    from dragoman.types import Int32Array, Int64Array

__all__ = ["EditStep", "Edits"]


class EditStep(IntEnum):
    """What becomes of a word; the values are those of the native core."""

    MATCH = 0
    SUBSTITUTED = 1
    EXCESS = 2
    """A word of the output without a reference word."""
    DROPPED = 3
    """A reference word without a word of the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """How outputs become their nearest references: block shifts first, then word by word.

    The steps of output i are `offsets[i]` to `offsets[i + 1]` (half-open), in the order of the reference.
    """

    references: Int32Array
    """The nearest reference of each output, among those of its sentence; the first of equally near ones."""
    n_shifts: Int32Array
    """Block shifts of each output."""
    offsets: Int64Array
    steps: Int32Array
    """An `EditStep` each."""
    words: Int32Array
    """The output's word of each step as its place in `vocabulary`; -1 for dropped words."""
    reference_words: Int32Array
    """The reference's word; -1 for excess words."""
    is_shifted: Int32Array
    """1 if the output's word was in a shifted block."""
    vocabulary: tuple[str, ...]

    def counts(self) -> Int64Array:
        """TER's number of edits of each output: shifts and steps other than matches."""
        wrong = offsets_of(self.steps != EditStep.MATCH)
        return wrong[self.offsets[1:]] - wrong[self.offsets[:-1]] + self.n_shifts
