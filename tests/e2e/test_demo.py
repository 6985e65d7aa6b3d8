"""The demo leaves a page that stands alone."""

from __future__ import annotations

import re

SMALL = (
    "corpora.synth.synth={train=400, dev=10, test=10}",
    "optimisers.mert={k=10, max_rounds=1, settings={n_starts=2}}",
    "optimisers.mira={k=10, max_rounds=1}",
    "grid.seeds=[1, 2]",
    "report.samples=2",
)


def test_demo_page(inside, tmp_path):
    words = ("demo", "--out", "d", *(word for change in SMALL for word in ("--set", change)))
    result = inside(*words, "--json").json
    page = (tmp_path / "d" / "report.html").read_text(encoding="utf-8")
    assert result["report"] == "d/report.html"
    assert len(result["cells"]) == 6
    assert all(cell["bleu"] > 10 for cell in result["cells"])
    for name in ("phrase", "dense", "sparse", "mert", "mira"):
        assert name in page
    assert "the weights it began with score" in page
    assert "Phrases of the source" in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"'](https?:)?//", page)
    assert "report: d/report.html" in inside(*words, "-q").out
