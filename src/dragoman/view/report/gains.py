"""Remarks where gains on the development set did not generalise to the test set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from dragoman.analysis import Interval, Row, RunComparison, Within
from dragoman.metric import metric_label
from dragoman.run import CellResult
from dragoman.view.report.records import Records, best_rounds, start_rounds

__all__ = ["remarks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gain:
    """Scores of a row by its tuning metric, in points, means over its runs."""

    optimiser: str
    metric: str
    dev_start: float
    test_start: float
    on_dev: float
    on_test: float
    interval: Interval | None

    @property
    def by_chance(self) -> bool:
        """Whether the initial score lies in the 95% confidence interval of the tuned system's score."""
        return self.interval is not None and self.interval.low <= self.test_start / 100 <= self.interval.high


def remarks(records: Records, comparison: RunComparison) -> Iterator[str]:
    """A paragraph for every system and feature set with a row that gained on the development but not the test set."""
    learned = [row for row in comparison.main() if not row.key.is_start]
    for names, rows in groupby(learned, key=lambda row: row.key.group(Within.FEATURES)):
        gains = [gain for row in rows if (gain := _gain(records, comparison, row)) is not None]
        if any(gain.on_dev > 0 >= gain.on_test for gain in gains):
            corpus = names[0]
            shown = names[1:] if len(records.corpora) == 1 else names
            n_sentences = len(records.outputs.test_sets[corpus].source)
            yield f"{', '.join(shown)}: {_changes(gains)} {_confidence(gains, n_sentences)}".strip()


def _gain(records: Records, comparison: RunComparison, row: Row) -> _Gain | None:
    """None if a run has no test score of its initial weights, or was tuned for a metric that is not compared."""
    cells = records.rows[row.key]
    metric = cells[0].metric
    if metric not in row.scores or metric in comparison.lower_is_better or any(cell.steps for cell in cells):
        return None
    starts, best = start_rounds(cells), best_rounds(cells)
    tests = [entry.test for entry in starts if entry.test is not None]
    if not best or len(tests) != len(cells):
        return None
    dev_start, test_start = 100 * fmean(entry.dev for entry in starts), 100 * fmean(tests)
    return _Gain(
        optimiser=row.key.optimiser,
        metric=metric_label(metric),
        dev_start=dev_start,
        test_start=test_start,
        on_dev=100 * fmean(_tuned(cell, metric) for cell in cells) - dev_start,
        on_test=100 * row.scores[metric].mean - test_start,
        interval=row.scores[metric].interval,
    )


def _tuned(cell: CellResult, metric: str) -> float:
    """On the development set, decoded with the kept weights; of older records what the best round measured."""
    return cell.best.dev if cell.tune is None else cell.tune.scores.get(metric, cell.best.dev)


def _changes(gains: Sequence[_Gain]) -> str:
    first = gains[0]
    on_dev, on_test = (
        ", ".join(f"{gain.optimiser} {_signed(getattr(gain, part))}" for gain in gains)
        for part in ("on_dev", "on_test")
    )
    return (
        f"tuning gained on the development set (from {first.dev_start:.2f} {first.metric}: {on_dev}), "
        f"but not every gain carried over to the test set (from {first.test_start:.2f}: {on_test})."
    )


def _confidence(gains: Sequence[_Gain], n_sentences: int) -> str:
    """Significance of the differences on the test set; empty if no interval was computed."""
    widths = [100 * gain.interval.half_width for gain in gains if gain.interval is not None]
    if len(widths) < len(gains):
        return ""
    real = [gain.optimiser for gain in gains if not gain.by_chance]
    verdict = (
        f"the start lies outside that of {', '.join(real)}"
        if real
        else "the start lies inside that of every tuned system, so this test set cannot tell them from the start"
    )
    return (
        f"With {n_sentences} test sentences a score's 95% confidence interval is ±{max(widths):.1f} points: {verdict}."
    )


def _signed(points: float) -> str:
    return "±0.00" if abs(points) < 0.005 else f"{points:+.2f}".replace("-", "−")
