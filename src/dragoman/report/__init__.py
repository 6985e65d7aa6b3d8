"""Self-contained HTML pages and the pictures on them."""

from dragoman.report.chart_svg import draw_chart
from dragoman.report.charts import Dash, Line, LineChart
from dragoman.report.comparison import TableFormat, render
from dragoman.report.experiment import Experiment, load_experiment, write_figures, write_page, write_report
from dragoman.report.markdown import markdown_tables, write_markdown
from dragoman.report.templating import write_chart_page

__all__ = [
    "Dash",
    "Experiment",
    "Line",
    "LineChart",
    "TableFormat",
    "draw_chart",
    "load_experiment",
    "markdown_tables",
    "render",
    "write_chart_page",
    "write_figures",
    "write_markdown",
    "write_page",
    "write_report",
]
