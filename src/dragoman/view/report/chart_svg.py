"""Charts as SVG: for files with a legend, for pages with the values that the page's script shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dragoman.text import printable
from dragoman.view.drawing import LETTER, label, svg, text
from dragoman.view.report.axes import Axis, number_axis, point_axis, round_axis, value_axis
from dragoman.view.report.charts import COLOURS, BarChart, Chart, DotChart, Entry, Line, LineChart, PanelChart, shade_of
from dragoman.view.report.svg import DASHES, Frame, across, filled, legend_rows, marker, swatch, under, upwards

__all__ = ["draw_chart", "legend_swatch", "page_svgs"]

_FILE, _PAGE, _PANEL = 640, 420, 190
"""Widths: of a file, and of pictures on a page, which stay legible on a phone."""
_PANEL_HEIGHT = 150
_RIGHT = 14


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Parts of a picture and its size."""

    parts: list[Markup]
    width: float
    height: float
    title: str


def draw_chart(chart: Chart) -> Markup:
    """A standalone picture with its legend."""
    drawing = _side_by_side(chart) if isinstance(chart, PanelChart) else _draw(chart, _FILE)
    entries = chart.legend()
    legend, height = legend_rows(entries, 20, drawing.height + 20, drawing.width) if entries else ([], drawing.height)
    return svg(drawing.width, height, [*drawing.parts, *legend], chart.title)


def page_svgs(chart: Chart) -> list[Markup]:
    """Pictures for a page: one for each panel."""
    drawings = _panels(chart) if isinstance(chart, PanelChart) else [_draw(chart, _PAGE)]
    return [svg(drawing.width, drawing.height, drawing.parts, drawing.title) for drawing in drawings]


def legend_swatch(entry: Entry) -> Markup:
    """The look of an entry, for a legend in HTML."""
    return Markup('<svg width="26" height="12" aria-hidden="true">{}</svg>').format(swatch(entry))


def _draw(chart: LineChart | DotChart | BarChart, width: float) -> _Drawing:
    if isinstance(chart, LineChart):
        return _lines(chart, width)
    return _dots(chart, width) if isinstance(chart, DotChart) else _bars(chart, width)


def _lines(chart: LineChart, width: float) -> _Drawing:
    points = [point for line in chart.lines for point in line.points]
    top, bottom, right = 10.0, 240.0, width - _RIGHT
    y_axis = value_axis((y for _, y in points), bottom, top, log=chart.log_y, reach=chart.y_reach)
    left = max(64, 36 + LETTER * max(len(shown) for _, shown in y_axis.labels()))
    xs = [x for x, y in points if y_axis.shows(y)]
    if chart.log_x:
        x_axis = point_axis(xs, left + 8, right - 8)
    elif chart.real_x:
        x_axis = number_axis(xs, left + 8, right - 8, n_ticks=round(width / 80))
    else:
        x_axis = round_axis(xs, left + 8, right - 8, n_ticks=round(width / 50))
    frame = Frame(left=left, right=right, top=top, bottom=bottom)
    name, height = under(chart.x_label, frame, bottom + 42)
    side = Markup('<text transform="translate(14 {}) rotate(-90)" text-anchor="middle">{}</text>')
    parts = [
        *_plot(chart.lines, chart.legend(), frame, x_axis, y_axis, chart.x_label),
        *name,
        side.format((top + bottom) / 2, label(chart.y_label)),
    ]
    return _Drawing(parts, width, height, chart.title)


def _panels(chart: PanelChart) -> list[_Drawing]:
    """A plot for every panel, with its name and note above, truncated to fit."""
    legend = chart.legend()
    rounds = [x for panel in chart.panels for line in panel.lines for x, _ in line.points]
    top = 46.0 if any(panel.note for panel in chart.panels) else 28.0
    drawings = []
    for panel in chart.panels:
        points = [point for line in panel.lines for point in line.points]
        bottom = top + _PANEL_HEIGHT - 54
        y_axis = value_axis((y for _, y in points), bottom, top, n_ticks=3, reach=panel.y_reach)
        left = 14 + LETTER * max(len(shown) for _, shown in y_axis.labels())
        frame = Frame(left=left, right=_PANEL - 8, top=top, bottom=bottom)
        if chart.real_x:
            x_axis = number_axis((x for x, _ in points), left + 6, _PANEL - 14, n_ticks=3)
        else:
            x_axis = round_axis(rounds, left + 6, _PANEL - 14, n_ticks=5)
        title = text(_PANEL / 2, 14, _cut(panel.title), "middle")
        note = [text(_PANEL / 2, 31, _cut(panel.note), "middle", soft=True)] if panel.note else []
        plot = _plot(panel.lines, legend, frame, x_axis, y_axis, chart.x_label)
        drawings.append(_Drawing([title, *note, *plot], _PANEL, bottom + 26, panel.title))
    return drawings


def _cut(name: str) -> str:
    """What fits above a panel."""
    shown, n_letters = printable(name), int(_PANEL / LETTER)
    return shown if len(shown) <= n_letters else f"{shown[: n_letters - 1]}…"


