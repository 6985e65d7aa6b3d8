"""Self-contained HTML pages and the pictures on them."""

from dragoman.report.page import Cell, Figure, Note, Page, Rows, Section
from dragoman.report.svg import bar_chart, histogram

__all__ = ["Cell", "Figure", "Note", "Page", "Rows", "Section", "bar_chart", "histogram"]
