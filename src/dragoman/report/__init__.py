"""Self-contained HTML pages and the pictures on them."""

from dragoman.report.comparison import Mark, Shown, TableFormat, comparison_header, comparison_rows, legend, render
from dragoman.report.experiment import Experiment, load_experiment, write_figures, write_page, write_report
from dragoman.report.markdown import markdown_tables, write_markdown
from dragoman.report.page import Cell, Figure, Note, Page, Rows, Section
from dragoman.report.svg import Series, bar_chart, histogram, line_chart

__all__ = [
    "Cell",
    "Experiment",
    "Figure",
    "Mark",
    "Note",
    "Page",
    "Rows",
    "Section",
    "Series",
    "Shown",
    "TableFormat",
    "bar_chart",
    "comparison_header",
    "comparison_rows",
    "histogram",
    "legend",
    "line_chart",
    "load_experiment",
    "markdown_tables",
    "render",
    "write_figures",
    "write_markdown",
    "write_page",
    "write_report",
]
