"""Scoring of plain text: lines of hypotheses, and one sequence of lines per reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dragoman.errors import InputError, MismatchError
from dragoman.types import sentences_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dragoman.metric.base import Metric

__all__ = ["TextScore", "n_references", "output_statistics", "references_by_sentence", "score_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextScore:
    """A corpus score in [0, 1] with its signature."""

    score: float
    signature: str


def score_text(
    metric: Metric,
    hyps: Sequence[str],
    refs: Sequence[str] | Sequence[Sequence[str | None]],
    *,
    n_threads: int = 1,
) -> TextScore:
    """The corpus score of `hyps` against one list of lines, or one per reference; a None is a missing reference."""
    sentences = references_by_sentence(_streams(refs), len(sentences_of(hyps, "hyps")))
    total = output_statistics(metric, [hyps], sentences, n_threads=n_threads)[0].sum(axis=0)
    return TextScore(score=float(metric.score_of(total)), signature=metric.signature(n_references(sentences)))


def _streams(refs: Sequence[str] | Sequence[Sequence[str | None]]) -> list[Sequence[str | None]]:
    """One sequence of lines per reference."""
    given = [*sentences_of(refs, "refs")]
    lines = [each for each in given if isinstance(each, str)]
    if not lines:
        return [each for each in given if not isinstance(each, str)]
    if len(lines) < len(given):
        raise InputError("refs has lines beside lists of lines; give one list of lines, or one per reference")
    return [lines]


def output_statistics(
    metric: Metric, outputs: Sequence[Sequence[str]], refs: Sequence[Sequence[str]], *, n_threads: int = 1
) -> NDArray[np.float64]:
    """Statistics of several translations of the same sentences, [output, sentence, n_stats].

    `refs` has the references of each sentence; they are processed once for all outputs.
    """
    for output in outputs:
        if len(output) != len(refs):
            raise MismatchError(
                f"a translation has {len(output)} lines but there are references of {len(refs)} sentences"
            )
    lines = [line for candidates in zip(*outputs, strict=True) for line in candidates]
    sentence = np.repeat(np.arange(len(refs), dtype=np.int32), len(outputs))
    statistics = metric.text_statistics(lines, refs, sentence=sentence, n_threads=n_threads)
    return np.ascontiguousarray(
        statistics.reshape(len(refs), len(outputs), metric.n_stats).transpose(1, 0, 2), dtype=np.float64
    )


def references_by_sentence(refs: Sequence[Sequence[str | None]], n_sentences: int) -> list[list[str]]:
    """From one sequence of lines per reference to the references of each sentence."""
    if not refs:
        raise InputError("no references: give at least one")
    for number, lines in enumerate(refs, start=1):
        if len(lines) != n_sentences:
            raise MismatchError(f"reference {number} has {len(lines)} lines but the hypotheses have {n_sentences}")
    sentences = [[line for line in lines if line is not None] for lines in zip(*refs, strict=True)]
    for number, sentence in enumerate(sentences, start=1):
        if not sentence:
            raise InputError("a sentence has no reference; give it at least one", line=number)
    return sentences


def n_references(refs: Sequence[Sequence[str]]) -> int | None:
    """Number of references per sentence, or None if it varies."""
    counts = {len(sentence) for sentence in refs}
    return counts.pop() if len(counts) == 1 else None
