"""Small pictures as SVG text. Labels are escaped; colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup, escape

from dragoman.text import printable
from dragoman.types import Int64Array

__all__ = ["bar_chart", "histogram"]


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
