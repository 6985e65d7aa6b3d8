"""Marks and lines of a picture as SVG, with a style sheet for light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from dragoman.types import Float64Array

STYLE = """
svg { --ink: #1c2530; --soft: #9aa5b1; --paper: #fff; --mira: #2f6fb3; --rm: #c4541d; --mark: #3a9d6c; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e4e9ee; --soft: #66727f; --paper: #11171d; --mira: #7db3f5; --rm: #ff9a66; --mark: #5cc894; }
}
.back { fill: var(--paper); }
text { font: 14px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: var(--ink); }
path { fill: none; stroke: var(--ink); stroke-width: 1.6; }
.frame, .axis { stroke: var(--soft); stroke-width: 1; }
.dark { stroke-width: 2.6; }
.light { stroke-width: 1; opacity: .75; }
.mira { stroke: var(--mira); }
.rm { stroke: var(--rm); stroke-dasharray: 3 4; }
.bound { stroke: var(--soft); stroke-width: 2; stroke-dasharray: 2 4; }
.equilibrium { stroke-dasharray: 2 4; }
.span { stroke: var(--soft); stroke-width: 1.2; }
.moved { stroke: var(--rm); stroke-width: 2.6; }
.head { fill: var(--rm); stroke: none; }
.other { fill: var(--soft); stroke: none; }
.hope { fill: var(--mark); stroke: none; }
.fear, .worst { fill: var(--mira); stroke: none; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """A range of values drawn into a rectangle; without a height, both axes have the same scale."""

    x: tuple[float, float]
    y: tuple[float, float]
    left: float
    top: float
    width: float
    height: float = 0.0

    @property
    def tall(self) -> float:
        return self.height or self.width * (self.y[1] - self.y[0]) / (self.x[1] - self.x[0])

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point in pixels."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + across * self.width, self.top + (1 - up) * self.tall


class Picture:
    """Parts in the order in which they are drawn."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._size = width, height
        self._title = title
        self._parts: list[str] = []

    def svg(self) -> str:
        """The whole picture."""
        width, height = self._size
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
        back = f'<rect class="back" width="{width}" height="{height}"/>'
        title = f"<title>{escape(self._title)}</title>"
        return "\n".join([head, title, f"<style>{STYLE}</style>", back, *self._parts, "</svg>\n"])

    def text(self, x: float, y: float, content: str, anchor: str) -> None:
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>')

    def side(self, x: float, y: float, content: str) -> None:
        """A text that runs upwards."""
        place = f'transform="translate({x:.1f} {y:.1f}) rotate(-90)"'
        self._parts.append(f'<text {place} text-anchor="middle">{escape(content)}</text>')

    def note(self, x: float, y: float, content: str, dx: float, dy: float) -> None:
        """A text beside a mark."""
        self.text(x + dx, y + dy, content, "start")

    def frame(self, plane: Plane) -> None:
        size = f"h{plane.width:.1f}v{plane.tall:.1f}h{-plane.width:.1f}z"
        self._path(f"M{plane.left:.1f} {plane.top:.1f}{size}", "frame")

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self._path(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", style)

    def level(self, plane: Plane, weights: Float64Array, level: float, style: str) -> None:
        """The points of a model score, w.f = level, within a plane."""
        ends = [(x, (level - weights[0] * x) / weights[1]) for x in plane.x if weights[1]]
        ends += [((level - weights[1] * y) / weights[0], y) for y in plane.y if weights[0]]
        (x_low, x_high), (y_low, y_high) = plane.x, plane.y
        inside = [(x, y) for x, y in ends if x_low <= x <= x_high and y_low <= y <= y_high]
        if len(inside) >= 2:
            self.line(*plane.at(*inside[0]), *plane.at(*inside[1]), style)

    def span(self, left: float, right: float, y: float, content: str) -> None:
        """A measured length with its text in the middle."""
        self._path(f"M{left:.1f} {y - 5:.1f}v10M{right:.1f} {y - 5:.1f}v10M{left:.1f} {y:.1f}H{right:.1f}", "span")
        self.text((left + right) / 2, y + 18, content, "middle")

    def arrow(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A line with a head at its end."""
        along = np.array([x2 - x1, y2 - y1])
        along /= max(1e-9, float(np.hypot(*along)))
        base, side = np.array([x2, y2]) - 11 * along, 5 * np.array([-along[1], along[0]])
        self.line(x1, y1, *base, style)
        corners = [(x2, y2), tuple(base + side), tuple(base - side)]
        self._path("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "z", "head")

    def candidate(self, x: float, y: float, kind: str) -> None:
        """A circle for the hope, a triangle for the fear, one upside down for the worst, a square for others."""
        shapes = {
            "hope": f"M{x - 7:.1f} {y:.1f}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0z",
            "fear": f"M{x:.1f} {y - 8:.1f}l8 14h-16z",
            "worst": f"M{x:.1f} {y + 8:.1f}l8 -14h-16z",
            "other": f"M{x - 5:.1f} {y - 5:.1f}h10v10h-10z",
        }
        self._path(shapes[kind], kind)

    def _path(self, d: str, style: str) -> None:
        self._parts.append(f'<path class="{style}" d="{d}"/>')
