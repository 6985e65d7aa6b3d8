"""Self-contained HTML pages and the pictures on them."""

from dragoman.report.page import Cell, Figure, Note, Page, Rows, Section
from dragoman.report.svg import alignment_matrix, bar_chart, histogram

__all__ = ["Cell", "Figure", "Note", "Page", "Rows", "Section", "alignment_matrix", "bar_chart", "histogram"]
