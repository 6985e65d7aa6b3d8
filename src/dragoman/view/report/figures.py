"""The figures of an experiment, from its records."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from statistics import fmean, median
from typing import Literal

from dragoman.analysis import RowKey, RunComparison
from dragoman.metric import metric_label, recorded_metric
from dragoman.run import CellResult, CellRound
from dragoman.view.report.charts import BarChart, Dash, DotChart, Line, LineChart, Panel, PanelChart
from dragoman.view.report.records import Records
from dragoman.view.report.results import cpu_by_part, parts_of_cpu

__all__ = [
    "UNKNOWN",
    "active_charts",
    "candidate_charts",
    "file_name",
    "learning_charts",
    "run_charts",
    "scaled_weights",
    "time_charts",
    "weight_charts",
]

N_WEIGHTS = 12
"""Number of features whose weights are drawn: the largest of the last round, by any optimiser."""
UNKNOWN = "unknown"
"""Of words that are copied whatever they cost: its weight can grow without an effect on the ranking."""
FAR = 15.0
"""Rows further than this many points from the median row are not drawn."""


def learning_charts(records: Records) -> Iterator[LineChart]:
    """Dev and test score by round: a chart for each corpus, system, feature set and metric, its optimisers in it."""
    for (corpus, system, features), group in groupby(records.rows, key=lambda k: (k.corpus, k.system, k.features)):
        by_metric: dict[str, list[Line]] = {}
        for key in group:
            cells = records.rows[key]
            colour = records.optimisers.index(key.optimiser)
            name = key.optimiser
            lines = by_metric.setdefault(cells[0].metric, [])
            points = recorded_metric(cells[0].metric).points
            dev, test = partial(_shown, "dev", points), partial(_shown, "test", points)
            lines += _with_mean(cells, dev, f"{name}, dev", colour, Dash.DASHED)
            lines += _with_mean(cells, test, f"{name}, test", colour, Dash.SOLID)
        for number, (metric, lines) in enumerate(by_metric.items()):
            others = [metric] if number else []
            if not lines:
                continue
            yield LineChart(
                name=file_name("learning", corpus, system, features, *others),
                title=f"{corpus}: {', '.join([system, features, *map(metric_label, others)])}",
                x_label="round",
                y_label=metric_label(metric),
                lines=lines,
            )


def _shown(part: Literal["dev", "test"], points: Callable[[float], float], entry: CellRound) -> float | None:
    score = entry.dev if part == "dev" else entry.test
    return None if score is None else points(score)


def _with_mean(
    cells: Sequence[CellResult], value: Callable[[CellRound], float | None], name: str, colour: int, dash: Dash
) -> list[Line]:
    """Thin lines of the runs, if there are several, and the mean of those with a value in every round.

    If there is no such run, the mean covers the rounds that all runs have.
    """
    lines_of = {
        cell.key.seed: {float(r.round): v for r in cell.rounds if (v := value(r)) is not None and math.isfinite(v)}
        for cell in cells
    }
    full = {cell.key.seed for cell in cells if len(lines_of[cell.key.seed]) == len(cell.rounds)}
    runs = {seed: points for seed, points in lines_of.items() if seed in full or not full}
    rounds = set[float]().union(*runs.values()) if full else set.intersection(*map(set, runs.values()))
    mean = [(x, fmean(points[x] for points in runs.values() if x in points)) for x in sorted(rounds)]
    if not mean:
        return []
    lines = [Line(name=name, points=mean, colour=colour, dash=dash)]
    if len(runs) > 1:
        lines += [
            Line(name=f"{name}, seed {seed}", points=[*points.items()], colour=colour, dash=dash, group=name, thin=True)
            for seed, points in runs.items()
            if points
        ]
    return lines


def run_charts(comparison: RunComparison, optimisers: Sequence[str]) -> Iterator[DotChart]:
    """The test score of every run, as in Figure 6 of Hopkins and May (2011): a chart for each test set.

    Rows far from the median row would compress the others: they are mentioned in the label instead.
    """
    metric = comparison.metrics[0]
    for corpus, test in dict.fromkeys((row.key.corpus, row.test) for row in comparison.rows):
        every = [row for row in comparison.of_corpus(corpus, test) if not row.key.is_start]
        tests = [test] if len(comparison.tests(corpus)) > 1 else []
        names = dict(zip((row.key for row in every), _row_names([row.key for row in every]), strict=True))
        middle = median(100 * row.scores[metric].mean for row in every)
        near = [row for row in every if abs(100 * row.scores[metric].mean - middle) <= FAR]
        rows = near if 2 * len(near) > len(every) else every
        far = [f"{names[row.key]} at {100 * row.scores[metric].mean:.1f}" for row in every if row not in rows]
        label = f"test {metric_label(metric)}"
        yield DotChart(
            name=file_name("runs", corpus, *tests),
            title=f"{' '.join([corpus, *tests])}: {metric_label(metric)} of every run",
            x_label=f"{label} (not drawn: {', '.join(far)})" if far else label,
            rows=[names[row.key] for row in rows],
            values=[[100 * value for value in row.scores[metric].run_scores] for row in rows],
            colours=[optimisers.index(row.key.optimiser) for row in rows],
            labels=[[f"seed {seed}" for seed in row.seeds] for row in rows],
        )


def weight_charts(records: Records) -> Iterator[PanelChart]:
    """The largest weights by round, with vectors scaled to length 1: a panel per feature, a line per optimiser.

    A chart for each corpus, system and feature set, with the first seed of every row.
    """
    for (corpus, system, features), group in groupby(records.rows, key=lambda k: (k.corpus, k.system, k.features)):
        rounds: dict[str, dict[int, dict[str, float]]] = {}
        for key in group:
            cell = records.rows[key][0]
            found = {entry.round: scaled_weights(records.weights(cell.key, entry.round)) for entry in cell.rounds}
            if any(found.values()):
                rounds[key.optimiser] = {number: weights for number, weights in found.items() if weights}
        if names := _greatest(rounds):
            yield PanelChart(
                name=file_name("weights", corpus, system, features),
                title=f"{corpus}: {system}, {features}",
                x_label="round",
                panels=[_weight_panel(name, rounds, records.optimisers) for name in names],
            )


def _weight_panel(feature: str, rounds: Mapping[str, Mapping[int, Mapping[str, float]]], order: Sequence[str]) -> Panel:
    return Panel(
        title=feature,
        lines=[
            Line(
                name=optimiser,
                points=[(float(number), weights.get(feature, 0.0)) for number, weights in found.items()],
                colour=order.index(optimiser),
            )
            for optimiser, found in rounds.items()
        ],
    )


def _greatest(rounds: Mapping[str, Mapping[int, Mapping[str, float]]]) -> list[str]:
    """Features with the largest weights of the last rounds, in decreasing order; none that ranks nothing."""
    size: dict[str, float] = {}
    for found in rounds.values():
        for name, value in found[max(found)].items():
            size[name] = max(size.get(name, 0.0), abs(value))
    size.pop(UNKNOWN, None)
    return sorted(size, key=lambda name: (-size[name], name))[:N_WEIGHTS]


def scaled_weights(weights: dict[str, float]) -> dict[str, float]:
    """Weights over the length of the dense ones without `unknown`; of all, if there are no others."""
    dense = [value for name, value in weights.items() if ":" not in name and name != UNKNOWN]
    length = math.hypot(*(dense or weights.values()))
    return {name: value / length for name, value in weights.items()} if length else {}


def active_charts(records: Records) -> Iterator[LineChart]:
    """Number of nonzero weights by round; no chart if all features are dense, and none of lines that never move."""
    charts = _counts(records, "active", "active features", lambda entry: entry.n_active)
    for chart in charts if records.has_sparse else ():
        if any(y != line.points[0][1] for line in chart.lines for _, y in line.points):
            yield chart


def candidate_charts(records: Records) -> Iterator[LineChart]:
    """Number of candidates in the pool, by round."""
    yield from _counts(records, "candidates", "candidates in the pool", lambda entry: entry.n_candidates)


def _counts(records: Records, what: str, label: str, count: Callable[[CellRound], int]) -> Iterator[LineChart]:
    """A chart for each corpus, system and feature set, with the same scale for those of a corpus."""
    for corpus in records.corpora:
        views: dict[tuple[str, str], list[Line]] = {}
        for key, cells in records.of_corpus(corpus).items():
            colour = records.optimisers.index(key.optimiser)
            lines = _with_mean(cells, count, key.optimiser, colour, Dash.SOLID)
            views.setdefault((key.system, key.features), []).extend(line for line in lines if not line.thin)
        values = [y for lines in views.values() for line in lines for _, y in line.points]
        positive = [value for value in values if value > 0]
        for (system, features), lines in views.items():
            names = [system, features] if len(views) > 1 else []
            if lines:
                yield LineChart(
                    name=file_name(what, corpus, *names),
                    title=f"{corpus}: {', '.join([*names, label])}",
                    x_label="round",
                    y_label=label,
                    lines=lines,
                    log_y=bool(positive) and max(positive) > 30 * min(positive),
                    y_reach=(min(values), max(values)),
                )


def time_charts(records: Records) -> Iterator[BarChart]:
    """CPU time of tuning by part, mean over runs."""
    for corpus in records.corpora:
        rows = records.of_corpus(corpus)
        spent = [cpu_by_part(cells) for cells in rows.values()]
        names = parts_of_cpu([cell for cells in rows.values() for cell in cells])
        yield BarChart(
            name=file_name("time", corpus),
            title=f"{corpus}: CPU time of a tuning run",
            x_label="CPU seconds, mean over runs",
            rows=_row_names(list(rows)),
            parts=names,
            values=[[fmean(parts[name]) for parts in spent] for name in names],
        )


def _row_names(keys: Sequence[RowKey]) -> list[str]:
    """Names that distinguish the rows of one corpus."""
    if len({(key.system, key.features) for key in keys}) == 1:
        return [key.optimiser for key in keys]
    return [f"{key.system} {key.features} {key.optimiser}" for key in keys]


def file_name(*parts: str) -> str:
    """The name of a figure: letters, digits and dashes."""
    return "-".join(re.sub(r"[^A-Za-z0-9]+", "-", part) for part in parts)
