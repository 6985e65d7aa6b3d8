"""One metric's column of a comparison: scores of rows over runs, with tests against the best and the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman.analysis.measure import Compared, Measured
from dragoman.analysis.rows import PairedTest, RowKey, RowScore, Within
from dragoman.analysis.significance import holm, is_significant
from dragoman.metric import Draws
from dragoman.settings import takes_text

__all__ = ["column_signature", "metric_column", "rivals"]


@takes_text
def rivals(keys: Sequence[RowKey], within: Within) -> list[list[int]]:
    """For every row the places of those that may be the best of its group; a start comes last, so it wins no tie."""
    places = sorted(range(len(keys)), key=lambda i: keys[i].is_start)
    return [[i for i in places if key.competes(keys[i], within)] for key in keys]


@takes_text
def metric_column(
    measured: Compared,
    rivals: Sequence[Sequence[int]],
    baselines: Sequence[int | None],
    test: PairedTest,
    *,
    higher_is_better: bool,
    n_bootstrap: int,
    n_trials: int,
    seed: int,
) -> list[RowScore]:
    """Scores of the rows of a table by one metric, each compared with the best of its `rivals`."""
    scores = measured.run_scores()
    means = [float(values.mean()) for values in scores]
    choose = max if higher_is_better else min
    bests = [choose(places, key=means.__getitem__) for places in rivals]
    resampled = measured.resampled(n_bootstrap, seed) if n_bootstrap and measured.n_sentences else None
    tests = {
        first: _tests(measured, first, resampled, n_trials if measured.n_sentences else 0, seed)
        for first in {*bests, *(place for place in baselines if place is not None)}
    }
    intervals = measured.intervals(resampled) if resampled is not None else [None] * len(scores)
    differs = {best: measured.differs(best) for best in set(bests)}
    holm_best, holm_baseline = _corrected(tests, bests), _corrected(tests, baselines)
    return [
        RowScore(
            mean=means[i],
            std=float(values.std(ddof=1)) if len(values) > 1 else None,
            run_scores=tuple(map(float, values)),
            interval=intervals[i],
            p_best=tests[best][i],
            p_baseline={} if place is None else tests[place][i],
            holm_best=holm_best[i],
            holm_baseline=holm_baseline[i],
            best=not differs[best][i],
            not_worse=not differs[best][i] or (test in holm_best[i] and not is_significant(holm_best[i][test])),
        )
        for i, (values, best, place) in enumerate(zip(scores, bests, baselines, strict=True))
    ]


def _corrected(
    tests: Mapping[int, Sequence[Mapping[PairedTest, float]]], references: Sequence[int | None]
) -> list[dict[PairedTest, float]]:
    """The p-value of every row against its reference, corrected for all rows that have the same reference."""
    found: list[dict[PairedTest, float]] = [{} for _ in references]
    for reference in {place for place in references if place is not None}:
        for test in PairedTest:
            raw = {
                i: tests[reference][i][test]
                for i, place in enumerate(references)
                if place == reference and test in tests[reference][i]
            }
            for i, p_value in holm(raw).items():
                found[i][test] = p_value
    return found


def _tests(
    measured: Compared, first: int, resampled: NDArray[np.float64] | None, n_trials: int, seed: int
) -> list[dict[PairedTest, float]]:
    """P-values of every row against `first`; empty for `first` itself."""
    found: list[dict[PairedTest, float]] = [{} for _ in measured.differs(first)]
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
