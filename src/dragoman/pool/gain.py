"""Gains of a metric where optimisers need them: per candidate, and inside native sweeps."""

from __future__ import annotations

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric import Bleu, Chrf, External, Metric, Mix, SentenceBleu, Ter
from dragoman.pool.pool import Pool
from dragoman.types import Float64Array

__all__ = ["metric_of", "scorer_of", "sentence_gains"]


def metric_of(pool: Pool) -> Metric:
    """The pool's metric. Raises InputError when it has none."""
    if pool.metric is None:
        raise InputError("the pool has no metric yet: give references, or name a score of the candidates")
    return pool.metric


def scorer_of(metric: Metric) -> _core.Scorer:
    """The metric's gain for native kernels. BLEU is unsmoothed, whatever smoothing the metric reports with."""
    match metric:
        case Bleu():
            return _core.bleu_scorer(metric.max_order)
        case Ter():
            return _core.ter_scorer()
        case Chrf():
            return _core.chrf_scorer(metric.char_order + metric.word_order, float(metric.beta))
        case External(higher_is_better=True):
            return _core.mean_scorer()
        case External():
            return _core.mix_scorer(1.0, [-1.0], [_core.mean_scorer()])
        case Mix():
            size = sum(abs(weight) for weight, _ in metric.terms)
            shares = [abs(weight) / size for weight, _ in metric.terms]
            return _core.mix_scorer(0.0, shares, [scorer_of(part) for _, part in metric.terms])
        case _:
            raise InputError(f"{metric.name} cannot be optimised: it has no native form")


def sentence_gains(metric: Metric, stats: Float64Array, *, sentence_bleu: SentenceBleu | None = None) -> Float64Array:
    """The gain of each candidate alone, [n, n_stats] -> [n]; for BLEU smoothed, BLEU+1 unless given."""
    match metric:
        case Bleu():
            gains = (sentence_bleu or SentenceBleu()).score(stats)
        case Mix():
            size = sum(abs(weight) for weight, _ in metric.terms)
            gains = np.zeros(len(stats))
            begin = 0
            for weight, part in metric.terms:
                columns = stats[:, begin : begin + part.n_stats]
                gains += abs(weight) / size * sentence_gains(part, columns, sentence_bleu=sentence_bleu)
                begin += part.n_stats
        case _:
            gains = metric.gain(stats)
    return np.ascontiguousarray(gains, dtype=np.float64)
