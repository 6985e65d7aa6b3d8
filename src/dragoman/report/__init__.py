"""Self-contained HTML pages and the pictures on them."""

from dragoman.report.comparison import Mark, Shown, TableFormat, comparison_header, comparison_rows, legend, render
from dragoman.report.page import Cell, Figure, Note, Page, Rows, Section
from dragoman.report.svg import Series, alignment_matrix, bar_chart, histogram, line_chart

__all__ = [
    "Cell",
    "Figure",
    "Mark",
    "Note",
    "Page",
    "Rows",
    "Section",
    "Series",
    "Shown",
    "TableFormat",
    "alignment_matrix",
    "bar_chart",
    "comparison_header",
    "comparison_rows",
    "histogram",
    "legend",
    "line_chart",
    "render",
]
