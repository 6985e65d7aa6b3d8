"""A page of one chart escapes whatever a recipe holds."""

from __future__ import annotations

from dragoman.analysis import Mark, Shown
from dragoman.view.report import Line, LineChart, write_chart_page

HOSTILE = "</script><script>alert(1)</script>&\x1b[31m\u202e{{ 7*7 }}"


def test_everything_is_escaped(tmp_path):
    line = Line(name=HOSTILE, points=[(1.0, 1.0)], colour=0)
    chart = LineChart(name="figure", title=HOSTILE, x_label=HOSTILE, y_label=HOSTILE, lines=[line])
    table = ([Shown(HOSTILE)], [[Shown(HOSTILE, numeric=False)], [Shown(HOSTILE, mark=Mark.BEST)]])
    page = tmp_path / "page.html"
    write_chart_page(page, title=HOSTILE, lead=HOSTILE, chart=chart, note=HOSTILE, table=table)
    html = page.read_text(encoding="utf-8")
    assert html.count("<script") == html.count("</script") == 1
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "{{ 7*7 }}" in html
    assert html.count("&lt;script&gt;") >= 12


def test_numbers_stand_under_their_header(tmp_path):
    """Every cell of a column of scores leaves the same room for a mark."""
    line = Line(name="l", points=[(1.0, 1.0)], colour=0)
    chart = LineChart(name="figure", title="t", x_label="x", y_label="y", lines=[line])
    marks = [Mark.BEST, Mark.NOT_WORSE, Mark.WORSE, None]
    table = ([Shown("score"), Shown("p")], [[Shown("1.00", mark=mark), Shown("0.5")] for mark in marks])
    page = tmp_path / "page.html"
    write_chart_page(page, title="t", lead="", chart=chart, note="", table=table)
    html = page.read_text(encoding="utf-8")
    assert html.count('<span class="mark"') == 1 + len(marks)
