"""Every method beside the baseline: scores on the tuning set and all test sets, differences, p-values and CPU time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from dragoman.analysis import Row, RowKey, RunComparison, Shown, mark_of, n_runs, plus_minus
from dragoman.metric import metric_label
from dragoman.run import CellResult
from dragoman.view.report.records import Records
from dragoman.view.report.results import cpu_by_part
from dragoman.view.report.tables import Table, deviating, mean_text, names_of_row, row_header, signed

__all__ = ["baseline_table"]


def baseline_table(records: Records, comparison: RunComparison, corpus: str) -> Table | None:
    """Rows of a corpus by the first metric, as Tables 3 to 6 of Flanigan et al. 2013; None without a baseline.

    Scores are means ± standard deviations over runs, p-values those of the comparison. Test sets that every seed draws
    anew are not compared and have no p-value. The start has no tuning set, and costs nothing. CPU time is that of
    tuning.
    """
    if comparison.baseline is None:
        return None
    metric = comparison.metrics[0]
    rows = records.of_corpus(corpus)
    compared = {test: {row.key: row for row in comparison.of_corpus(corpus, test)} for test in comparison.tests(corpus)}
    main = compared[comparison.tests(corpus)[0]]
    drawn = dict.fromkeys(name for cells in rows.values() for cell in cells for name in cell.tests)
    others = [name for name in drawn if name not in compared]
    header = row_header("runs", f"tune {metric_label(metric)}", "Δ")
    for test in compared:
        header += map(Shown, [f"{test} {metric_label(metric)}", "Δ", "p"])
    header += map(Shown, [*(f"{name} {metric_label(metric)}" for name in others), "CPU s"])
    bases = {key: row.baseline for of_test in compared.values() for key, row in of_test.items()}
    body = []
    for key in main:
        cells = rows.get(key, [])
        base = bases.get(key)
        theirs = [] if base is None else rows.get(base, [])
        numbers = [Shown(n_runs(main[key])), *_tuned(cells, theirs, metric)]
        for of_test in compared.values():
            numbers += _tested(comparison, of_test, key, metric)
        for name in others:
            numbers.append(Shown(deviating(_scores(cells, name, metric))))
        together = [sum(parts) for parts in zip(*cpu_by_part(cells).values(), strict=True)]
        body.append([*names_of_row(key), *numbers, Shown(mean_text(together, 0))])
    return header, body


def _tuned(cells: Sequence[CellResult], base: Sequence[CellResult], metric: str) -> list[Shown]:
    """The score on the tuning set, and its difference to that of the baseline."""
    ours, theirs = (
        [cell.tune.scores[metric] for cell in row if cell.tune is not None and metric in cell.tune.scores]
        for row in (cells, base)
    )
    difference = signed(100 * (fmean(ours) - fmean(theirs))) if ours and theirs else ""
    return [Shown(deviating(ours)), Shown(difference)]


def _tested(comparison: RunComparison, rows: dict[RowKey, Row], key: RowKey, metric: str) -> list[Shown]:
    """The score on a test set, its difference to the baseline, and the p-value of that."""
    if key not in rows:
        return [Shown(""), Shown(""), Shown("")]
    row = rows[key]
    score = row.scores[metric]
    p_value = comparison.p_holm(score)
    base = None if row.baseline is None else rows.get(row.baseline)
    difference = "" if base is None else signed(100 * (score.mean - base.scores[metric].mean))
    return [
        Shown(plus_minus(score), mark=mark_of(score)),
        Shown(difference),
        Shown("" if p_value is None else f"{p_value:.4f}"),
    ]


def _scores(cells: Sequence[CellResult], test: str, metric: str) -> list[float]:
    return [cell.tests[test].scores[metric] for cell in cells if test in cell.tests]
