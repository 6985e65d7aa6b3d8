"""Oracle derivations: those closest to the references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman import _core
from dragoman.errors import MismatchError
from dragoman.forest.forest import Forest
from dragoman.metric import References
from dragoman.types import Int32Array

__all__ = ["Oracle", "oracles"]

_IN_NO_FOREST = -(1 << 30)


@dataclass(frozen=True, slots=True)
class Oracle:
    """The derivation with the highest BLEU+1 found; no edges if the forest has no derivation."""

    gain: float
    edges: Int32Array


def oracles(
    forests: Sequence[Forest],
    references: Sequence[Sequence[str]],
    *,
    order: int = 4,
    beam: int | None = 16,
    n_threads: int = 1,
) -> list[Oracle]:
    """For each forest, the derivation with the highest BLEU+1 (Lin and Och 2004) against its references.

    Each node keeps the `beam` best partial translations; None keeps all, which makes the search exact.
    """
    if len(forests) != len(references):
        raise MismatchError(f"{len(forests)} forests but references for {len(references)} sentences")
    refs = References.of(
        [[_ids(forest, line) for line in lines] for forest, lines in zip(forests, references, strict=True)]
    )
    gains, offsets, edges = _core.forest_oracles(
        [forest.core for forest in forests],
        refs.ref_offsets,
        refs.segments.offsets,
        refs.segments.ids,
        order,
        0 if beam is None else beam,
        n_threads,
    )
    return [
        Oracle(float(gain), edges[begin:end]) for gain, begin, end in zip(gains, offsets[:-1], offsets[1:], strict=True)
    ]


def _ids(forest: Forest, line: str) -> list[int]:
    """Word ids as in the forest; words that it cannot have get an id that it does not use."""
    return [
        forest.vocab.id(word) if word in forest.vocab else _IN_NO_FOREST
        for word in line.replace("\t", " ").split(" ")
        if word
    ]
