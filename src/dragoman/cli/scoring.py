"""Options of commands that compare text with references."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.metric import Tokenizer

if TYPE_CHECKING:
    from dragoman._core import WordTable

__all__ = [
    "Bootstrap",
    "Lowercase",
    "Metrics",
    "Tokenize",
    "Trials",
    "warn_of_empty_references",
    "warn_of_raw_text",
    "warn_of_subwords",
]

_metric = partial(typer.Option, rich_help_panel="Metric")
Tokenize = Annotated[Tokenizer, _metric("--tokenize", help="BLEU's tokeniser, for text that is not tokenised.")]
Lowercase = Annotated[bool, _metric("--lowercase", help="Ignore case in all metrics (TER always does).")]

Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", help="bleu, chrf, chrf++, ter, wer, ribes, or a mix such as (ter-bleu)/2; repeat."),
]
Bootstrap = Annotated[int, typer.Option(min=0, help="Resamples for intervals and the paired bootstrap; 0: none.")]
Trials = Annotated[int, typer.Option(min=0, help="Shuffles of the approximate randomisation; 0: none.")]

_LOOKED_AT = 2000
"""Lines of a reference that tell whether it is raw."""


def warn_of_empty_references(warn: Callable[[str], None], path: str, lines: Sequence[str]) -> None:
    """An empty line is an empty reference, which is rarely meant."""
    empty = [number for number, line in enumerate(lines, start=1) if not line.strip()]
    if empty:
        warn(f"{path}: {len(empty):,} of {len(lines):,} lines are empty, the first is line {empty[0]}")


def warn_of_raw_text(warn: Callable[[str], None], reference: Sequence[str]) -> None:
    """BLEU counts what stands between spaces; words with punctuation attached are rarely meant."""
    from dragoman.corpus.tokens import guess_language, look_at

    sample = reference[:_LOOKED_AT]
    look = look_at(sample)
    if look.raw:
        fit = Tokenizer.of_language(guess_language(sample))
        warn(f"the reference is not tokenised ({look}), and BLEU takes it as it is; add --tokenize {fit}")


def warn_of_subwords(warn: Callable[[str], None], words: WordTable, references: Collection[str], what: str) -> None:
    """Subwords match nothing in references of words."""
    from dragoman.candidates import subword_mark

    if mark := subword_mark(words, references):
        warn(
            f"{what} subwords, marked {mark}, and the references have none, so that hardly anything matches; "
            "join them first (fairseq: --remove-bpe, sentencepiece: spm_decode)"
        )
