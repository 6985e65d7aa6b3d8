"""Options of commands that compare text with references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from dragoman.metric import Tokenizer

__all__ = ["Lowercase", "Tokenize", "warn_of_empty_references"]

_METRIC = "Metric"
Tokenize = Annotated[
    Tokenizer,
    typer.Option("--tokenize", help="BLEU's tokeniser, for text that is not tokenised.", rich_help_panel=_METRIC),
]
Lowercase = Annotated[
    bool,
    typer.Option("--lowercase", help="Ignore case in BLEU and chrF (TER always does).", rich_help_panel=_METRIC),
]


def warn_of_empty_references(say: Callable[[str], None], path: str, lines: Sequence[str]) -> None:
    """An empty line is an empty reference, which is rarely meant."""
    empty = [number for number, line in enumerate(lines, start=1) if not line.strip()]
    if empty:
        say(f"warning: {path}: {len(empty):,} of {len(lines):,} lines are empty, the first is line {empty[0]}")
