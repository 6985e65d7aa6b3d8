"""What the page shows, in a sentence for each corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from dragoman.evaluate import LEVEL, Row, RunComparison, SystemOutput, compare_systems
from dragoman.metric import by_name, metric_label
from dragoman.report.records import Records, start_rounds

__all__ = ["headlines"]


def headlines(
    records: Records, comparison: RunComparison, *, n_trials: int = 10_000, n_threads: int = 1
) -> Iterator[str]:
    """The best row of each corpus by the first metric: its gain over the weights it began with, and over the best row
    with another feature set, each with the p-value of approximate randomisation where outputs are kept.
    """
    metric = comparison.metrics[0]
    name, is_loss = metric_label(metric), metric in comparison.lower_is_better
    for corpus in comparison.corpora():
        rows = sorted(comparison.of_corpus(corpus), key=lambda row: row.scores[metric].mean, reverse=not is_loss)
        best = rows[0]
        where = "On the test set" if len(comparison.corpora()) == 1 else f"On the test set of {corpus}"
        said = f"{where}, {_named(best, rows)} has a {name} of {100 * best.scores[metric].mean:.1f}"
        start = _start(records, best, metric)
        if start is not None:
            gain = 100 * (best.scores[metric].mean - start) * (-1 if is_loss else 1)
            said += f"; the weights it began with score {100 * start:.1f}"
            if gain >= 0.05:
                p_value = _p_of_start(records, best, metric, n_trials=n_trials, n_threads=n_threads)
                said += f", so learning gains {gain:.1f} points{_sure(p_value)}"
            else:
                said += ", so learning gains nothing there"
        yield said + _against_others(best, rows, metric, comparison) + "."


def _against_others(best: Row, rows: Sequence[Row], metric: str, comparison: RunComparison) -> str:
    """How the best row with other features, on the same system, compares; empty if there is none."""
    others = [row for row in rows if row.key.system == best.key.system and row.key.features != best.key.features]
    if not others:
        return ""
    other = others[0]
    gap = abs(100 * (best.scores[metric].mean - other.scores[metric].mean))
    real = _sure(other.scores[metric].p_best.get(comparison.test))
    return f". The best with the features {other.key.features} ({other.key.optimiser}) is {gap:.1f} points behind{real}"


def _sure(p_value: float | None) -> str:
    """Whether a difference says something of systems, or of these sentences alone."""
    if p_value is None:
        return ""
    if p_value < LEVEL:
        return f" (significant, p = {p_value:.4f})"
    return f" (may be chance, p = {p_value:.2f})"


def _p_of_start(records: Records, row: Row, metric: str, *, n_trials: int, n_threads: int) -> float | None:
    """The p-value of the difference between the initial and the learned weights; None where outputs are not kept."""
    keys = [cell.key for cell in records.rows[row.key]]
    starts = [records.outputs.start(key) for key in keys]
    kept = [lines for lines in starts if lines is not None]
    if not n_trials or len(kept) < len(keys):
        return None
    systems = [
        SystemOutput(name="start", runs=kept),
        SystemOutput(name="learned", runs=[records.outputs.translations(key) for key in keys]),
    ]
    references = records.outputs.test_sets[row.key.corpus].references
    scores = compare_systems(
        systems, references, [by_name(metric)], n_bootstrap=0, n_trials=n_trials, n_threads=n_threads
    )
    return scores[1].scores[0].p_randomisation


def _named(row: Row, rows: Sequence[Row]) -> str:
    """The row by the names in which rows differ, its optimiser in any case."""
    words = [row.key.optimiser]
    if len({other.key.features for other in rows}) > 1:
        words.append(f"with the features {row.key.features}")
    if len({other.key.system for other in rows}) > 1:
        words.append(f"on the system {row.key.system}")
    return " ".join(words)


def _start(records: Records, row: Row, metric: str) -> float | None:
    """The mean test score of the initial weights; None if it was not measured by this metric."""
    cells = records.rows[row.key]
    if any(cell.metric != metric or cell.steps for cell in cells):
        return None
    found = [entry.test for entry in start_rounds(cells) if entry.test is not None]
    return fmean(found) if len(found) == len(cells) else None
