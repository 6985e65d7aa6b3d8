"""Axes of a chart: ticks, and the mapping from values to pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dragoman.view.report.charts import nice_ticks

__all__ = ["Axis", "number_axis", "point_axis", "round_axis", "tick_text", "value_axis"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A mapping from a range of values to a range of pixels; a logarithmic axis shows only positive values."""

    ticks: Sequence[float]
    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def shows(self, value: float) -> bool:
        """Whether the value can be shown on this axis."""
        return value > 0 or not self.log

    def place(self, value: float) -> float:
        """The position in pixels; the middle if the range is a single value."""
        low, high, at = (math.log10(x) if self.log else x for x in (self.low, self.high, value))
        share = 0.5 if high == low else (at - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def labels(self) -> list[tuple[float, str]]:
        return [(self.place(tick), tick_text(tick)) for tick in self.ticks]


def value_axis(
    values: Iterable[float],
    start: float,
    end: float,
    *,
    n_ticks: int = 5,
    log: bool = False,
    reach: Sequence[float] = (),
) -> Axis:
    """An axis with ticks at round numbers, or powers of ten, that spans the values and `reach`."""
    found = [value for value in (*values, *reach) if value > 0 or not log] or [1.0]
    if log:
        first = math.floor(math.log10(min(found)))
        ticks = [10.0**power for power in range(first, max(math.ceil(math.log10(max(found))), first + 1) + 1)]
    else:
        ticks = nice_ticks(min(found), max(found), n_ticks)
    return Axis(ticks=ticks, low=ticks[0], high=ticks[-1], start=start, end=end, log=log)


def round_axis(values: Iterable[float], start: float, end: float, *, n_ticks: int = 12) -> Axis:
    """An axis with integer ticks from the smallest to the largest value."""
    found = [*values] or [0.0, 1.0]
    low, high = min(found), max(found)
    step = max(1, math.ceil((high - low) / n_ticks))
    ticks = [float(x) for x in range(math.ceil(low), math.floor(high) + 1, step)]
    return Axis(ticks=ticks, low=low, high=high, start=start, end=end)


def number_axis(values: Iterable[float], start: float, end: float, *, n_ticks: int = 6) -> Axis:
    """An axis from the smallest to the largest value, with ticks at the round numbers between."""
    found = [*values] or [0.0, 1.0]
    low, high = min(found), max(found)
    ticks = [tick for tick in nice_ticks(low, high, n_ticks) if low <= tick <= high]
    return Axis(ticks=ticks, low=low, high=high, start=start, end=end)


def point_axis(values: Iterable[float], start: float, end: float) -> Axis:
    """A logarithmic axis with a tick at every value."""
    ticks = sorted({value for value in values if value > 0}) or [1.0]
    return Axis(ticks=ticks, low=ticks[0], high=ticks[-1], start=start, end=end, log=True)


def tick_text(value: float) -> str:
    """The text of a tick, with thousands separators."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"
