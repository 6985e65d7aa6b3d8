"""Pictures and tables of derivations and search spaces, for pages and notebooks."""

from dragoman.view.drawing.derivation import draw_derivation
from dragoman.view.drawing.forest import DrawnEdge, DrawnNode, draw_forest
from dragoman.view.drawing.fragments import contribution_bar, curve, explanation_html, feature_name, fragment, table
from dragoman.view.drawing.svg import LETTER, label, path, svg, text, text_width

__all__ = [
    "LETTER",
    "DrawnEdge",
    "DrawnNode",
    "contribution_bar",
    "curve",
    "draw_derivation",
    "draw_forest",
    "explanation_html",
    "feature_name",
    "fragment",
    "label",
    "path",
    "svg",
    "table",
    "text",
    "text_width",
]