def _side_by_side(chart: PanelChart) -> _Drawing:
    """Panels in rows."""
    drawings, n = _panels(chart), chart.n_columns
    move = Markup('<g transform="translate({} {})">{}</g>')
    wide, high = _FILE / 3, max((drawing.height for drawing in drawings), default=0) + 14
    parts = [
        move.format(round(i % n * wide), round(i // n * high), Markup("").join(drawing.parts))
        for i, drawing in enumerate(drawings)
    ]
    return _Drawing(parts, n * wide, -(-len(drawings) // n) * high, chart.title)


def _plot(
    lines: Iterable[Line], legend: Sequence[Entry], frame: Frame, x_axis: Axis, y_axis: Axis, x_label: str
) -> list[Markup]:
    """Grid, tick labels and lines; thin lines are drawn first."""
    parts = [*across(y_axis, frame), *(text(x, frame.bottom + 18, shown, "middle") for x, shown in x_axis.labels())]
    names = [entry.name for entry in legend]
    for line in sorted(lines, key=lambda line: not line.thin):
        shown = [(x, y) for x, y in line.points if x_axis.shows(x) and y_axis.shows(y)]
        if shown:
            places = [(x_axis.place(x), y_axis.place(y)) for x, y in shown]
            values = [f"{x_label} {x:g}: {_value(y)}" for x, y in shown]
            entry = names.index(line.entry) if line.entry in names else None
            parts.append(_series(_stroke(line, places), line.name, places, values, entry=entry, thin=line.thin))
    return parts


def _stroke(line: Line, places: Sequence[tuple[float, float]]) -> Markup:
    markers = Markup("").join(marker(line.colour, x, y, 3) for x, y in places if line.marked and not line.thin)
    if not line.joined:
        return markers
    path = Markup('<path fill="none" stroke="{}"{} d="{}"/>')
    style = Markup(' stroke-width="0.9" stroke-opacity="0.45"') if line.thin else Markup(' stroke-width="2"')
    if line.dash:
        style += Markup(' stroke-dasharray="{}"').format(DASHES[line.dash])
    drawn = path.format(
        COLOURS[line.colour % len(COLOURS)], style, "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    )
    return drawn + markers


def _dots(chart: DotChart, width: float) -> _Drawing:
    frame = Frame(left=10, right=width - _RIGHT, top=6, bottom=6 + 44.0 * len(chart.rows))
    axis = value_axis((value for row in chart.values for value in row), frame.left + 10, frame.right - 10)
    parts = upwards(axis, frame)
    for i, (name, row) in enumerate(zip(chart.rows, chart.values, strict=True)):
        y = frame.top + 44 * i + 30
        parts.append(text(frame.left, y - 14, name, "start"))
        if row:
            mean = Markup('<path stroke="currentColor" stroke-width="1.5" d="M{:.1f} {:.1f}v18"/>')
            parts.append(mean.format(axis.place(sum(row) / len(row)), y - 9))
        places = [(axis.place(value), y) for value in row]
        dots = Markup("").join(marker(chart.colours[i], *place, 4.5) for place in places)
        said = [f"{label}: {_value(value)}" for label, value in zip(chart.labels[i], row, strict=True)]
        parts.append(_series(dots, name, places, said))
    below, height = under(chart.x_label, frame, frame.bottom + 40)
    return _Drawing([*parts, *below], width, height, chart.title)


def _bars(chart: BarChart, width: float) -> _Drawing:
    totals = [sum(part[i] for part in chart.values) for i in range(len(chart.rows))]
    frame = Frame(left=10, right=width - _RIGHT, top=6, bottom=6 + 42.0 * len(chart.rows))
    axis = value_axis(totals, frame.left, frame.right - 10, reach=(0.0, 0.0 if any(totals) else 1.0))
    parts = upwards(axis, frame)
    parts += [text(frame.left, frame.top + 42 * i + 14, name, "start") for i, name in enumerate(chart.rows)]
    bar = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="16" {}/>')
    starts = [0.0] * len(chart.rows)
    for part, (name, values) in enumerate(zip(chart.parts, chart.values, strict=True)):
        ends = [start + value for start, value in zip(starts, values, strict=True)]
        spans = [(axis.place(start), axis.place(end)) for start, end in zip(starts, ends, strict=True)]
        tops = [frame.top + 42 * i + 20 for i in range(len(spans))]
        drawn = Markup("").join(
            bar.format(left, y, max(0.0, right - left - 0.8), filled(shade_of(part)))
            for (left, right), y in zip(spans, tops, strict=True)
        )
        places = [((left + right) / 2, y + 8) for (left, right), y in zip(spans, tops, strict=True)]
        said = [f"{row}: {_value(value)}" for row, value in zip(chart.rows, values, strict=True)]
        parts.append(_series(drawn, name, places, said))
        starts = ends
    below, height = under(chart.x_label, frame, frame.bottom + 40)
    return _Drawing([*parts, *below], width, height, chart.title)


def _series(
    drawn: Markup,
    name: str,
    places: Sequence[tuple[float, float]],
    values: Sequence[str],
    *,
    entry: int | None = None,
    thin: bool = False,
) -> Markup:
    """Drawn marks, with the data the page's script needs to show values (`x y text`, one per line) and hide series."""
    points = "\n".join(f"{x:.0f} {y:.0f} {printable(value)}" for (x, y), value in zip(places, values, strict=True))
    number = Markup("") if entry is None else Markup(' data-entry="{}"').format(entry)
    group = Markup('<g data-name="{}" data-points="{}" data-thin="{:d}"{}>{}</g>')
    return group.format(printable(name), points, thin, number, drawn)


def _value(value: float) -> str:
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.4f}"
