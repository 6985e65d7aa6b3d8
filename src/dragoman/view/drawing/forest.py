"""Search spaces as pictures: nodes by the source words that they cover, edges with the words that they add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dragoman.view.drawing.svg import label, path, svg, text, text_width

__all__ = ["DrawnEdge", "DrawnNode", "draw_forest"]

_X, _Y, _MARGIN, _R = 104.0, 46.0, 44.0, 4.0
_FEW = 30
"""Up to so many edges, their words are written beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNode:
    """A node: its name, and how many source words it covers."""

    name: str
    covered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnEdge:
    """An edge from its tails to its head, and the words that it adds."""

    head: int
    tails: Sequence[int]
    words: str


def draw_forest(nodes: Sequence[DrawnNode], edges: Sequence[DrawnEdge]) -> Markup:
    """Nodes in columns from left to right by words covered, tails before heads; edges carry their words on hover.

    Nodes are in topological order. An edge with several tails joins them at a dot.
    """
    column = _columns(nodes, edges)
    order: dict[int, list[int]] = {}
    for place, at in enumerate(column):
        order.setdefault(at, []).append(place)
    tallest = max((len(places) for places in order.values()), default=1)
    spots: dict[int, tuple[float, float]] = {}
    bends = _bends(edges, column)
    bottom = 2 * (_MARGIN + max(map(abs, bends), default=0.0)) + _Y * (tallest - 1)
    for at, places in order.items():
        first = (bottom - _Y * (len(places) - 1)) / 2
        for row, place in enumerate(places):
            spots[place] = _MARGIN + _X * at, first + _Y * row
    shown = len(edges) <= _FEW
    parts = [_edge(edge, spots, bend, shown=shown) for edge, bend in zip(edges, bends, strict=True)]
    circle = Markup(
        '<g class="piece"><title>{}</title><circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="currentColor"/></g>'
    )
    for place, node in enumerate(nodes):
        x, y = spots[place]
        parts.append(circle.format(label(node.name), x, y, _R))
        if shown and text_width(node.name) < _X:
            parts.append(text(x, y + 18, node.name, "middle", soft=True))
    width = 2 * _MARGIN + _X * max(column, default=0)
    return svg(width, bottom, parts, f"Search space: {len(nodes)} nodes, {len(edges)} edges")


def _columns(nodes: Sequence[DrawnNode], edges: Sequence[DrawnEdge]) -> list[int]:
    """The column of each node: right of all its tails, and of nodes that cover fewer words."""
    depth = [0] * len(nodes)
    by_head: dict[int, list[DrawnEdge]] = {}
    for edge in edges:
        by_head.setdefault(edge.head, []).append(edge)
    for place in range(len(nodes)):
        depth[place] = max((depth[t] + 1 for edge in by_head.get(place, ()) for t in edge.tails), default=0)
    levels = sorted({(node.covered, at) for node, at in zip(nodes, depth, strict=True)})
    return [levels.index((node.covered, at)) for node, at in zip(nodes, depth, strict=True)]


def _bends(edges: Sequence[DrawnEdge], column: Sequence[int]) -> list[float]:
    """How far each edge bends up or down, so that those between the same nodes, and longer ones, part from others."""
    seen: dict[tuple[int, ...], int] = {}
    bends = []
    for edge in edges:
        ends = (edge.head, *edge.tails)
        number = seen[ends] = seen.get(ends, -1) + 1
        jump = column[edge.head] - max((column[tail] for tail in edge.tails), default=column[edge.head] - 1)
        away = 26.0 * ((number + 1) // 2 + max(0, jump - 1))
        bends.append(-away if (number + jump) % 2 else away)
    return bends


def _edge(edge: DrawnEdge, spots: Mapping[int, tuple[float, float]], bend: float, *, shown: bool) -> Markup:
    x, y = spots[edge.head]
    said = edge.words or "(no words)"
    tails = [spots[tail] for tail in edge.tails] or [(x - _X / 2, y)]
    mx = (sum(tx for tx, _ in tails) / len(tails) + x) / 2
    my = (sum(ty for _, ty in tails) / len(tails) + y) / 2 + bend
    lines = [
        path(f"M{tx:.1f} {ty:.1f}Q{(tx + mx) / 2:.1f} {my:.1f} {mx:.1f} {my:.1f}", opacity=0.4) for tx, ty in tails
    ]
    lines.append(path(f"M{mx:.1f} {my:.1f}Q{(mx + x) / 2:.1f} {my:.1f} {x:.1f} {y:.1f}", opacity=0.4))
    words = text(mx, my - 4, said, "middle") if shown and text_width(said) < 1.6 * _X else Markup("")
    group = Markup('<g class="piece"><title>{}</title>{}{}</g>')
    return group.format(label(said), Markup("").join(lines), words)
