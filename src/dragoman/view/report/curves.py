"""Scores as functions of single weights: small multiples, as Figure 2 of Flanigan et al. 2013, and their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dragoman.analysis import Shown
from dragoman.metric import Metric, metric_label
from dragoman.types import Float64Array, PathLike
from dragoman.view.report.charts import Dash, Line, LineChart, Panel, PanelChart
from dragoman.view.report.tables import Table, words
from dragoman.view.report.templating import write_chart_page

if TYPE_CHECKING:
    from dragoman.analysis.curves import Curve, WeightCurve

__all__ = ["curve_chart", "curve_table", "write_curve_page"]

_N_COLUMNS = 500
"""Of a picture of a curve: more than it has pixels."""
_MAX_PANELS = 4
"""Side by side."""
_LEAST_SPAN = 0.01
"""Of a y axis, in points."""
_CURVE, _DECODED, _PRESENT = 0, 1, 7
"""Colours."""
_NOTE = (
    "The line is exact for the candidate lists, which were widened by decoding along the range; markers are scores of "
    "decoding anew; the dotted line is the present weight. Every plot has a scale of its own."
)


def curve_chart(curves: Sequence[WeightCurve]) -> LineChart | PanelChart:
    """One plot, or small multiples with a scale each."""
    label = _label(curves[0].curve.metric)
    if len(curves) == 1:
        only = curves[0]
        return LineChart(
            name="curve",
            title=f"{label} by the weight of {only.feature}",
            x_label=f"weight of {only.feature}",
            y_label=label,
            lines=_lines(only, label),
            real_x=True,
            y_reach=_reach(only),
        )
    groups = Counter(curve.frequency for curve in curves)
    n_columns = max(groups.values()) if len(groups) > 1 else min(len(curves), 3)
    return PanelChart(
        name="curves",
        title=f"{label} by single weights",
        x_label="weight",
        panels=[
            Panel(
                title=curve.feature,
                lines=_lines(curve, label),
                note=_note(curve, named=len(groups) == 1),
                y_reach=_reach(curve),
            )
            for curve in curves
        ],
        real_x=True,
        n_columns=min(n_columns, _MAX_PANELS),
    )


def curve_table(curves: Sequence[WeightCurve]) -> Table:
    """A row for every feature; scores in points."""
    label = _label(curves[0].curve.metric)
    checked = any(curve.checks for curve in curves)
    numbers = ["weight", "lists", "from", "to", label, "range", "best", "best from", "best to", "gain"]
    header = [*words("feature", "chosen as"), *map(Shown, [*numbers, *(["deviation"] if checked else [])])]
    return header, [[*words(curve.feature, curve.frequency), *_numbers(curve, checked)] for curve in curves]


def write_curve_page(path: PathLike, curves: Sequence[WeightCurve], lead: str) -> None:
    """A page with the chart and the table."""
    chart = curve_chart(curves)
    write_chart_page(path, title=chart.title, lead=lead, chart=chart, note=_NOTE, table=curve_table(curves))


def _numbers(found: WeightCurve, checked: bool) -> list[Shown]:
    curve, points = found.curve, found.curve.metric.points
    best = curve.best()
    cells = [f"{found.weight:.4g}", f"{found.n_lists:,}", f"{curve.low:.4g}", f"{curve.high:.4g}"]
    cells += [curve.metric.shown(found.score), f"{points(curve.span()):.4f}", curve.metric.shown(best.score)]
    cells += [f"{best.low:.4g}", f"{best.high:.4g}", f"{points(found.gain()):+.4f}"]
    deviation = found.deviation()
    return [Shown(cell) for cell in (*cells, *([_shown(curve.metric, deviation)] if checked else []))]


def _shown(metric: Metric, deviation: float | None) -> str:
    return "" if deviation is None else f"{metric.points(deviation):.4f}"


def _label(metric: Metric) -> str:
    return f"{metric_label(metric.name)}{'' if metric.higher_is_better else ' ↓'}"


def _note(curve: WeightCurve, *, named: bool) -> str:
    lists = f"{curve.n_lists:,} {'list' if curve.n_lists == 1 else 'lists'}"
    return f"differs in {lists}" if named else f"{curve.frequency}, {lists}"


def _reach(curve: WeightCurve) -> tuple[float, float]:
    """What the y axis spans at least, so that a flat curve looks flat."""
    middle = curve.curve.metric.points(float(curve.curve.scores.mean()))
    return middle - _LEAST_SPAN / 2, middle + _LEAST_SPAN / 2


def _lines(found: WeightCurve, label: str) -> list[Line]:
    curve, points = found.curve, found.curve.metric.points
    lines = [Line(name=f"{label}, from the lists", points=_steps(curve), colour=_CURVE, marked=False)]
    if found.checks:
        decoded = [(check.weight, points(check.decoded)) for check in found.checks]
        lines.append(Line(name=f"{label}, decoded", points=decoded, colour=_DECODED, joined=False))
    if curve.low <= found.weight <= curve.high:
        ends = [(found.weight, points(float(score))) for score in (curve.scores.min(), curve.scores.max())]
        lines.append(Line(name="present weight", points=ends, colour=_PRESENT, dash=Dash.DOTTED, marked=False))
    return lines


def _steps(curve: Curve) -> list[tuple[float, float]]:
    """The curve as points in order; where it has more corners than pixels, the first, lowest, highest and last of each.

    A narrow spike is as high as it is.
    """
    ends = np.array([curve.low, *curve.corners, curve.high])
    x: Float64Array = np.repeat(ends, 2)[1:-1]
    y: Float64Array = np.repeat(curve.scores, 2)
    column = np.minimum((x - curve.low) / (curve.high - curve.low) * _N_COLUMNS, _N_COLUMNS - 1).astype(np.int64)
    kept: list[int] = []
    for begin, end in _runs(column):
        part = y[begin:end]
        kept += sorted({begin, begin + int(part.argmin()), begin + int(part.argmax()), end - 1})
    return [(float(x[i]), curve.metric.points(float(y[i]))) for i in kept]


def _runs(values: np.ndarray) -> list[tuple[int, int]]:
    """Where equal neighbours begin and end."""
    cuts = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return list(pairwise(cuts))
