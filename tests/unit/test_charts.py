"""Charts of the report: axes, panels, nothing to draw."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from dragoman.view.report.axes import number_axis
from dragoman.view.report.chart_svg import draw_chart, page_svgs
from dragoman.view.report.charts import BarChart, DotChart, Line, LineChart, Panel, PanelChart, nice_ticks


def test_charts_of_nothing():
    charts = [
        LineChart(name="n", title="t", x_label="x", y_label="y", lines=[]),
        LineChart(name="n", title="t", x_label="x", y_label="y", lines=[Line(name="l", points=[(1, 0)], colour=0)]),
        LineChart(
            name="n", title="t", x_label="x", y_label="y", lines=[Line(name="l", points=[(1, 0)], colour=9)], log_y=True
        ),
        DotChart(name="n", title="t", x_label="x", rows=["r"], values=[[]], colours=[0], labels=[[]]),
        BarChart(name="n", title="t", x_label="x", rows=[], parts=["p"], values=[[]]),
        BarChart(name="n", title="t", x_label="x", rows=["r"], parts=["p"], values=[[0.0]]),
        PanelChart(name="n", title="t", x_label="x", panels=[]),
        PanelChart(name="n", title="t", x_label="x", panels=[Panel(title="p", lines=[])]),
    ]
    for chart in charts:
        for picture in (draw_chart(chart), *page_svgs(chart)):
            assert "nan" not in ET.tostring(ET.fromstring(str(picture)), encoding="unicode")


def test_every_panel_has_a_scale_of_its_own():
    lines = [Line(name="o", points=[(1, value), (2, 2 * value)], colour=0) for value in (-0.9, 0.001)]
    chart = PanelChart(name="n", title="t", x_label="round", panels=[Panel(title="p", lines=[line]) for line in lines])
    for picture in page_svgs(chart):
        (group,) = re.findall(r'data-points="([^"]*)"', picture)
        first, last = (int(line.split()[1]) for line in group.split("\n"))
        assert abs(first - last) > 30
    assert [entry.name for entry in chart.legend()] == ["o"]


def test_a_logarithmic_axis():
    chart = LineChart(
        name="n", title="t", x_label="x", y_label="y", log_x=True, y_reach=(0, 1),
        lines=[Line(name="l", points=[(10, 0.5), (100, 0.5), (1000, 0.5)], colour=0)],
    )  # fmt: skip
    picture = str(draw_chart(chart))
    (points,) = re.findall(r'data-points="([^"]*)"', picture)
    places = [int(line.split()[0]) for line in points.split("\n")]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=1)
    for tick in ("10", "100", "1,000", "0.2", "1"):
        assert f">{tick}</text>" in picture


@pytest.mark.parametrize(("low", "high"), [(0, 1), (3.2, 3.3), (-5, 12345), (7, 7), (0, 0), (1e-9, 2e-9)])
def test_ticks_span_the_range(low, high):
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 9
    assert ticks == sorted(set(ticks))


def test_an_axis_of_numbers():
    axis = number_axis([-0.31, 0.52], 0, 100)
    assert all(-0.31 <= tick <= 0.52 for tick in axis.ticks)
    assert 0.0 in axis.ticks
    assert (axis.place(-0.31), axis.place(0.52)) == (0, 100)
    assert number_axis([0, 48_000], 0, 100).labels()[1][1] == "10,000"
    assert number_axis([2.5], 0, 100).place(2.5) == 50
    curve = Line(name="rule", points=[(-0.5, 30.0), (0.1, 30.0), (0.1, 31.0), (0.5, 31.0)], colour=0, marked=False)
    chart = LineChart(name="c", title="t", x_label="weight", y_label="BLEU", lines=[curve], real_x=True)
    drawn = str(draw_chart(chart))
    assert ">-0.4<" in drawn
    assert "<circle" not in drawn  # nor in the legend
