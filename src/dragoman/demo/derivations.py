"""Translations taken apart, for the demo's page."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.report import Cell, Figure, Note, Rows, Section, alignment_matrix
from dragoman.system import Contribution, Explanation, System
from dragoman.text import split_tokens

__all__ = ["derivation_sections"]

_N_SHOWN = 3
_N_FEATURES = 8


def derivation_sections(system: System, sources: Sequence[str], outputs: Sequence[str]) -> list[Section]:
    """A few translations with their phrases, word links and what the features contributed."""
    chosen = [
        source
        for source, output in zip(sources, outputs, strict=True)
        if 9 <= len(split_tokens(source)) <= 14 and output
    ][:_N_SHOWN]
    explained = [found for source in chosen if (found := system.explain(source)) is not None]
    return [Section(title=f"Why “{found.text}”?", parts=_parts(found)) for found in explained]


def _parts(found: Explanation) -> list[Rows | Figure | Note]:
    pieces: list[list[Cell | str]] = [
        [piece.source, piece.target, Cell(f"{piece.score:+.3f}", numeric=True), _main_reason(piece.features)]
        for piece in found.pieces
        if piece.positions or piece.source
    ]
    features: list[list[Cell | str]] = [
        [
            item.name,
            Cell(f"{item.value:.3f}", numeric=True),
            Cell(f"{item.weight:.4f}", numeric=True),
            Cell(f"{item.contribution:+.3f}", numeric=True),
        ]
        for item in found.features[:_N_FEATURES]
    ]
    matrix = alignment_matrix(
        split_tokens(found.source),
        split_tokens(found.text),
        list(found.alignment),
        title="Word links of the derivation",
    )
    return [
        Rows(header=["source phrase", "translation", "score", "most of it"], rows=pieces),
        Figure(svg=matrix, caption=f"{found.source} (model score {found.score:.3f})"),
        Rows(header=["feature", "value", "weight", "contribution"], rows=features),
    ]


def _main_reason(features: Sequence[Contribution]) -> str:
    return ", ".join(f"{item.name} {item.contribution:+.2f}" for item in features[:2])
