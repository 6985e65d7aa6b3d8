"""Charts as the data that the page's script hands to Plotly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from dragoman.errors import FailedError
from dragoman.report.chart_svg import DASHES
from dragoman.report.charts import COLOURS, BarChart, Chart, DotChart, LineChart
from dragoman.text import printable

__all__ = ["chart_data", "plotly_script"]

_SYMBOLS = ("circle", "square", "triangle-up", "diamond")
_PLOTLY_DASHES = ("solid", "dash", "dot", "dashdot")


def plotly_script() -> str:
    """The library's own code, from its package; it goes into the page as it is."""
    text = files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
    if "</script" in text.lower() or "<!--" in text:
        raise FailedError("the script of this version of plotly cannot stand inside a page; install another version")
    return text


def chart_data(chart: Chart) -> dict[str, Any]:
    """Traces, layout and legend; the script adds the colours of text and grid."""
    if isinstance(chart, LineChart):
        return _lines(chart)
    return _dots(chart) if isinstance(chart, DotChart) else _bars(chart)


def _lines(chart: LineChart) -> dict[str, Any]:
    traces: list[dict[str, Any]] = []
    legend: dict[str, dict[str, Any]] = {}
    for line in chart.lines:
        colour = COLOURS[line.colour % len(COLOURS)]
        entry = printable(line.entry)
        if not line.thin:
            legend.setdefault(entry, {"name": entry, "colour": colour, "dash": DASHES[line.dash], "line": True})
        traces.append(
            {
                "type": "scatter",
                "mode": "lines" if line.thin else "lines+markers",
                "x": [x for x, _ in line.points],
                "y": [y for _, y in line.points],
                "name": _plain(line.name),
                "meta": entry,
                "line": {"color": colour, "width": 1 if line.thin else 2, "dash": _PLOTLY_DASHES[line.dash]},
                "opacity": 0.45 if line.thin else 1,
                "marker": {"symbol": _SYMBOLS[line.colour % 4], "size": 7, "color": colour},
                "hovertemplate": "%{fullData.name}<br>%{x}: %{y:,.4~f}<extra></extra>",
            }
        )
    y_axis: dict[str, Any] = {"title": {"text": _plain(chart.y_label), "standoff": 8}, "automargin": True}
    if chart.log_y:
        y_axis |= {"type": "log", "dtick": 1, "tickformat": ",.0f"}
    xs = [x for line in chart.lines for x, _ in line.points] or [0.0]
    x_axis = {
        "title": {"text": _plain(chart.x_label)},
        "tick0": 0,
        "dtick": max(1, math.ceil((max(xs) - min(xs)) / 10)),
    }
    return {
        "traces": traces,
        "layout": {"xaxis": x_axis, "yaxis": y_axis},
        "legend": list(legend.values()),
        "height": 320,
    }


def _dots(chart: DotChart) -> dict[str, Any]:
    traces: list[dict[str, Any]] = []
    for name, values, colour, labels in zip(chart.rows, chart.values, chart.colours, chart.labels, strict=True):
        hue = COLOURS[colour % len(COLOURS)]
        row = _plain(name)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": list(values),
                "y": [row] * len(values),
                "text": [_plain(label) for label in labels],
                "marker": {"symbol": _SYMBOLS[colour % 4], "size": 11, "color": hue, "opacity": 0.8},
                "hovertemplate": "%{y}, %{text}: %{x:.2f}<extra></extra>",
            }
        )
        mean = sum(values) / len(values) if values else None
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [mean],
                "y": [row],
                "marker": {"symbol": "line-ns-open", "size": 20, "line": {"width": 2}},
                "ink": True,
                "hovertemplate": "mean %{x:.2f}<extra></extra>",
            }
        )
    return _rows_of(chart.rows, chart.x_label, traces, [], 90 + 34 * len(chart.rows))


def _bars(chart: BarChart) -> dict[str, Any]:
    traces, legend = [], []
    for i, (part, values) in enumerate(zip(chart.parts, chart.values, strict=True)):
        colour = COLOURS[i % len(COLOURS)]
        name = printable(part)
        legend.append({"name": name, "colour": colour, "dash": "", "line": False})
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": list(values),
                "y": [_plain(row) for row in chart.rows],
                "name": _plain(part),
                "meta": name,
                "marker": {"color": colour},
                "hovertemplate": "%{y}<br>%{fullData.name}: %{x:,.1f}<extra></extra>",
            }
        )
    return _rows_of(chart.rows, chart.x_label, traces, legend, 90 + 30 * len(chart.rows))


def _rows_of(
    rows: Sequence[str], x_label: str, traces: list[dict[str, Any]], legend: list[dict[str, Any]], height: int
) -> dict[str, Any]:
    names = [_plain(row) for row in rows]
    return {
        "traces": traces,
        "layout": {
            "barmode": "stack",
            "bargap": 0.35,
            "xaxis": {"title": {"text": _plain(x_label)}},
            "yaxis": {
                "automargin": True,
                "type": "category",
                "categoryorder": "array",
                "categoryarray": names,
                "range": [len(rows) - 0.5, -0.5],
            },
        },
        "legend": legend,
        "height": height,
    }


def _plain(text: str) -> str:
    """Plotly reads a little HTML in labels, entities included: text for it carries none."""
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
