"""Parts of charts as SVG: axes, marks and legends. Text and grid use the current colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from markupsafe import Markup

from dragoman.text import printable
from dragoman.view.drawing import LETTER, text
from dragoman.view.report.axes import Axis
from dragoman.view.report.charts import COLOURS, Entry

__all__ = [
    "DASHES",
    "Frame",
    "across",
    "filled",
    "legend_rows",
    "marker",
    "swatch",
    "under",
    "upwards",
]

DASHES = ("", "7 4", "2 3", "8 3 2 3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The part of a picture between its axes, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


def marker(kind: int, x: float, y: float, size: float) -> Markup:
    """A small mark with a shape for each colour."""
    colour, half = COLOURS[kind % len(COLOURS)], size * 0.9
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


def swatch(entry: Entry, x: float = 0.0, y: float = 6.0) -> Markup:
    """The symbol before a legend entry, 26 pixels wide."""
    if entry.dash is None:
        area = Markup('<rect x="{:.1f}" y="{:.1f}" width="12" height="12" {}/>')
        return area.format(x + 14, y - 6, filled(entry.shade))
    colour = COLOURS[entry.colour % len(COLOURS)]
    line = Markup('<path stroke="{}" stroke-width="2" stroke-dasharray="{}" d="M{:.1f} {:.1f}h26"/>')
    drawn = line.format(colour, DASHES[entry.dash] or "none", x, y) if entry.joined else Markup("")
    return drawn + marker(entry.colour, x + 13, y, 3) if entry.marked else drawn


def filled(shade: float | None) -> Markup:
    """Attributes of an area in the current colour."""
    return Markup('fill="currentColor" fill-opacity="{:g}"').format(1.0 if shade is None else shade)


def legend_rows(entries: Sequence[Entry], left: float, top: float, width: float) -> tuple[list[Markup], float]:
    """Legend entries in wrapped rows, and the y coordinate of their bottom."""
    parts: list[Markup] = []
    x, y = left, top
    for entry in entries:
        wide = 26 + 10 + LETTER * len(entry.name) + 18
        if x + wide > width and x > left:
            x, y = left, y + 22
        parts += [swatch(entry, x, y - 4), text(x + 33, y, entry.name, "start")]
        x += wide
    return parts, y + 12


def across(axis: Axis, frame: Frame) -> list[Markup]:
    """Horizontal grid lines with tick labels on the left."""
    line = Markup('<path stroke="currentColor" stroke-opacity="0.15" d="M{:.1f} {:.1f}H{:.1f}"/>')
    return [
        line.format(frame.left, y, frame.right) + text(frame.left - 8, y + 4, shown, "end")
        for y, shown in axis.labels()
    ]


def upwards(axis: Axis, frame: Frame) -> list[Markup]:
    """Vertical grid lines with tick labels below."""
    line = Markup('<path stroke="currentColor" stroke-opacity="0.15" d="M{:.1f} {:.1f}V{:.1f}"/>')
    return [
        line.format(x, frame.top, frame.bottom) + text(x, frame.bottom + 18, shown, "middle")
        for x, shown in axis.labels()
    ]


def under(name: str, frame: Frame, top: float) -> tuple[list[Markup], float]:
    """The wrapped axis label below a frame, and the y coordinate of its bottom."""
    lines = wrap(printable(name), max(8, int((frame.right - frame.left) / LETTER))) or [""]
    middle = (frame.left + frame.right) / 2
    return [text(middle, top + 18 * i, line, "middle") for i, line in enumerate(lines)], top + 18 * len(lines) - 8
