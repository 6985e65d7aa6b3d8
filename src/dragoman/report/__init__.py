"""Self-contained HTML pages and the pictures on them."""

from dragoman.report.page import Cell, Figure, Note, Page, Rows, Section
from dragoman.report.svg import Series, alignment_matrix, bar_chart, histogram, line_chart

__all__ = [
    "Cell",
    "Figure",
    "Note",
    "Page",
    "Rows",
    "Section",
    "Series",
    "alignment_matrix",
    "bar_chart",
    "histogram",
    "line_chart",
]
