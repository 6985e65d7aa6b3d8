"""Choices from fixed lists: what was learned, what held out, and what the lists have."""

from __future__ import annotations

from statistics import fmean

from dragoman.analysis import Shown
from dragoman.metric import recorded_metric
from dragoman.view.report.records import Records
from dragoman.view.report.tables import Table, mean_points, mean_text, names_of_row, row_header, signed

__all__ = ["choice_table"]


def choice_table(records: Records, corpus: str) -> Table | None:
    """By row the features, the score on dev before and after learning, held out if it was asked for, on the main test
    set, and that of the oracle; None for a corpus whose cells decode.
    """
    rows = {key: cells for key, cells in records.of_corpus(corpus).items() if any(cell.oracle for cell in cells)}
    if not rows:
        return None
    some_held = any(cell.held_out is not None for cells in rows.values() for cell in cells)
    names = ["features", "dev, start", "dev", *(["dev, held out", "less dev"] if some_held else []), "test", "oracle"]
    body = []
    for key, cells in rows.items():
        metric = cells[0].metric
        start, best = [cell.rounds[0] for cell in cells], [cell.best for cell in cells]
        numbers = [
            mean_text([float(entry.n_active) for entry in best], 0),
            mean_points((entry.dev for entry in start), metric),
            mean_points((entry.dev for entry in best), metric),
        ]
        if some_held:
            lost = [cell.held_out - cell.best.dev for cell in cells if cell.held_out is not None]
            numbers += [
                mean_points((cell.held_out for cell in cells), metric),
                _difference(metric, fmean(lost)) if lost else "",
            ]
        numbers += [
            mean_points((entry.test for entry in best), metric),
            mean_points((next(iter(cell.oracle.values()), None) for cell in cells), metric),
        ]
        body.append([*names_of_row(key), *map(Shown, numbers)])
    return row_header(*names), body


def _difference(metric: str, value: float) -> str:
    known = recorded_metric(metric)
    return signed(known.points(value)) if known.has_known_scale else f"{value:+.6g}"
