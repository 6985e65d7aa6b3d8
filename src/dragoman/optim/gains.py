"""Gains of candidates on the scale of model scores, where margin learners weigh one against the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.metric import Bleu, External, Metric, SentenceBleu, Ter
from dragoman.pool import Shard, sentence_gains
from dragoman.pool.shard import UNKNOWN_LENGTH
from dragoman.types import Float64Array

__all__ = ["ORDINARY_LENGTH", "list_lengths", "scaled_gains", "typical_range"]

ORDINARY_LENGTH = 20.0
"""Words of a sentence about which nothing is known."""


def list_lengths(metric: Metric, shard: Shard) -> Float64Array:
    """The source words of each sentence; where unknown, the reference's or the candidates' words.

    The second is known to BLEU and TER; the third is the mean over the list, or an ordinary length without text.
    """
    lengths = shard.source_lengths.astype(np.float64)
    unknown = shard.source_lengths == UNKNOWN_LENGTH
    if not unknown.any():
        return lengths
    counts = np.diff(shard.sentences)
    if isinstance(metric, Bleu | Ter):
        words = shard.stats[:, 1]
    elif len(shard.tokens):
        words = np.diff(shard.token_rows).astype(np.float64)
    else:
        words = np.full(shard.n_candidates, ORDINARY_LENGTH)
    sums = np.bincount(shard.sentence_of_each(), weights=words, minlength=shard.n_sentences)
    means = sums / np.maximum(counts, 1)
    return np.where(unknown, means, lengths)


def typical_range(metric: Metric, shards: Sequence[Shard]) -> float:
    """1, but for an external metric, whose scale nobody knows, the mean range of gains within a sentence."""
    if not isinstance(metric, External):
        return 1.0
    ranges: list[Float64Array] = []
    for shard in shards:
        gains = sentence_gains(metric, shard.stats)
        begins = shard.sentences[:-1][np.diff(shard.sentences) > 1]
        if len(begins):
            # A sentence of one candidate may follow; it belongs to none of the ranges.
            ends = shard.sentences[1:][np.diff(shard.sentences) > 1]
            edges = np.stack([begins, ends], axis=1).ravel()
            padded = np.append(gains, gains[-1])
            ranges.append((np.maximum.reduceat(padded, edges) - np.minimum.reduceat(padded, edges))[::2])
    mean = float(np.concatenate(ranges).mean()) if ranges else 0.0
    return mean if mean > 0 else 1.0


def scaled_gains(
    metric: Metric, shard: Shard, *, scale: float, by_length: bool, sentence_bleu: SentenceBleu | None = None
) -> Float64Array:
    """`scale` times the gain of each candidate alone, times the words of its sentence if `by_length`."""
    gains = scale * sentence_gains(metric, shard.stats, sentence_bleu=sentence_bleu)
    if by_length:
        gains *= np.repeat(list_lengths(metric, shard), np.diff(shard.sentences))
    return gains
