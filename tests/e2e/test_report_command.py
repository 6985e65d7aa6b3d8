"""`dragoman report`."""

from __future__ import annotations

import gzip

from tests.fake_runs import fake_run, write_cell


def test_report(inside, tmp_path):
    run = fake_run(tmp_path / "run")
    write_cell(run, optimiser="mira", error="no luck")
    done = inside("report", run, "-o", "report.html", "--svg", "figures", "--markdown", "tables.md", "--json")
    assert (done.json["report"], done.json["n_cells"]) == ("report.html", 6)
    assert any("no luck" in note for note in done.json["notes"])
    assert "note: toy/phrase/phrase15/mira/1 failed: no luck" in done.err
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert len(list((tmp_path / "figures").glob("*.svg"))) == 6
    assert "](figures/learning-toy-phrase-phrase15.svg)" in (tmp_path / "tables.md").read_text()
    assert "report: report.html" in inside("report", run, "-o", "report.html").out
    inside("report", run, "-o", "report.html.gz")
    assert gzip.decompress((tmp_path / "report.html.gz").read_bytes()) == (tmp_path / "report.html").read_bytes()


def test_mistakes(inside, tmp_path):
    run = fake_run(tmp_path / "run", seeds=(1,))
    assert "nothing to write" in inside("report", run, status=2).err
    assert "is not a run" in inside("report", "absent", "-o", "report.html", status=2).err
    assert "folder does not exist" in inside("report", run, "-o", "absent/report.html", status=2).err
