"""Scores of several systems on one test set, each against the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman.errors import InputError
from dragoman.evaluate.measure import Measured, SystemOutput, measure
from dragoman.evaluate.significance import Interval
from dragoman.metric import Draws, Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MetricScore", "SystemScore", "compare_systems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScore:
    """One metric's verdict on one system, in [0, 1]."""

    metric: str
    score: float
    """Mean over the runs."""
    run_scores: tuple[float, ...]
    std: float | None
    """Sample standard deviation over runs (ddof=1); None for one run."""
    interval: Interval | None
    """95% bootstrap interval of the runs together; None unless asked for."""
    p_bootstrap: float | None
    """Paired bootstrap against the first system; None for that one."""
    p_randomisation: float | None
    """Paired approximate randomisation against the first system; None for that one."""
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScore:
    """All that was measured of a system."""

    name: str
    scores: tuple[MetricScore, ...]
    length_ratio: float
    """Words of the hypotheses per word of the closest references, mean over the runs."""


def compare_systems(
    systems: Sequence[SystemOutput],
    references: Sequence[Sequence[str | None]],
    metrics: Sequence[Metric],
    *,
    n_bootstrap: int = 1000,
    n_trials: int = 10000,
    seed: int = 12345,
    n_threads: int = 1,
) -> list[SystemScore]:
    """Scores systems against one sequence of lines per reference (None: "no reference for this sentence").

    The first system is the baseline of the paired tests. A test is left out with 0 resamples or trials. With several
    runs approximate randomisation shuffles over sentences and runs (Clark et al. 2011), while the bootstrap draws
    sentences, and looks at all runs of a sentence together.
    """
    if not systems or not all(system.runs for system in systems):
        raise InputError("nothing to score: give at least one system, each with at least one output")
    if not metrics:
        raise InputError("nothing to score by: give at least one metric")
    measured, ratios = measure(systems, references, metrics, n_threads=n_threads)
    columns = [
        _metric_scores(one, n_bootstrap=n_bootstrap, n_trials=n_trials if len(systems) > 1 else 0, seed=seed)
        for one in measured
    ]
    rows = zip(systems, zip(*columns, strict=True), ratios, strict=True)
    return [
        SystemScore(name=system.name, scores=scores, length_ratio=float(ratio.mean())) for system, scores, ratio in rows
    ]


def _metric_scores(measured: Measured, *, n_bootstrap: int, n_trials: int, seed: int) -> list[MetricScore]:
    """One metric over all systems."""
    n = len(measured.statistics)
    intervals: list[Interval | None] = [None] * n
    p_bootstrap: list[float | None] = [None] * n
    p_randomisation: list[float | None] = [None] * n
    if n_bootstrap and measured.n_sentences:
        resampled = measured.resampled(n_bootstrap, seed)
        intervals = [*measured.intervals(resampled)]
        p_bootstrap = measured.p_bootstrap(0, resampled)
    if n_trials and measured.n_sentences:
        p_randomisation = measured.p_randomisation(0, n_trials, seed)
    signature = measured.metric.signature(measured.n_refs, Draws(n_bootstrap=n_bootstrap, n_trials=n_trials, seed=seed))
    return [
        MetricScore(
            metric=measured.metric.name,
            score=float(scores.mean()),
            run_scores=tuple(map(float, scores)),
            std=float(scores.std(ddof=1)) if len(scores) > 1 else None,
            interval=intervals[i],
            p_bootstrap=p_bootstrap[i],
            p_randomisation=p_randomisation[i],
            signature=signature,
        )
        for i, scores in enumerate(measured.run_scores())
    ]
