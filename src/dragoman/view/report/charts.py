"""Charts as data; `draw_chart` draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from dragoman.settings import Record

__all__ = [
    "COLOURS",
    "BarChart",
    "Chart",
    "Dash",
    "DotChart",
    "Entry",
    "Line",
    "LineChart",
    "Panel",
    "PanelChart",
    "nice_ticks",
    "shade_of",
]

COLOURS = ("#3b7fc4", "#d9662b", "#3a9d6c", "#9a66c8", "#b98318", "#d14d7d", "#1f9ba6", "#7d8794")
"""Colours of series, in order; legible on white and on black."""


SHADES = (0.75, 0.42, 0.18, 0.58, 0.3)
"""Opacities of the parts of a bar, in order: neighbours differ."""


def shade_of(part: int) -> float:
    """The opacity of a part of a bar."""
    return SHADES[part % len(SHADES)]


class Dash(IntEnum):
    """How a line is drawn, so that it can be identified without colour."""

    SOLID = 0
    DASHED = 1
    DOTTED = 2
    DASH_DOTTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(Record):
    """Points in order. Lines of a group share a legend entry, named by its first line that is not thin."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    dash: Dash = Dash.SOLID
    group: str = ""
    thin: bool = False
    """A single run among several, drawn behind their mean."""
    marked: bool = True
    """Whether its points have markers; those of a curve with many corners have none."""
    joined: bool = True
    """Whether a line joins its points."""

    @property
    def entry(self) -> str:
        """The name of its legend entry."""
        return self.group or self.name


@dataclass(frozen=True, slots=True)
class Entry(Record):
    """A legend entry: a name with its colour and line style."""

    name: str
    colour: int
    dash: Dash | None
    """None for an area, such as a part of a bar."""
    marked: bool = True
    joined: bool = True
    shade: float | None = None
    """Of an area: its opacity, in the current colour, as colours mean optimisers."""


def _entries(lines: Sequence[Line]) -> list[Entry]:
    found: dict[str, Entry] = {}
    for line in lines:
        if not line.thin and line.points:
            entry = Entry(line.entry, line.colour, line.dash, marked=line.marked, joined=line.joined)
            found.setdefault(line.entry, entry)
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """Lines over rounds, over any numbers, or over the values of a setting on a logarithmic axis."""

    name: str
    """File name and element id: letters, digits and dashes."""
    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    real_x: bool = False
    """Whether ticks of the x axis stand at round numbers, not at rounds."""
    log_y: bool = False
    y_reach: Sequence[float] = ()
    """Additional values that the y axis must span."""

    def legend(self) -> list[Entry]:
        """Lines that are not thin."""
        return _entries(self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One of several small plots, with its own scale."""

    title: str
    lines: Sequence[Line]
    note: str = ""
    """A second line of the title."""
    y_reach: Sequence[float] = ()
    """Additional values that the y axis must span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelChart:
    """Small multiples: plots over the same rounds that share a legend, each with its own scale.

    With `real_x` they are plots over any numbers, each with a range of its own.
    """

    name: str
    title: str
    x_label: str
    panels: Sequence[Panel]
    real_x: bool = False
    n_columns: int = 3
    """Panels side by side in a file."""

    def legend(self) -> list[Entry]:
        """Lines of any panel."""
        return _entries([line for panel in self.panels for line in panel.lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class DotChart:
    """A dot for every run, a row for every method, and a tick at the mean."""

    name: str
    title: str
    x_label: str
    rows: Sequence[str]
    values: Sequence[Sequence[float]]
    colours: Sequence[int]
    labels: Sequence[Sequence[str]]
    """Labels of the dots, by row."""

    def legend(self) -> list[Entry]:
        """Empty, because the rows are labelled."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Stacked horizontal bars."""

    name: str
    title: str
    x_label: str
    rows: Sequence[str]
    parts: Sequence[str]
    values: Sequence[Sequence[float]]
    """By part, then by row."""

    def legend(self) -> list[Entry]:
        """One entry for each part of the bars."""
        return [Entry(name, i, None, shade=shade_of(i)) for i, name in enumerate(self.parts)]


Chart = LineChart | PanelChart | DotChart | BarChart


def nice_ticks(low: float, high: float, n: int = 5) -> list[float]:
    """About n round numbers that span a range."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    span = (high - low) or abs(high) or 1.0
    rough = span / max(1, n)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first = math.floor(low / step)
    last = math.ceil(high / step)
    return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]
