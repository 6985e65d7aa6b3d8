"""Self-contained HTML pages. Everything is escaped; an undefined name is an error."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from dragoman.analysis import Mark
from dragoman.text import printable, replace_bytes
from dragoman.types import PathLike
from dragoman.view.report.chart_svg import legend_swatch, page_svgs
from dragoman.view.report.charts import Chart
from dragoman.view.report.glossary import Glossary
from dragoman.view.report.tables import Table

__all__ = ["render_page", "write_chart_page"]


def render_page(template: str, *, title: str, **values: Any) -> str:
    """A page with inline style and script. The filter `printable` makes control characters visible."""
    import jinja2

    from dragoman.features.descriptions import describe_feature  # only pages need it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dragoman.view.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["printable"] = printable
    glossary = Glossary()
    environment.globals |= {
        "Mark": Mark,
        "describe_feature": describe_feature,
        "legend_swatch": legend_swatch,
        "meaning": glossary.meaning,
        "words_used": glossary.used,
        "page_svgs": page_svgs,
        "score_columns": _score_columns,
    }
    script = files("dragoman.view.report").joinpath("templates", "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    # The script is our own file without a closing script tag; its hash is in the page's content security policy.
    return environment.get_template(template).render(
        title=title,
        script=Markup("{}").format(_Code(script)),
        script_hash=f"sha256-{digest}",
        **values,
    )


def write_chart_page(path: PathLike, *, title: str, lead: str, chart: Chart, note: str, table: Table) -> None:
    """One chart with its numbers."""
    page = render_page("chart.html", title=title, lead=lead, chart=chart, note=note, table=table)
    replace_bytes(path, page.encode("utf-8"))


def _score_columns(table: Table) -> list[bool]:
    """Columns with marked scores: every cell leaves room for a mark, so that numbers are aligned."""
    header, rows = table
    return [any(row[i].mark is not None for row in rows) for i in range(len(header))]


class _Code(str):
    """Script text that is inserted into the page unescaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return self
