"""What the difference between methods is worth: their choices for held-out sentences, tested sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.analysis.resampling.crossval import MethodComparison, best_method, deal_sentences
from dragoman.analysis.rows import START
from dragoman.analysis.significance import (
    Interval,
    confidence_interval,
    holm,
    paired_randomisation,
    resampled_totals,
    shuffled_totals,
)
from dragoman.candidates import Pool, metric_of
from dragoman.metric import Metric
from dragoman.types import Float64Array, Int64Array

__all__ = ["HeldOutTest", "held_out_tests"]

_LEAST = 1e-9
"""A gain below this is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutTest:
    """A method over all sentences, each translated by weights that have not seen it.

    `p_best` is the p-value of the difference to the best method, `p_start` of that to the start, both with Holm's
    correction for the number of methods; None where there is none to compare. `holds` is the share of the gain on what
    was learned from that held-out sentences keep.
    """

    method: str
    score: float
    gain: float
    interval: Interval
    p_best: float | None
    p_start: float | None
    holds: float | None


def held_out_tests(
    pool: Pool, rows: Sequence[MethodComparison], *, n_draws: int = 1000, seed: int = 1, fold_seed: int
) -> list[HeldOutTest]:
    """Score, interval and tests of each method that worked; `fold_seed` is that of the cross-validation.

    Empty if a row does not say what it chose (runs of former versions).
    """
    good = [row for row in rows if row.failure is None]
    if not all(fold.chosen for row in good for fold in row.folds):
        return []
    metric = metric_of(pool)
    n_folds = len(good[0].folds)
    folds = deal_sentences(pool, n_folds, seed=fold_seed)
    stats = {row.method: _held_out_statistics(pool, folds, row) for row in good}
    best = best_method(list(rows))
    totals = {method: each.sum(axis=0) for method, each in stats.items()}
    learned = {row.method: row.train_gain for row in good}
    p_best, p_start = (
        holm({m: _p(metric, stats[other], each, n_draws, seed) for m, each in stats.items() if m != other})
        for other in (best, START)
    )
    tests = []
    for method, each in stats.items():
        scores = metric.score_of(resampled_totals(each[None], n_draws, seed)[:, 0])
        gain = float(metric.gain(totals[method]))
        holds = None
        if method != START and learned[method] - learned[START] > _LEAST:
            holds = (gain - float(metric.gain(totals[START]))) / (learned[method] - learned[START])
        tests.append(
            HeldOutTest(
                method=method,
                score=float(metric.score_of(totals[method])),
                gain=gain,
                interval=confidence_interval(np.atleast_1d(scores)),
                p_best=p_best.get(method),
                p_start=p_start.get(method),
                holds=holds,
            )
        )
    return tests


def _held_out_statistics(pool: Pool, folds: Sequence[Int64Array], row: MethodComparison) -> Float64Array:
    """Statistics of what was chosen for each sentence, [n_sentences, n_stats], fold by fold."""
    parts = []
    for ids, fold in zip(folds, row.folds, strict=True):
        begin = 0
        for shard in pool.of_sentences(ids).shards:
            end = begin + shard.n_sentences
            parts.append(shard.stats[shard.sentences[:-1] + np.array(fold.chosen[begin:end], dtype=np.int64)])
            begin = end
    return np.concatenate(parts)


def _p(metric: Metric, ours: Float64Array, theirs: Float64Array, n_draws: int, seed: int) -> float:
    first, second = shuffled_totals(ours, theirs[None], n_draws, seed)
    difference = abs(float(metric.score_of(ours.sum(axis=0))) - float(metric.score_of(theirs.sum(axis=0))))
    return paired_randomisation(metric.score_of(second[:, 0]), metric.score_of(first[:, 0]), difference)
