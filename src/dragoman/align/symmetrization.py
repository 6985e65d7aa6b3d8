"""Symmetrisation of two directional alignments."""

from __future__ import annotations

import enum

from dragoman._core import symmetrize_links
from dragoman.align.links import Alignment
from dragoman.errors import MismatchError
from dragoman.settings import takes_text

__all__ = ["Symmetrization", "symmetrize"]


class Symmetrization(enum.StrEnum):
    """How the links of the two directions are combined.

    All but `union` start from the intersection and visit the other links in the order (source, target), repeatedly
    until nothing changes. Adjacent links are the eight neighbours of a link.
    """

    INTERSECTION = "intersection"
    """Links of both directions."""
    UNION = "union"
    """Links of either direction."""
    GROW_DIAG = "grow-diag"
    """Adds adjacent links of the union that have at least one unaligned word (Koehn et al. 2003)."""
    GROW_DIAG_AND = "grow-diag-and"
    """Adds adjacent links of the union whose words are both unaligned."""
    GROW_DIAG_FINAL = "grow-diag-final"
    """grow-diag, then forward and then reverse links with at least one unaligned word."""
    GROW_DIAG_FINAL_AND = "grow-diag-final-and"
    """grow-diag, then forward and then reverse links whose words are both unaligned."""
    REFINED = "refined"
    """Och and Ney (2003): adds links of the union whose words are both unaligned, or that have a horizontal or vertical
    neighbour and leave no adjacent link with neighbours of both kinds."""


@takes_text
def symmetrize(
    forward: Alignment, reverse: Alignment, symmetrization: Symmetrization, *, n_threads: int = 1
) -> Alignment:
    """Symmetrise two alignments of the same pairs, both as (source, target); deterministic for any `n_threads`."""
    if len(forward) != len(reverse):
        raise MismatchError(
            f"both directions must have the same number of sentence pairs, not {len(forward)} and {len(reverse)}"
        )
    return Alignment(
        *symmetrize_links(
            forward.offsets, forward.links, reverse.offsets, reverse.links, symmetrization.value, n_threads
        )
    )
