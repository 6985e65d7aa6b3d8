"""Statistics of several systems by one metric, each with one or more runs, and paired significance tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dragoman.analysis.significance import (
    ROUNDING,
    Interval,
    Seed,
    confidence_interval,
    paired_bootstrap,
    paired_randomisation,
    resampled_totals,
    shuffled_totals,
)
from dragoman.errors import MismatchError
from dragoman.metric import Bleu, BleuDetails, Metric, n_references, output_statistics, references_by_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Compared", "Measured", "SystemOutput", "measure"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemOutput:
    """The output lines of a system, for one or several runs."""

    name: str
    runs: Sequence[Sequence[str]]

    @property
    def n_distinct(self) -> int:
        """Number of different outputs among the runs."""
        return len({tuple(run) for run in self.runs})


class Compared(ABC):
    """Scores of several systems by one metric, and how they scatter under draws of sentences."""

    __slots__ = ()

    @property
    @abstractmethod
    def n_sentences(self) -> int:
        """Sentences to draw; without any there is nothing to test."""

    @abstractmethod
    def run_scores(self) -> list[Floats]:
        """For each system the scores of its runs."""

    @abstractmethod
    def differences(self, first: int) -> Floats:
        """Score of each system, all its runs together, less that of `first`."""

    @abstractmethod
    def resampled(self, n_bootstrap: int, seed: int) -> Floats:
        """Scores of bootstrap resamples of sentences, [resample, system]; all runs of a sentence are drawn together."""

    @abstractmethod
    def shuffled_differences(self, first: int, n_trials: int, seed: int) -> Floats:
        """Differences to `first` after shuffling each system with it, [trial, system]."""

    def intervals(self, resampled: Floats) -> list[Interval]:
        """The 95% confidence interval of every system."""
        return [confidence_interval(column) for column in resampled.T]

    def p_bootstrap(self, first: int, resampled: Floats) -> list[float | None]:
        """p-values of the paired bootstrap of every system against `first`; None for `first` itself."""
        return [
            None if i == first else paired_bootstrap(resampled[:, i], resampled[:, first], abs(difference))
            for i, difference in enumerate(self.differences(first).tolist())
        ]

    def p_randomisation(self, first: int, n_trials: int, seed: int) -> list[float | None]:
        """p-values of approximate randomisation over sentences against `first`; None for `first` itself."""
        shuffled = self.shuffled_differences(first, n_trials, seed)
        return [
            None if i == first else paired_randomisation(shuffled[:, i], 0.0, abs(difference))
            for i, difference in enumerate(self.differences(first).tolist())
        ]

    def differs(self, first: int) -> list[bool]:
        """Whether each system's score differs from that of `first`; without a difference there is nothing to test."""
        return [abs(difference) > ROUNDING for difference in self.differences(first).tolist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Compared):
    """Statistics of every run of every system by one metric."""

    metric: Metric
    statistics: tuple[Floats, ...]
    """For each system an array [run, sentence, n_stats]."""
    n_refs: int | None
    stream: int = 0
    """Number of the stream of draws: test sets that are tested together must not share their draws."""

    @property
    def n_sentences(self) -> int:
        return int(self.statistics[0].shape[1])

    def run_scores(self) -> list[Floats]:
        return [self.metric.score_of(runs.sum(axis=1)) for runs in self.statistics]

    def details(self, system: int) -> BleuDetails | None:
        """What a system's BLEU is made of, mean over its runs; None for other metrics."""
        found = [self.metric.details(run.sum(axis=0)) for run in self.statistics[system]]
        known = [one for one in found if one is not None]
        return BleuDetails.mean(known) if known else None

    def differences(self, first: int) -> Floats:
        observed: Floats = self.metric.score_of(self._over_runs().sum(axis=1))
        differences: Floats = observed - observed[first]
        return differences

    def resampled(self, n_bootstrap: int, seed: int) -> Floats:
        scores: Floats = self.metric.score_of(resampled_totals(self._over_runs(), n_bootstrap, self._seed(seed)))
        return scores

    def shuffled_differences(self, first: int, n_trials: int, seed: int) -> Floats:
        means = self._over_runs()
        ours, theirs = shuffled_totals(means[first], means, n_trials, self._seed(seed))
        differences: Floats = self.metric.score_of(theirs) - self.metric.score_of(ours)
        return differences

    def _seed(self, seed: int) -> Seed:
        """The first stream is sacrebleu's."""
        return (seed, self.stream) if self.stream else seed

    def _over_runs(self) -> Floats:
        """The mean statistics of each system, [system, sentence, n_stats]."""
        return np.stack([runs.mean(axis=0) for runs in self.statistics])


def measure(
    systems: Sequence[SystemOutput],
    references: Sequence[Sequence[str | None]],
    metrics: Sequence[Metric],
    *,
    n_threads: int = 1,
) -> tuple[list[Measured], list[Floats]]:
    """Statistics for every metric, and the length ratios of every system's runs.

    A length ratio is hypothesis length over closest reference length, in words.
    """
    n_sentences = len(systems[0].runs[0])
    for system in systems:
        for run in system.runs:
            if len(run) != n_sentences:
                raise MismatchError(f"{system.name} has {len(run)} lines but {systems[0].name} has {n_sentences}")
    by_sentence = references_by_sentence(references, n_sentences)
    outputs = [run for system in systems for run in system.runs]
    ends = np.cumsum([len(system.runs) for system in systems])[:-1]
    measured = [
        Measured(
            metric=metric,
            statistics=tuple(np.split(output_statistics(metric, outputs, by_sentence, n_threads=n_threads), ends)),
            n_refs=n_references(by_sentence),
        )
        for metric in metrics
    ]
    totals = output_statistics(Bleu(max_order=1), outputs, by_sentence, n_threads=n_threads).sum(axis=1)
    lengths, ref_lengths = totals[:, 0], totals[:, 1]
    ratios = np.where(ref_lengths > 0, lengths / np.maximum(ref_lengths, 1.0), 0.0)
    return measured, np.split(ratios, ends)
