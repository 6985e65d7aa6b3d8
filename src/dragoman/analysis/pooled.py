"""Rows of several test sets together: one test, stratified by test set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dragoman.analysis.baselines import baselines_of
from dragoman.analysis.column import metric_column, rivals
from dragoman.analysis.measure import Compared, Measured
from dragoman.analysis.primary import Primary, PrimaryResult
from dragoman.analysis.rows import PairedTest, Row, RowKey, Within
from dragoman.metric import Metric
from dragoman.run import TestSet
from dragoman.settings import takes_text

__all__ = ["Stratum", "pooled_rows", "primary_result"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """The rows of one test set, measured by every metric."""

    corpus: str
    test_set: TestSet
    rows: Sequence[Row]
    measured: Sequence[Measured]

    @property
    def name(self) -> str:
        return f"{self.corpus}/{self.rows[0].test}"

    def names(self) -> list[RowKey]:
        """Its rows, without the corpus."""
        return [replace(row.key, corpus="") for row in self.rows]

    def places(self, names: Sequence[RowKey]) -> list[int]:
        """Where the rows with these names are."""
        here = self.names()
        return [here.index(name) for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A test set, or a pair of rows on it."""

    measured: Measured
    places: list[int]
    """Where the pooled systems are among those of the test set."""
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pooled(Compared):
    """Mean scores over parts. Sentences are drawn and swapped within each test set."""

    parts: Sequence[_Part]

    @property
    def n_sentences(self) -> int:
        return min(part.measured.n_sentences for part in self.parts)

    def run_scores(self) -> list[Floats]:
        """Run by run; of all runs together where test sets have different numbers of runs."""
        scores = [[part.measured.run_scores()[place] for place in part.places] for part in self.parts]
        return [self._over_runs(one) for one in zip(*scores, strict=True)]

    def differences(self, first: int) -> Floats:
        return self._mean(lambda part: part.measured.differences(part.places[first]))

    def resampled(self, n_bootstrap: int, seed: int) -> Floats:
        return self._mean(lambda part: part.measured.resampled(n_bootstrap, seed))

    def shuffled_differences(self, first: int, n_trials: int, seed: int) -> Floats:
        return self._mean(lambda part: part.measured.shuffled_differences(part.places[first], n_trials, seed))

    def _mean(self, values: Callable[[_Part], Floats]) -> Floats:
        total: Floats = sum((part.weight * values(part)[..., part.places] for part in self.parts), np.zeros(()))
        return total

    def _over_runs(self, scores: Sequence[Floats]) -> Floats:
        weights = np.array([part.weight for part in self.parts])
        same = len({len(one) for one in scores}) == 1
        found: Floats = weights @ np.stack([one if same else one.mean(keepdims=True) for one in scores])
        return found


@takes_text
def pooled_rows(
    strata: Sequence[Stratum], metrics: Sequence[Metric], test: PairedTest, within: Within, draws: Mapping[str, int]
) -> tuple[Row, ...]:
    """The rows that all test sets have; none of a single test set, or with a single row.

    Scores are means over corpora, within a corpus over its test sets. The baseline of a row is pooled where it is the
    same on every test set.
    """
    names = [name for name in strata[0].names() if all(name in one.names() for one in strata)]
    if len(strata) < 2 or len(names) < 2:
        return ()
    here = [[one.rows[one.names().index(name)] for one in strata] for name in names]
    bases = [_common_baseline(rows) for rows in here]
    places = [names.index(base) if base in names else None for base in bases]
    weights = _weights(strata)
    columns = [
        metric_column(
            _Pooled(parts=[_Part(measured=one, places=where, weight=weight) for one, where, weight in parts]),
            rivals(names, within),
            places,
            test,
            higher_is_better=metric.higher_is_better,
            **draws,
        )
        for m, metric in enumerate(metrics)
        for parts in [[*zip(_streams(strata, m), [one.places(names) for one in strata], weights, strict=True)]]
    ]
    return tuple(
        Row(
            key=name,
            test="",
            seeds=(),
            n_distinct=0,
            scores={metric.name: score for metric, score in zip(metrics, scores, strict=True)},
            length_ratio=sum(weight * row.length_ratio for weight, row in zip(weights, rows, strict=True)),
            length_ratios=(),
            baseline=base,
        )
        for name, rows, base, *scores in zip(names, here, bases, *columns, strict=True)
    )


@takes_text
def primary_result(
    primary: Primary, strata: Sequence[Stratum], metrics: Sequence[Metric], test: PairedTest, draws: Mapping[str, int]
) -> PrimaryResult | None:
    """The primary comparison on the test sets that have its rows; None without any, or without its metric.

    Scores are means over corpora, within a corpus over its test sets, and on a test set over its rows.
    """
    pairs = {i: found for i, one in enumerate(strata) if (found := _pairs(primary, one))}
    metric = next((metric for metric in metrics if metric.name == primary.metric), None)
    if metric is None or not pairs:
        return None
    chosen = [strata[i] for i in pairs]
    streams = _streams(chosen, metrics.index(metric))
    parts = [
        _Part(measured=measured, places=[*pair], weight=weight / len(found))
        for measured, weight, found in zip(streams, _weights(chosen), pairs.values(), strict=True)
        for pair in found
    ]
    base, ours = metric_column(
        _Pooled(parts=parts), [[0, 1]] * 2, [None, 0], test, higher_is_better=metric.higher_is_better, **draws
    )
    difference = ours.mean - base.mean
    return PrimaryResult(
        primary=primary,
        score=ours.mean,
        baseline_score=base.mean,
        gain=difference if metric.higher_is_better else -difference,
        p_value=ours.p_baseline.get(test),
        rows=tuple(dict.fromkeys(strata[i].rows[row].key.name for i, found in pairs.items() for _, row in found)),
        tests=tuple(one.name for one in chosen),
    )


def _pairs(primary: Primary, stratum: Stratum) -> list[tuple[int, int]]:
    """The places of its baselines and of its rows on a test set."""
    if not primary.has_test(stratum.corpus, stratum.rows[0].test):
        return []
    keys = [row.key for row in stratum.rows]
    bases = baselines_of(keys, primary.baseline)
    return [(keys.index(bases[key]), i) for i, key in enumerate(keys) if primary.has_row(key.name) and key in bases]


def _common_baseline(rows: Sequence[Row]) -> RowKey | None:
    """The baseline of a row, if it is the same on all test sets."""
    bases = {None if row.baseline is None else replace(row.baseline, corpus="") for row in rows}
    return bases.pop() if len(bases) == 1 else None


def _weights(strata: Sequence[Stratum]) -> list[float]:
    """Corpora count alike, and so do the test sets of a corpus."""
    n_tests = Counter(one.corpus for one in strata)
    return [1.0 / (len(n_tests) * n_tests[one.corpus]) for one in strata]


def _streams(strata: Sequence[Stratum], metric: int) -> list[Measured]:
    """What was measured, with a stream of draws for every different test set: equal sentences change sides together."""
    texts = [(one.test_set.source, one.test_set.references) for one in strata]
    return [replace(one.measured[metric], stream=texts.index(text)) for one, text in zip(strata, texts, strict=True)]
