"""Derivations as pictures: phrases as aligned blocks, hierarchical ones as trees over the source.

They are drawn from the JSON form of an explanation, so that a stored one and a live one look the same. Source words
stand above the words of the translation, each in its direction of reading; nothing is said by colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from dragoman.text import is_right_to_left, split_tokens
from dragoman.view.drawing.svg import label, path, svg, text, text_width

__all__ = ["draw_derivation"]

_GAP, _MARGIN, _ROW, _BETWEEN, _LEVEL = 16.0, 10.0, 24.0, 74.0, 27.0
_MAX_WORDS, _MAX_DEPTH = 150, 40
"""Beyond these a picture helps no more."""
_BOXES = Markup('<g fill="currentColor" fill-opacity="0.06" stroke="currentColor" stroke-opacity="0.4">{}</g>')


@dataclass(frozen=True, slots=True)
class _Words:
    """Words in a row: the left and right edge of each, in pixels. In some scripts the first one is on the right."""

    words: Sequence[str]
    edges: Sequence[tuple[float, float]]
    width: float
    rtl: bool

    @classmethod
    def of(cls, words: Sequence[str]) -> _Words:
        edges, at = [], _MARGIN
        for word in words:
            end = at + max(8.0, text_width(word))
            edges.append((at, end))
            at = end + _GAP
        width = at - _GAP + _MARGIN
        rtl = is_right_to_left(words)
        if rtl:
            edges = [(width - right, width - left) for left, right in edges]
        return cls(words, edges, width, rtl)

    def moved(self, by: float) -> _Words:
        return replace(self, edges=[(left + by, right + by) for left, right in self.edges])

    def ends(self, begin: int, end: int) -> tuple[float, float]:
        """The left and right edge of a span of words."""
        first, last = self.edges[begin], self.edges[end - 1]
        return min(first[0], last[0]), max(first[1], last[1])

    def middle(self, begin: int, end: int) -> float:
        """The middle of a span; of an empty one the gap that it lies in."""
        if not self.edges:
            return _MARGIN
        if begin < end:
            return sum(self.ends(begin, end)) / 2
        is_last = begin >= len(self.edges)
        left, right = self.edges[-1 if is_last else begin]
        return right + _GAP / 2 if is_last != self.rtl else left - _GAP / 2

    def drawn(self, y: float, linked: set[int]) -> list[Markup]:
        """The words; those without a link are paler."""
        return [
            text((left + right) / 2, y, word, "middle", soft=place not in linked, rtl=self.rtl)
            for place, (word, (left, right)) in enumerate(zip(self.words, self.edges, strict=True))
        ]


def draw_derivation(explanation: Mapping[str, Any]) -> Markup | None:
    """The picture of an explanation in its JSON form; None for one that is too long to draw, and for one without words.

    Raises KeyError, IndexError, TypeError or ValueError for what is no explanation.
    """
    source, target = split_tokens(explanation["source"]), split_tokens(explanation["text"])
    nodes = explanation.get("nodes", ())
    if not source or not target or max(len(source), len(target)) > _MAX_WORDS:
        return None
    heights = _heights(nodes)
    if heights and heights[0] > _MAX_DEPTH:
        return None
    above, below = _Words.of(source), _Words.of(target)
    width = max(above.width, below.width)
    above, below = (row.moved((width - row.width) / 2) for row in (above, below))
    top = _LEVEL * heights[0] + 4 if heights else 0.0
    middle, bottom = top + _ROW, top + _ROW + _BETWEEN
    links = [(int(s), int(t)) for s, t in explanation["alignment"]]
    if any(not (0 <= s < len(source) and 0 <= t < len(target)) for s, t in links):
        raise ValueError("a link is outside of its sentences")
    parts = _tree(nodes, heights, above, below, links, middle, bottom) if nodes else []
    if not nodes:
        blocks = [_block(piece, above, below, middle, bottom) for piece in explanation["pieces"]]
        parts = [_BOXES.format(Markup("").join(blocks)), _links(links, above, below, middle, bottom)]
    linked = {s for s, _ in links}, {t for _, t in links}
    words = [*above.drawn(middle - 8, linked[0]), *below.drawn(bottom + 17, linked[1])]
    title = "Tree over the source, and its links" if nodes else "Phrases of the source and of the translation"
    said = f"{explanation['source']} → {explanation['text']}"
    return svg(width, bottom + _ROW + 2, [*parts, *words], title, description=said)


def _block(piece: Mapping[str, Any], above: _Words, below: _Words, middle: float, bottom: float) -> Markup:
    """A phrase pair: the boxes of both sides, joined by a band; dashed if its words were copied."""
    begin, end = piece["span"]
    positions = sorted(piece["positions"])
    if not 0 <= begin < end <= len(above.words):
        return Markup("")
    left, right = above.ends(begin, end)
    left, right = left - 5, right + 5
    top = middle - _ROW
    shape = f"M{left:.0f} {top:.0f}H{right:.0f}V{middle:.0f}"
    if positions:
        first, last = below.ends(positions[0], positions[-1] + 1)
        first, last = first - 5, last + 5
        shape += f"L{last:.0f} {bottom:.0f}V{bottom + _ROW:.0f}H{first:.0f}V{bottom:.0f}L{left:.0f} {middle:.0f}z"
    else:
        shape += f"H{left:.0f}z"
    copied = any(item["name"] == "unknown" for item in piece["features"])
    dashes = Markup(' stroke-dasharray="4 3"') if copied or not positions else Markup("")
    how = "; copied, because the tables do not know it" if copied else "" if positions else "; not translated"
    said = f"{piece['source']} → {piece['target']} ({float(piece['score']):+.3f}){how}"
    block = Markup('<g class="piece"><title>{}</title><path{} d="{}"/></g>')
    return block.format(label(said), dashes, shape)


def _links(links: Iterable[tuple[int, int]], above: _Words, below: _Words, middle: float, bottom: float) -> Markup:
    """Lines between the words of links; nothing without any."""
    ends = [(above.middle(s, s + 1), below.middle(t, t + 1)) for s, t in links]
    d = "".join(f"M{x:.0f} {middle:.0f}L{y:.0f} {bottom:.0f}" for x, y in ends)
    return path(d, opacity=0.55, width=1.2) if d else Markup("")


def _heights(nodes: Sequence[Mapping[str, Any]]) -> list[int]:
    """Levels of the subtree of each node; children come after their parents."""
    heights = [1] * len(nodes)
    for place in reversed(range(len(nodes))):
        children = nodes[place]["children"]
        if any(not place < child < len(nodes) for child in children):
            raise ValueError("a child comes before its parent, or is missing")
        heights[place] = 1 + max((heights[child] for child in children), default=0)
    return heights


def _tree(
    nodes: Sequence[Mapping[str, Any]],
    heights: Sequence[int],
    above: _Words,
    below: _Words,
    links: Sequence[tuple[int, int]],
    middle: float,
    bottom: float,
) -> list[Markup]:
    """Nodes above their source spans, with lines to children and own words; each with the links of its own words."""
    spots = []
    for node, height in zip(nodes, heights, strict=True):
        begin, end = node["span"]
        if not 0 <= begin <= end <= len(above.words):
            raise ValueError("a span is outside of its sentence")
        spots.append((above.middle(begin, end), middle - _ROW - _LEVEL * (height - 1) - 6))
    parts = []
    for node, (x, y) in zip(nodes, spots, strict=True):
        lines = []
        to_children = [(cx, cy - 12) for cx, cy in (spots[child] for child in node["children"])]
        to_words = [(above.middle(word, word + 1), middle - _ROW + 3) for word in _own_words(node, nodes)]
        for ends, opacity in ((to_children, 0.5), (to_words, 0.3)):
            if ends:
                drawn = "".join(f"M{x:.0f} {y + 4:.0f}L{ex:.0f} {ey:.0f}" for ex, ey in ends)
                lines.append(path(drawn, opacity=opacity))
        mine = set(node["positions"])
        lines.append(_links((link for link in links if link[1] in mine), above, below, middle, bottom))
        group = Markup('<g class="piece"><title>{}</title>{}{}</g>')
        said = label(f"{_rule(node, nodes)} ({float(node['score']):+.3f})")
        parts.append(group.format(said, Markup("").join(lines), text(x, y, node["label"], "middle")))
    return parts


def _own_words(node: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> list[int]:
    """Places of the source words that are the rule's own."""
    begin, end = node["span"]
    taken = {place for child in node["children"] for place in range(*nodes[child]["span"])}
    return [place for place in range(begin, end) if place not in taken]


def _rule(node: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> str:
    """Both sides of the rule, with nonterminals as `X₁`."""
    names = [f"{nodes[child]['label']}{chr(0x2081 + i)}" for i, child in enumerate(node["children"][:9])]

    def side(symbols: Sequence[str | int]) -> str:
        return " ".join(names[s] if isinstance(s, int) and s < len(names) else str(s) for s in symbols)

    return f"{node['label']} → {side(node['source'])} | {side(node['target'])}"
