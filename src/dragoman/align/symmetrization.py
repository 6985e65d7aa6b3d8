"""From two directed alignments to one."""

from __future__ import annotations

import enum

from dragoman._core import symmetrize_links
from dragoman.align.links import Alignment
from dragoman.errors import MismatchError

__all__ = ["Symmetrization", "symmetrize"]


class Symmetrization(enum.StrEnum):
    """How links of the two directions are combined.

    All but union start from the intersection and visit the other links in the order (source, target), again and again
    while something changes. A link is adjacent to another if it is one of the eight around it.
    """

    INTERSECTION = "intersection"
    """Links of both directions."""
    UNION = "union"
    """Links of either direction."""
    GROW_DIAG = "grow-diag"
    """Adds adjacent links of the union while at least one of their words has no link (Koehn et al. 2003)."""
    GROW_DIAG_AND = "grow-diag-and"
    """Adds adjacent links of the union while both of their words have no link."""
    GROW_DIAG_FINAL = "grow-diag-final"
    """grow-diag, then links of the forward and then of the reverse direction with a word that has none."""
    GROW_DIAG_FINAL_AND = "grow-diag-final-and"
    """grow-diag, then links of the forward and then of the reverse direction whose words both have none."""
    REFINED = "refined"
    """Och and Ney (2003): adds links of the union whose words both have none, or that have a horizontal or vertical
    neighbour and leave no link around them with neighbours of both kinds."""


def symmetrize(
    forward: Alignment, reverse: Alignment, symmetrization: Symmetrization, *, n_threads: int = 1
) -> Alignment:
    """Combine two alignments of the same pairs, both with links (source, target). One thread equals many."""
    if len(forward) != len(reverse):
        raise MismatchError(
            f"both directions must align the same sentence pairs, but one has {len(forward)}, the other {len(reverse)}"
        )
    return Alignment(
        *symmetrize_links(
            forward.offsets, forward.links, reverse.offsets, reverse.links, symmetrization.value, n_threads
        )
    )
