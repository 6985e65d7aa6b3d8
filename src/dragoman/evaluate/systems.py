"""Scores of several systems on one test set, each against the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dragoman.errors import InputError, MismatchError
from dragoman.evaluate.significance import (
    Interval,
    confidence_interval,
    paired_bootstrap,
    paired_randomisation,
    resampled_totals,
    shuffled_totals,
)
from dragoman.metric import Bleu, Metric, n_references, output_statistics, references_by_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["MetricScore", "SystemOutput", "SystemScore", "compare_systems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemOutput:
    """What a system translated: one sequence of lines, or several from repeated runs."""

    name: str
    runs: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScore:
    """One metric's verdict on one system, in [0, 1]."""

    metric: str
    score: float
    """Mean over the runs."""
    run_scores: tuple[float, ...]
    std: float | None
    """Over the runs, with n - 1 below; None for a single run."""
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
    threads: int = 1,
) -> list[SystemScore]:
    """Scores systems against one sequence of lines per reference (None: "no reference for this sentence").

    The first system is the baseline of the paired tests. A test is left out with 0 resamples or trials. With
    several runs a system's interval and tests look at its runs together, statistics averaged by sentence.
    """
    if not systems or not all(system.runs for system in systems):
        raise InputError("nothing to score: give at least one system, each with at least one output")
    if not metrics:
        raise InputError("nothing to score by: give at least one metric")
    n_sentences = len(systems[0].runs[0])
    for system in systems:
        for run in system.runs:
            if len(run) != n_sentences:
                raise MismatchError(f"{system.name} has {len(run)} lines but {systems[0].name} has {n_sentences}")
    by_sentence = references_by_sentence(references, n_sentences)
    outputs = [run for system in systems for run in system.runs]
    n_runs = [len(system.runs) for system in systems]
    columns = [
        _metric_scores(
            metric,
            output_statistics(metric, outputs, by_sentence, threads=threads),
            n_runs,
            n_references(by_sentence),
            n_bootstrap=n_bootstrap,
            n_trials=n_trials if len(systems) > 1 else 0,
            seed=seed,
        )
        for metric in metrics
    ]
    ratios = _length_ratios(outputs, by_sentence, threads)
    rows = zip(systems, zip(*columns, strict=True), _by_system(ratios, n_runs), strict=True)
    return [
        SystemScore(name=system.name, scores=scores, length_ratio=float(ratio.mean())) for system, scores, ratio in rows
    ]


def _metric_scores(
    metric: Metric,
    statistics: NDArray[np.float64],
    n_runs: Sequence[int],
    n_refs: int | None,
    *,
    n_bootstrap: int,
    n_trials: int,
    seed: int,
) -> list[MetricScore]:
    """One metric over all systems; statistics are [run of any system, sentence, n_stats]."""
    pooled = np.stack([runs.mean(axis=0) for runs in _by_system(statistics, n_runs)])
    observed = metric.score(pooled.sum(axis=1))
    differences = np.abs(observed - observed[0])
    n = len(n_runs)
    intervals: list[Interval | None] = [None] * n
    p_bootstrap: list[float | None] = [None] * n
    p_randomisation: list[float | None] = [None] * n
    if n_bootstrap and statistics.shape[1]:
        resampled = metric.score(resampled_totals(pooled, n_bootstrap, seed))
        intervals = [confidence_interval(resampled[:, i]) for i in range(n)]
        for i in range(1, n):
            p_bootstrap[i] = paired_bootstrap(resampled[:, i], resampled[:, 0], differences[i])
    if n_trials and statistics.shape[1]:
        ours, theirs = (metric.score(totals) for totals in shuffled_totals(pooled, n_trials, seed))
        for i in range(1, n):
            p_randomisation[i] = paired_randomisation(ours[:, i - 1], theirs[:, i - 1], differences[i])
    drawn = bool(n_bootstrap or n_trials)
    signature = metric.signature(
        n_refs,
        n_bootstrap=n_bootstrap or None,
        n_trials=n_trials or None,
        seed=seed if drawn else None,
    )
    run_scores = _by_system(metric.score(statistics.sum(axis=1)), n_runs)
    return [
        MetricScore(
            metric=metric.name,
            score=float(run_scores[i].mean()),
            run_scores=tuple(map(float, run_scores[i])),
            std=float(run_scores[i].std(ddof=1)) if n_runs[i] > 1 else None,
            interval=intervals[i],
            p_bootstrap=p_bootstrap[i],
            p_randomisation=p_randomisation[i],
            signature=signature,
        )
        for i in range(n)
    ]


def _length_ratios(
    outputs: Sequence[Sequence[str]], refs: Sequence[Sequence[str]], threads: int
) -> NDArray[np.float64]:
    totals = output_statistics(Bleu(max_order=1), outputs, refs, threads=threads).sum(axis=1)
    lengths, ref_lengths = totals[:, 0], totals[:, 1]
    return np.where(ref_lengths > 0, lengths / np.maximum(ref_lengths, 1.0), 0.0)


def _by_system(values: NDArray[np.float64], n_runs: Sequence[int]) -> list[NDArray[np.float64]]:
    return np.split(values, np.cumsum(n_runs)[:-1])
