"""Pages escape whatever a corpus holds."""

from __future__ import annotations

import numpy as np

from dragoman.report import Cell, Figure, Note, Page, Rows, Section, bar_chart, histogram

HOSTILE = "</script><script>alert(1)</script>&\x1b[31m\u202e{{ 7*7 }}"


def test_everything_is_escaped():
    parts = [
        Rows(header=[HOSTILE], rows=[[HOSTILE], [Cell(HOSTILE, numeric=True, best=True)]]),
        Note(HOSTILE),
        Figure(svg=bar_chart([HOSTILE], [1.0], title=HOSTILE, intervals=[0.1]), caption=HOSTILE),
    ]
    html = Page(title=HOSTILE, lead=HOSTILE, sections=[Section(title=HOSTILE, parts=parts)]).html()
    assert "<script" not in html
    assert "</script" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "{{ 7*7 }}" in html
    assert html.count("&lt;script&gt;") >= 9


def test_pictures_of_nothing():
    assert "<svg" in bar_chart([], [], title="none")
    assert "<svg" in bar_chart(["zero"], [0.0], title="zero")
    assert "<svg" in histogram(np.zeros(0, np.int64), title="none")


def test_histogram_counts():
    svg = histogram(np.array([0, 1, 1, 500]), title="t")
    assert svg.count('class="bar"') == 39
