"""One metric's column of a comparison: scores of rows over runs, with tests against the best and the baseline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.evaluate.measure import Measured
from dragoman.evaluate.rows import PairedTest, RowScore
from dragoman.metric import Draws
from dragoman.settings import takes_text

__all__ = ["LEVEL", "column_signature", "metric_column"]

LEVEL = 0.05
"""Significance level: a row with at least this p-value against the best is not significantly worse."""


@takes_text
def metric_column(
    measured: Measured,
    groups: Sequence[tuple[str, ...]],
    baselines: Sequence[int | None],
    test: PairedTest,
    *,
    n_bootstrap: int,
    n_trials: int,
    seed: int,
) -> list[RowScore]:
    """Scores of the rows of a corpus by one metric, each compared with the best of its group."""
    scores = measured.run_scores()
    means = [float(values.mean()) for values in scores]
    bests = _best_of_group(means, groups, higher_is_better=measured.metric.higher_is_better)
    resampled = measured.resampled(n_bootstrap, seed) if n_bootstrap and measured.n_sentences else None
    tests = {
        first: _tests(measured, first, resampled, n_trials if measured.n_sentences else 0, seed)
        for first in {*bests, *(place for place in baselines if place is not None)}
    }
    intervals = measured.intervals(resampled) if resampled is not None else [None] * len(scores)
    differs = {best: measured.differs(best) for best in set(bests)}
    return [
        RowScore(
            mean=means[i],
            std=float(values.std(ddof=1)) if len(values) > 1 else None,
            run_scores=tuple(map(float, values)),
            interval=intervals[i],
            p_best=tests[best][i],
            p_baseline={} if place is None else tests[place][i],
            best=not differs[best][i],
            not_worse=not differs[best][i] or tests[best][i].get(test, 0.0) >= LEVEL,
        )
        for i, (values, best, place) in enumerate(zip(scores, bests, baselines, strict=True))
    ]


def _best_of_group(means: Sequence[float], groups: Sequence[tuple[str, ...]], *, higher_is_better: bool) -> list[int]:
    """For every row, the index of the best row of its group; the first on ties."""
    choose = max if higher_is_better else min
    best = {
        group: choose((i for i, other in enumerate(groups) if other == group), key=means.__getitem__)
        for group in set(groups)
    }
    return [best[group] for group in groups]


def _tests(
    measured: Measured, first: int, resampled: NDArray[np.float64] | None, n_trials: int, seed: int
) -> list[dict[PairedTest, float]]:
    """P-values of every row against `first`; empty for `first` itself."""
    found: list[dict[PairedTest, float]] = [{} for _ in measured.statistics]
    several = len(found) > 1
    columns = {
        PairedTest.RANDOMISATION: measured.p_randomisation(first, n_trials, seed) if n_trials and several else (),
        PairedTest.BOOTSTRAP: measured.p_bootstrap(first, resampled) if resampled is not None else (),
    }
    for test, values in columns.items():
        for i, value in enumerate(values):
            if value is not None:
                found[i][test] = value
    return found


def column_signature(measured: Measured, several: bool, *, n_bootstrap: int, n_trials: int, seed: int) -> str:
    """The metric's signature including resamples and trials; there are no trials with one row."""
    draws = Draws(n_bootstrap=n_bootstrap, n_trials=n_trials if several else 0, seed=seed)
    return measured.metric.signature(measured.n_refs, draws)
