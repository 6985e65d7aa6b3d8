"""Sentence scores and perplexity."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dragoman.errors import InputError
from dragoman.types import Float64Array, Int32Array

__all__ = ["Perplexity", "SentenceScores"]


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Arrays with one entry per sentence. Natural logs; `</s>` counts as a token if it was scored."""

    logprob: Float64Array
    unknown_logprob: Float64Array
    """The part of `logprob` due to out-of-vocabulary words."""
    n_tokens: Int32Array
    n_unknown: Int32Array

    def __len__(self) -> int:
        return len(self.logprob)


@dataclass(frozen=True, slots=True, kw_only=True)
class Perplexity:
    """Perplexity of a text, with and without out-of-vocabulary words."""

    perplexity: float
    perplexity_without_oov: float | None
    """Perplexity over in-vocabulary tokens only; None if there are none."""
    log10_total: float
    tokens: int
    oov: int
    sentences: int

    @classmethod
    def of(cls, parts: Iterable[SentenceScores]) -> Perplexity:
        """Corpus perplexity over all sentences. Raises InputError when there are no tokens."""
        total = unknown = 0.0
        tokens = oov = sentences = 0
        for part in parts:
            total += float(part.logprob.sum())
            unknown += float(part.unknown_logprob.sum())
            tokens += int(part.n_tokens.sum())
            oov += int(part.n_unknown.sum())
            sentences += len(part)
        if not tokens:
            raise InputError("there is no text to score")
        return cls(
            perplexity=_perplexity(total, tokens),
            perplexity_without_oov=_perplexity(total - unknown, tokens - oov) if tokens > oov else None,
            log10_total=total / math.log(10),
            tokens=tokens,
            oov=oov,
            sentences=sentences,
        )


def _perplexity(logprob: float, n_tokens: int) -> float:
    return math.exp(-logprob / n_tokens)
