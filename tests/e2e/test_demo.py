"""The demo leaves a page that stands alone."""

from __future__ import annotations

import re


def test_demo_page(dragoman, tmp_path):
    result = dragoman("demo", "--out", "d", "--train", 400, "--test", 40, "--json").json
    page = (tmp_path / "d" / "report.html").read_text(encoding="utf-8")
    assert result["report"] == "d/report.html"
    assert set(result["scores"]) == {"before tuning", "tuned", "another reference"}
    assert result["scores"]["another reference"]["bleu"] > result["scores"]["tuned"]["bleu"] > 10
    assert "contribution" in page
    assert (tmp_path / "d" / "tuned" / "system.json").exists()
    orders = result["perplexity"]
    assert orders["1"] > orders["2"] > orders["5"]
    assert page.count("<svg") >= 5
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org/2000/svg)|<script", page)
