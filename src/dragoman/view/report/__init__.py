"""Self-contained HTML pages and the pictures on them."""

from dragoman.view.report.chart_svg import draw_chart
from dragoman.view.report.charts import Dash, Line, LineChart
from dragoman.view.report.comparison import TableFormat, render
from dragoman.view.report.experiment import Experiment, load_experiment, write_figures, write_page, write_report
from dragoman.view.report.markdown import markdown_tables, write_markdown
from dragoman.view.report.templating import write_chart_page

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
