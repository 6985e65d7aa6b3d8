"""Pieces of HTML for notebooks, which stand alone without a script; reports use the same parts. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from dragoman.features.descriptions import describe_feature
from dragoman.view.drawing.derivation import draw_derivation
from dragoman.view.drawing.svg import label, path, svg

__all__ = ["contribution_bar", "curve", "explanation_html", "feature_name", "fragment", "table"]

N_FEATURES = 12
"""Number of features shown per derivation: those with the largest contributions."""
_STYLE = Markup(
    "<style>.dragoman{max-width:100%;overflow-x:auto;font:14px/1.5 system-ui,sans-serif}"
    ".dragoman table{border-collapse:collapse;margin:.4em 0}"
    ".dragoman :is(td,th){padding:.15em .8em .15em 0;text-align:left}"
    ".dragoman .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".dragoman .piece:hover path{stroke-opacity:1;stroke-width:2}"
    ".dragoman abbr{text-decoration:underline dotted;cursor:help}</style>"
)


def fragment(*parts: Markup) -> str:
    """A block of HTML for a notebook, with its style."""
    return str(Markup('<div class="dragoman">{}{}</div>').format(_STYLE, Markup("\n").join(parts)))


def table(header: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "") -> Markup:
    """A table; numbers, as text that ends like one, stand right. Cells that are Markup stay as they are."""
    head = Markup("").join(Markup("<th>{}</th>").format(label(name)) for name in header)
    body = Markup("").join(Markup("<tr>{}</tr>").format(Markup("").join(map(_cell, row))) for row in rows)
    named = Markup("<caption>{}</caption>").format(label(caption)) if caption else Markup("")
    return Markup("<table>{}<thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(named, head, body)


def _cell(value: object) -> Markup:
    if isinstance(value, Markup):
        return Markup("<td>{}</td>").format(value)
    if isinstance(value, float):
        return Markup('<td class="n">{}</td>').format(f"{value:.3f}")
    if isinstance(value, int):
        return Markup('<td class="n">{}</td>').format(f"{value:,}")
    return Markup("<td>{}</td>").format(label(str(value)))


def feature_name(name: str) -> Markup:
    """A feature's name, with what it means on hover if it is one of our decoders'."""
    meaning = describe_feature(name)
    return Markup('<abbr title="{}">{}</abbr>').format(meaning, label(name)) if meaning else label(name)


def contribution_bar(value: float, largest: float) -> Markup:
    """A bar from the middle: to the right and filled for what adds to the score, outlined for what takes from it."""
    wide = 50.0 * min(1.0, abs(value) / largest) if largest else 0.0
    left = 55.0 if value >= 0 else 55.0 - wide
    bar = Markup(
        '<svg class="bar" width="110" height="12" viewBox="0 0 110 12" stroke="currentColor" fill="currentColor" '
        'fill-opacity="{}" aria-hidden="true"><path d="M55 0v12M{:.1f} 2.5h{:.1f}v7h-{:.1f}z"/></svg>'
    )
    return bar.format(0.55 if value >= 0 else 0, left, wide, wide)


def curve(points: Sequence[float], title: str) -> Markup:
    """A small line through values in order, with the first and the last one written out."""
    if not points:
        return Markup("")
    low, high = min(points), max(points)
    reach = high - low or 1.0
    step = 180.0 / max(1, len(points) - 1)
    spots = [(30 + step * i, 46 - 36 * (value - low) / reach) for i, value in enumerate(points)]
    circle = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="currentColor"><title>{}</title></circle>')
    dots = [
        circle.format(x, y, f"{i}: {value:.2f}") for i, ((x, y), value) in enumerate(zip(spots, points, strict=True), 1)
    ]
    return svg(
        240, 56, [path("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in spots), opacity=0.8, width=1.5), *dots], title
    )


def explanation_html(explanation: Mapping[str, Any]) -> str:
    """A translation, its derivation as a picture, and its features by contribution."""
    features = sorted(explanation["features"], key=lambda item: -abs(float(item["contribution"])))
    largest = max((abs(float(item["contribution"])) for item in features), default=0.0)
    rows = [
        [
            feature_name(item["name"]),
            float(item["value"]),
            float(item["weight"]),
            float(item["contribution"]),
            contribution_bar(float(item["contribution"]), largest),
        ]
        for item in features[:N_FEATURES]
    ]
    if rest := features[N_FEATURES:]:
        total = sum(float(item["contribution"]) for item in rest)
        rows.append([f"{len(rest)} more", "", "", total, contribution_bar(total, largest)])
    head = Markup("<p><b>{}</b><br>{}<br>score {}</p>")
    return fragment(
        head.format(label(explanation["text"]), label(explanation["source"]), f"{float(explanation['score']):.4f}"),
        draw_derivation(explanation) or Markup(""),
        table(["feature", "value", "weight", "contribution", ""], rows),
    )
