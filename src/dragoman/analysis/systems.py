"""Scores of several systems on one test set, each compared with the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman.analysis.measure import Measured, SystemOutput, measure
from dragoman.analysis.significance import Interval, holm
from dragoman.errors import InputError
from dragoman.metric import BleuDetails, Draws, Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MetricScore", "SystemScore", "compare_systems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScore:
    """The score of one system by one metric, in [0, 1]."""

    metric: str
    score: float
    """Mean over the runs."""
    run_scores: tuple[float, ...]
    std: float | None
    """Sample standard deviation over runs (ddof=1); None for one run."""
    interval: Interval | None
    """95% bootstrap confidence interval over all runs; None unless requested."""
    p_bootstrap: float | None
    """p-value of the paired bootstrap against the first system; None for the first."""
    p_randomisation: float | None
    """p-value of paired approximate randomisation against the first system; None for the first."""
    holm_bootstrap: float | None
    """`p_bootstrap`, corrected for the number of systems that are tested against the first."""
    holm_randomisation: float | None
    """`p_randomisation`, corrected likewise."""
    signature: str
    details: BleuDetails | None
    """BLEU's precisions, brevity penalty and lengths, mean over the runs; None for other metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScore:
    """All scores of a system."""

    name: str
    n_distinct: int
    """Number of different outputs among its runs."""
    scores: tuple[MetricScore, ...]
    length_ratio: float
    """Hypothesis length over closest reference length in words, mean over the runs."""


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

    The first system is the baseline of the paired tests. A test with 0 resamples or trials is skipped. Both tests are
    over sentences and take a sentence with all its runs; how far runs differ is told by `std` and `n_distinct`.
    """
    if not systems or not all(system.runs for system in systems):
        raise InputError("no system given; give at least one, each with at least one output")
    if not metrics:
        raise InputError("no metric given; give at least one")
    measured, ratios = measure(systems, references, metrics, n_threads=n_threads)
    columns = [
        _metric_scores(one, n_bootstrap=n_bootstrap, n_trials=n_trials if len(systems) > 1 else 0, seed=seed)
        for one in measured
    ]
    rows = zip(systems, zip(*columns, strict=True), ratios, strict=True)
    return [
        SystemScore(name=system.name, n_distinct=system.n_distinct, scores=scores, length_ratio=float(ratio.mean()))
        for system, scores, ratio in rows
    ]


def _metric_scores(measured: Measured, *, n_bootstrap: int, n_trials: int, seed: int) -> list[MetricScore]:
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
    holm_bootstrap, holm_randomisation = (
        holm({i: p_value for i, p_value in enumerate(found) if p_value is not None})
        for found in (p_bootstrap, p_randomisation)
    )
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
            holm_bootstrap=holm_bootstrap.get(i),
            holm_randomisation=holm_randomisation.get(i),
            signature=signature,
            details=measured.details(i),
        )
        for i, scores in enumerate(measured.run_scores())
    ]
