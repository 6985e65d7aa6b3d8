"""What the page shows, in a sentence for each corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from dragoman.analysis import Row, RunComparison, is_significant, primary_sentence
from dragoman.metric import metric_label
from dragoman.view.report.records import Records, start_rounds

__all__ = ["headlines"]


def headlines(records: Records, comparison: RunComparison) -> Iterator[str]:
    """The primary comparisons, and the best row of each corpus by the first metric: its gain over the weights it began
    with, and over the best row with another feature set, each with the corrected p-value of the table of results.
    """
    yield from (primary_sentence(comparison, result) for result in comparison.primary)
    metric = comparison.metrics[0]
    name, is_loss = metric_label(metric), metric in comparison.lower_is_better
    for corpus in comparison.corpora():
        learned = [row for row in comparison.of_corpus(corpus) if not row.key.is_start]
        rows = sorted(learned, key=lambda row: row.scores[metric].mean, reverse=not is_loss)
        best = rows[0]
        where = "On the test set" if len(comparison.corpora()) == 1 else f"On the test set of {corpus}"
        said = f"{where}, {_named(best, rows)} has a {name} of {100 * best.scores[metric].mean:.1f}"
        start = _start(records, best, metric)
        if start is not None:
            gain = 100 * (best.scores[metric].mean - start) * (-1 if is_loss else 1)
            said += f"; the weights it began with score {100 * start:.1f}"
            if gain >= 0.05:
                p_value = _p_of_start(records, best, metric, comparison)
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
    real = _sure(other.scores[metric].holm_best.get(comparison.test))
    return f". The best with the features {other.key.features} ({other.key.optimiser}) is {gap:.1f} points behind{real}"


def _sure(p_value: float | None) -> str:
    """Whether a difference says something of systems, or of these sentences alone."""
    if p_value is None:
        return ""
    if is_significant(p_value):
        return f" (significant, p = {p_value:.4f})"
    return f" (may be chance, p = {p_value:.2f})"


def _p_of_start(records: Records, row: Row, metric: str, comparison: RunComparison) -> float | None:
    """The p-value between a row and the initial weights of its system; None if it began with others."""
    if not all(map(records.outputs.begins_untuned, records.rows[row.key])):
        return None
    for start in comparison.of_corpus(row.key.corpus):
        if start.key.is_start and start.key.system == row.key.system:
            of_pair = start if row.scores[metric].best else row
            return of_pair.scores[metric].holm_best.get(comparison.test)
    return None


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
