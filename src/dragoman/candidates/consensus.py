"""Candidates as references of each other: posteriors of lists, expected gains, minimum-Bayes-risk choice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dragoman.candidates.choose import Choice, best_by, model_totals
from dragoman.candidates.measure import compact_words, texts_of
from dragoman.candidates.pool import Pool
from dragoman.candidates.shard import Shard
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Metric, MetricWords, Segments
from dragoman.types import Float64Array

__all__ = ["expected_gains", "mbr", "posteriors"]


def posteriors(
    pool: Pool,
    weights: Weights | None = None,
    *,
    scale: float = 1.0,
    use_totals: bool = False,
    scores: Sequence[Float64Array] | None = None,
) -> list[Float64Array]:
    """The probability of each candidate within its list, one array per shard.

    Proportional to exp(scale · w·f) with weights, to exp(scale · total) with the decoder's totals, to exp(scale ·
    score) with scores, else uniform: a text that a list has twice counts twice, as samples should. Raises InputError
    where a candidate has no total.
    """
    if not (np.isfinite(scale) and scale >= 0):
        raise InputError(f"the scale of a posterior must be a number of at least 0, not {scale}")
    if scores is not None:
        scores = list(scores)
    elif weights is not None:
        scores = model_totals(pool, weights)
    elif use_totals:
        scores = [shard.totals for shard in pool.shards]
        if any(np.isnan(each).any() for each in scores):
            raise InputError("a candidate has no total score, which the posterior is asked to be made from")
    else:
        scores = [np.zeros(shard.n_candidates) for shard in pool.shards]
    if not all(np.isfinite(each).all() for each in scores):
        raise InputError("the score of a candidate is not finite, so it has no probability; are the weights too large?")
    return [_softmax(each, scale, shard) for shard, each in zip(pool.shards, scores, strict=True)]


def _softmax(scores: Float64Array, scale: float, shard: Shard) -> Float64Array:
    """Probabilities within each list; a difference that is too large for a number makes the worse one impossible."""
    probabilities = np.empty_like(scores)
    for begin, end in pairwise(shard.sentences.tolist()):
        if begin < end:
            with np.errstate(over="ignore"):
                shifted = np.exp(scale * (scores[begin:end] - scores[begin:end].max()))
            probabilities[begin:end] = shifted / shifted.sum()
    return probabilities


def expected_gains(
    pool: Pool, metric: Metric, posterior: Sequence[Float64Array], *, n_threads: int = 1
) -> list[Float64Array]:
    """For each candidate its expected sentence-level gain if the reference is drawn from its list, per shard.

    BLEU is sacrebleu's sentence BLEU; the gain of TER is 1 - TER.
    """
    gains = []
    for shard, mass in zip(pool.shards, posterior, strict=True):
        if metric.reads_text:
            found = metric.expected_text_gains(texts_of(pool, shard), shard.sentences, mass, n_threads=n_threads)
        else:
            ids, spelling = compact_words(pool.words, shard.tokens)
            words = MetricWords(spelling.words)
            hyps = words.cut(Segments(offsets=np.ascontiguousarray(shard.token_rows), ids=ids))
            lists = np.ascontiguousarray(shard.sentences)
            found = metric.expected_gains(hyps, lists, mass, spelling=words.spelling, n_threads=n_threads)
        gains.append(found)
    return gains


def mbr(
    pool: Pool,
    metric: Metric,
    weights: Weights | None = None,
    *,
    scale: float = 1.0,
    use_totals: bool = False,
    n_threads: int = 1,
) -> Choice:
    """The candidate of each list with the highest expected gain (Kumar and Byrne 2004), the first on ties."""
    posterior = posteriors(pool, weights, scale=scale, use_totals=use_totals)
    return best_by(pool, expected_gains(pool, metric, posterior, n_threads=n_threads))
