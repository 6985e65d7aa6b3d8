"""Small pictures as SVG text. Labels are escaped; colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from dragoman.text import printable
from dragoman.types import Int64Array

__all__ = ["Series", "alignment_matrix", "bar_chart", "histogram", "line_chart"]


def _label(text: str) -> Markup:
    return escape(printable(text))


def _svg(width: float, height: float, parts: Sequence[Markup], title: str) -> Markup:
    head = Markup('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" role="img"><title>{}</title>')
    return (
        head.format(round(width), round(height), round(width), _label(title))
        + Markup("").join(parts)
        + Markup("</svg>")
    )


def bar_chart(
    labels: Sequence[str],
    values: Sequence[float],
    *,
    title: str,
    intervals: Sequence[float] | None = None,
    form: str = "{:.1f}",
) -> Markup:
    """Horizontal bars with their values, and whiskers of ± interval where given."""
    row, left, width = 30, 190, 640
    spread = intervals or [0.0] * len(values)
    top = max((v + s for v, s in zip(values, spread, strict=True)), default=0.0) or 1.0
    scale = (width - left - 70) / top
    parts = []
    for i, (label, value, half) in enumerate(zip(labels, values, spread, strict=True)):
        y = i * row
        parts.append(Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(left - 10, y + 19, _label(label)))
        parts.append(
            Markup('<rect class="bar" x="{}" y="{}" width="{:.1f}" height="18" rx="2"/>').format(
                left, y + 6, max(value, 0) * scale
            )
        )
        if half:
            a, b = left + max(value - half, 0) * scale, left + (value + half) * scale
            parts.append(Markup('<path class="whisker" d="M{:.1f} {}H{:.1f}"/>').format(a, y + 15, b))
        x = left + (max(value, 0) + half) * scale + 8
        parts.append(Markup('<text x="{:.1f}" y="{}">{}</text>').format(x, y + 19, form.format(value)))
    return _svg(width, max(1, len(values)) * row + 4, parts, title)


def histogram(values: Int64Array, *, title: str, n_bins: int = 40) -> Markup:
    """How often each length occurs; the last bin holds the tail."""
    width, height, base = 640, 170, 145
    most = int(values.max(initial=1))
    step = max(1, math.ceil((most + 1) / n_bins))
    counts = np.bincount(np.minimum(values // step, n_bins - 1), minlength=1)
    bar = width / max(len(counts), 1)
    scale = (base - 20) / max(int(counts.max()), 1)
    parts = [Markup('<path class="axis" d="M0 {}H{}"/>').format(base, width)]
    for i, count in enumerate(counts):
        tall = float(count) * scale
        parts.append(
            Markup('<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
                i * bar + 1, base - tall, max(bar - 2, 0.5), tall
            )
        )
        if i % max(1, len(counts) // 10) == 0:
            x = i * bar + bar / 2
            parts.append(
                Markup('<text class="soft" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
                    x, base + 18, i * step
                )
            )
    return _svg(width, height, parts, title)


def alignment_matrix(
    rows: Sequence[str], columns: Sequence[str], links: Sequence[tuple[int, int]], *, title: str
) -> Markup:
    """A square for every (row word, column word) link; column words stand slanted on top."""
    cell, left, top = 22, 130, 110
    right, bottom = left + cell * len(columns), top + cell * len(rows)
    parts = []
    for j, word in enumerate(columns):
        x = left + j * cell + cell / 2
        parts.append(
            Markup('<text transform="translate({:.1f} {}) rotate(-50)">{}</text>').format(x, top - 8, _label(word))
        )
        parts.append(Markup('<path class="axis" d="M{} {}V{}"/>').format(left + j * cell, top, bottom))
    for i, word in enumerate(rows):
        y = top + i * cell
        parts.append(Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(left - 8, y + 16, _label(word)))
        parts.append(Markup('<path class="axis" d="M{} {}H{}"/>').format(left, y, right))
    parts.append(Markup('<path class="axis" d="M{} {}V{}H{}"/>').format(right, top, bottom, left))
    for i, j in links:
        x, y = left + j * cell + 3, top + i * cell + 3
        parts.append(
            Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}" rx="2"/>').format(x, y, cell - 6, cell - 6)
        )
    return _svg(right + 90, bottom + 6, parts, title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A named line of (x, y) points."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


_COLOURS = ("#1f6feb", "#d2491e", "#2a9d5b", "#8a4fd0", "#b8860b", "#5b6875")


def line_chart(
    series: Sequence[Series], *, title: str, x_label: str, y_label: str, y_range: tuple[float, float]
) -> Markup:
    """Lines over a logarithmic x axis, with a legend; a name's part before the comma decides its colour."""
    width, height, left, bottom, top, right = 680, 380, 60, 330, 20, 470
    xs = sorted({x for line in series for x, _ in line.points})
    low, high = math.log(xs[0]), math.log(xs[-1])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log(x) - low) / ((high - low) or 1.0)
        up = (y - y_range[0]) / (y_range[1] - y_range[0])
        return left + across * (right - left), bottom - min(max(up, 0.0), 1.0) * (bottom - top)

    parts = []
    for step in range(6):
        value = y_range[0] + (y_range[1] - y_range[0]) * step / 5
        _, y = place(xs[0], value)
        parts.append(Markup('<path stroke="#c9d1d9" d="M{} {:.1f}H{}"/>').format(left, y, right))
        parts.append(Markup('<text x="{}" y="{:.1f}" text-anchor="end">{:.1f}</text>').format(left - 8, y + 4, value))
    for x in xs:
        at, _ = place(x, y_range[0])
        parts.append(Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>').format(at, bottom + 18, x))
    parts.append(
        Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
            (left + right) / 2, height - 8, _label(x_label)
        )
    )
    side = Markup('<text transform="translate(16 {}) rotate(-90)" text-anchor="middle">{}</text>')
    parts.append(side.format((top + bottom) / 2, _label(y_label)))
    families = list(dict.fromkeys(line.name.split(",")[0] for line in series))
    for i, line in enumerate(series):
        colour = _COLOURS[families.index(line.name.split(",")[0]) % len(_COLOURS)]
        dash = Markup(' stroke-dasharray="6 4"') if line.dashed else Markup("")
        path = "M" + "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in line.points)
        stroke = Markup('<path fill="none" stroke="{}" stroke-width="2"{} d="{}"/>')
        parts.append(stroke.format(colour, dash, path))
        dot = Markup('<circle fill="{}" r="3" cx="{:.1f}" cy="{:.1f}"/>')
        parts += [dot.format(colour, *place(x, y)) for x, y in line.points]
        y = top + 10 + 22 * i
        parts.append(stroke.format(colour, dash, f"M{right + 20} {y}H{right + 50}"))
        parts.append(Markup('<text x="{}" y="{}">{}</text>').format(right + 58, y + 4, _label(line.name)))
    return _svg(width, height, parts, title)
