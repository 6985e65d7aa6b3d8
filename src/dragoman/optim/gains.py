"""Gains of candidates on the scale of model scores, where margin learners weigh one against the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.candidates import Shard
from dragoman.candidates.lazy import light_shards
from dragoman.candidates.shard import UNKNOWN_LENGTH
from dragoman.metric import Metric, SentenceBleu
from dragoman.types import Float64Array

__all__ = ["ORDINARY_LENGTH", "gain_scale", "list_lengths", "scaled_gains", "typical_range"]

ORDINARY_LENGTH = 20.0
"""Words of a sentence about which nothing is known."""


def list_lengths(metric: Metric, shard: Shard) -> Float64Array:
    """The source words of each sentence; where unknown, the reference's or the candidates' words.

    Some metrics know the second; the third is the mean over the list, or an ordinary length without text.
    """
    lengths = shard.source_lengths.astype(np.float64)
    unknown = shard.source_lengths == UNKNOWN_LENGTH
    if not unknown.any():
        return lengths
    counts = np.diff(shard.sentences)
    known = metric.reference_lengths(shard.stats)
    if known is not None:
        words = known
    elif len(shard.tokens):
        words = np.diff(shard.token_rows).astype(np.float64)
    else:
        words = np.full(shard.n_candidates, ORDINARY_LENGTH)
    sums = np.bincount(shard.sentence_of_each(), weights=words, minlength=shard.n_sentences)
    means = sums / np.maximum(counts, 1)
    return np.where(unknown, means, lengths)


def typical_range(metric: Metric, shards: Sequence[Shard]) -> float:
    """1, but for an external metric, whose scale nobody knows, the mean range of gains within a sentence."""
    total, n_lists = _ranges(metric, shards)
    return total / n_lists


def gain_scale(metric: Metric, shards: Sequence[Shard]) -> float:
    """What to multiply gains with so that lists span 1 on average: 1 where the metric's scale is known.

    Step sizes and costs assume gains like BLEU's; nobody knows the scale of a number that the user brings.
    """
    total, n_lists = _ranges(metric, shards)
    return n_lists / total


def _ranges(metric: Metric, shards: Sequence[Shard]) -> tuple[float, int]:
    """The summed range of gains within a sentence, and the number of sentences with several candidates."""
    total, n_lists = 0.0, 0
    for shard in light_shards(shards) if not metric.has_known_scale else ():
        begins = shard.sentences[:-1][np.diff(shard.sentences) > 0]
        if len(begins):
            gains = metric.segment_gains(shard.stats)
            total += float((np.maximum.reduceat(gains, begins) - np.minimum.reduceat(gains, begins)).sum())
            n_lists += int((np.diff(shard.sentences) > 1).sum())
    return (total, n_lists) if total > 0 else (1.0, 1)


def scaled_gains(
    metric: Metric, shard: Shard, *, scale: float, by_length: bool, sentence_bleu: SentenceBleu | None = None
) -> Float64Array:
    """`scale` times the gain of each candidate alone, times the words of its sentence if `by_length`."""
    gains = scale * metric.segment_gains(shard.stats, sentence_bleu)
    if by_length:
        gains *= np.repeat(list_lengths(metric, shard), np.diff(shard.sentences))
    return gains
