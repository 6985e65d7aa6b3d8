"""Charts as SVG text for paper and print. Labels are escaped; text takes the colour of its surroundings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from dragoman.report.charts import COLOURS, BarChart, Chart, DotChart, LineChart, nice_ticks
from dragoman.text import printable

__all__ = ["DASHES", "chart_svg", "marker"]

DASHES = ("", "7 4", "2 3", "8 3 2 3")
_WIDTH = 640
_LEFT, _RIGHT = 64, 14
_FONT = "font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: currentColor"
_LETTER = 6.9  # a mean width at this size, for want of a ruler


def chart_svg(chart: Chart) -> Markup:
    """A picture that stands alone."""
    if isinstance(chart, LineChart):
        return _lines(chart)
    return _dots(chart) if isinstance(chart, DotChart) else _bars(chart)


def marker(kind: int, x: float, y: float, size: float, colour: str) -> Markup:
    """A small mark whose shape goes with its colour."""
    half = size * 0.9
    match kind % 4:
        case 0:
            return Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}"/>').format(x, y, size, colour)
        case 1:
            path = f"M{x - half:.1f} {y - half:.1f}h{2 * half:.1f}v{2 * half:.1f}h{-2 * half:.1f}z"
        case 2:
            path = f"M{x:.1f} {y - size * 1.2:.1f}l{size * 1.1:.1f} {size * 2:.1f}h{-size * 2.2:.1f}z"
        case _:
            reach = size * 1.25
            path = (
                f"M{x:.1f} {y - reach:.1f}l{reach:.1f} {reach:.1f}l{-reach:.1f} {reach:.1f}l{-reach:.1f} {-reach:.1f}z"
            )
    return Markup('<path d="{}" fill="{}"/>').format(path, colour)


def _lines(chart: LineChart) -> Markup:
    shown = [line for line in chart.lines if line.points]
    points = [point for line in shown for point in line.points if not chart.log_y or point[1] > 0]
    xs = [x for x, _ in points] or [0.0, 1.0]
    ys = [math.log10(y) if chart.log_y else y for _, y in points] or [0.0, 1.0]
    if chart.log_y:
        y_ticks = [
            float(power) for power in range(math.floor(min(ys)), max(math.ceil(max(ys)), math.floor(min(ys)) + 1) + 1)
        ]
        y_text = [_number(10**tick) for tick in y_ticks]
    else:
        y_ticks = nice_ticks(min(ys), max(ys))
        y_text = [_number(tick) for tick in y_ticks]
    left = max(_LEFT, 36 + _LETTER * max(map(len, y_text)))
    top, bottom, right = 10.0, 280.0, float(_WIDTH - _RIGHT)
    x_of = _scale(min(xs), max(xs), left + 8, right - 8)
    y_of = _scale(y_ticks[0], y_ticks[-1], bottom, top)
    parts = [_grid_across(y_of(tick), text, left, right) for tick, text in zip(y_ticks, y_text, strict=True)]
    parts += [_text(x_of(x), bottom + 20, f"{x:g}", "middle") for x in _whole_ticks(min(xs), max(xs))]
    parts.append(_text((left + right) / 2, bottom + 42, chart.x_label, "middle"))
    side = Markup('<text transform="translate(14 {}) rotate(-90)" text-anchor="middle">{}</text>')
    parts.append(side.format((top + bottom) / 2, _label(chart.y_label)))
    for line in sorted(shown, key=lambda line: not line.thin):
        colour = COLOURS[line.colour % len(COLOURS)]
        places = [
            (x_of(x), y_of(math.log10(y) if chart.log_y else y)) for x, y in line.points if not chart.log_y or y > 0
        ]
        if not places:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        stroke = Markup(
            '<path fill="none" stroke="{}" stroke-width="{}" stroke-opacity="{}" stroke-dasharray="{}" d="{}"/>'
        )
        style = (0.9, 0.45) if line.thin else (2, 1)
        parts.append(stroke.format(colour, *style, DASHES[line.dash] or "none", path))
        if not line.thin:
            parts += [marker(line.colour, x, y, 3, colour) for x, y in places]
    entries = [(line.entry, line.colour, DASHES[line.dash]) for line in shown if not line.thin]
    legend, height = _legend(list(dict.fromkeys(entries)), left, bottom + 66, swatch=26)
    return _svg(height, [*parts, *legend], chart.title)


def _dots(chart: DotChart) -> Markup:
    values = [value for row in chart.values for value in row] or [0.0]
    ticks = nice_ticks(min(values), max(values))
    left, top, step = _row_label_width(chart.rows), 10.0, 32.0
    bottom = top + step * len(chart.rows)
    x_of = _scale(ticks[0], ticks[-1], left + 10, _WIDTH - _RIGHT - 10)
    parts = [_grid_up(x_of(tick), _number(tick), top, bottom) for tick in ticks]
    for i, (name, row) in enumerate(zip(chart.rows, chart.values, strict=True)):
        y = top + step * (i + 0.5)
        colour = COLOURS[chart.colours[i] % len(COLOURS)]
        parts.append(_text(left - 10, y + 4, name, "end"))
        if row:
            mean = x_of(sum(row) / len(row))
            parts.append(
                Markup('<path stroke="currentColor" stroke-width="1.5" d="M{:.1f} {:.1f}v18"/>').format(mean, y - 9)
            )
        parts += [marker(chart.colours[i], x_of(value), y, 4.5, colour) for value in row]
    parts.append(_text((left + _WIDTH) / 2, bottom + 40, chart.x_label, "middle"))
    return _svg(bottom + 50, parts, chart.title)


def _bars(chart: BarChart) -> Markup:
    totals = [sum(part[i] for part in chart.values) for i in range(len(chart.rows))]
    ticks = nice_ticks(0.0, max(totals, default=1.0) or 1.0)
    left, top, step = _row_label_width(chart.rows), 10.0, 30.0
    bottom = top + step * len(chart.rows)
    x_of = _scale(0.0, ticks[-1], left, _WIDTH - _RIGHT - 10)
    parts = [_grid_up(x_of(tick), _number(tick), top, bottom) for tick in ticks]
    bar = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="18" fill="{}"/>')
    for i, name in enumerate(chart.rows):
        y, start = top + step * i + 6, 0.0
        parts.append(_text(left - 10, y + 13, name, "end"))
        for part, values in enumerate(chart.values):
            end = start + values[i]
            width = max(0.0, x_of(end) - x_of(start) - (0.8 if part + 1 < len(chart.values) else 0.0))
            parts.append(bar.format(x_of(start), y, width, COLOURS[part % len(COLOURS)]))
            start = end
    parts.append(_text((left + _WIDTH) / 2, bottom + 40, chart.x_label, "middle"))
    entries = [(name, i, "") for i, name in enumerate(chart.parts)]
    legend, height = _legend(entries, left, bottom + 64, swatch=12)
    return _svg(height, [*parts, *legend], chart.title)


def _legend(
    entries: Sequence[tuple[str, int, str]], left: float, top: float, *, swatch: float
) -> tuple[list[Markup], float]:
    """Names in rows that wrap, and how far down they reach."""
    parts: list[Markup] = []
    x, y = left, top
    for name, colour, dash in entries:
        width = swatch + 10 + _LETTER * len(name) + 18
        if x + width > _WIDTH and x > left:
            x, y = left, y + 22
        hue = COLOURS[colour % len(COLOURS)]
        if swatch > 20:
            line = Markup('<path stroke="{}" stroke-width="2" stroke-dasharray="{}" d="M{:.1f} {:.1f}h{}"/>')
            parts += [line.format(hue, dash or "none", x, y - 4, swatch), marker(colour, x + swatch / 2, y - 4, 3, hue)]
        else:
            square = Markup('<rect x="{:.1f}" y="{:.1f}" width="{}" height="{}" fill="{}"/>')
            parts.append(square.format(x, y - 10, swatch, swatch, hue))
        parts.append(_text(x + swatch + 7, y, name, "start"))
        x += width
    return parts, y + 12


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = high - low
    return lambda value: (start + end) / 2 if span == 0 else start + (value - low) / span * (end - start)


def _whole_ticks(low: float, high: float) -> list[float]:
    step = max(1, math.ceil((high - low) / 12))
    return [float(x) for x in range(math.ceil(low), math.floor(high) + 1, step)]


def _row_label_width(rows: Sequence[str]) -> float:
    return min(300.0, 20 + _LETTER * max(map(len, rows), default=0))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"


def _grid_across(y: float, text: str, left: float, right: float) -> Markup:
    line = Markup('<path stroke="currentColor" stroke-opacity="0.15" d="M{:.1f} {:.1f}H{:.1f}"/>').format(
        left, y, right
    )
    return line + _text(left - 8, y + 4, text, "end")


def _grid_up(x: float, text: str, top: float, bottom: float) -> Markup:
    line = Markup('<path stroke="currentColor" stroke-opacity="0.15" d="M{:.1f} {:.1f}V{:.1f}"/>').format(
        x, top, bottom
    )
    return line + _text(x, bottom + 18, text, "middle")


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, _label(text))


def _label(text: str) -> Markup:
    return escape(printable(text))


def _svg(height: float, parts: Sequence[Markup], title: str) -> Markup:
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" role="img" style="{}"><title>{}</title>'
    )
    return (
        head.format(_WIDTH, round(height), _WIDTH, _FONT, _label(title)) + Markup("").join(parts) + Markup("</svg>\n")
    )
