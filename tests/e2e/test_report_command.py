"""`dragoman report`."""

from __future__ import annotations

import gzip

import pytest
from tests.kit.fake_runs import fake_run, write_cell
from tests.kit.small_systems import make_systems


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


def test_a_tuned_system(inside, tmp_path):
    made = make_systems(tmp_path)
    dev, english = made / "dev.de", made / "dev.en"
    told = ("tune", "--system", made / "phrase", "--source", dev, "-r", english, "--method", "pro", "-o", "tuned")
    options = ("--rounds", 1, "--k", 10, "--test", dev, "--test-reference", english, "--json")
    tested = inside(*told, *options).json["test"]
    done = inside("report", "tuned", "-o", "tuned.html", "--json").json
    test, development = done["sets"]
    assert (test["name"], test["n_sentences"], development["name"]) == ("test set", 10, "development set")
    assert test["scores"]["bleu"]["before"] == pytest.approx(tested[0]["bleu"])
    assert test["scores"]["bleu"]["after"] == pytest.approx(tested[1]["bleu"])
    assert "Before and after" in (tmp_path / "tuned.html").read_text(encoding="utf-8")
    again = inside("report", "tuned", "-o", "again.html", "--test", dev, "-r", english, "--json").json
    assert again["sets"] == done["sets"]
    (tmp_path / "short.en").write_text("one\n", encoding="utf-8")
    page = ("-o", "page.html")
    assert "give both --test and -r" in inside("report", "tuned", *page, "--test", dev, status=2).err
    short = inside("report", "tuned", *page, "--test", dev, "-r", "short.en", status=2).err
    assert "10 lines but the references have 1" in " ".join(short.split())
    assert "give it alone" in inside("report", "tuned", "tuned", *page, status=2).err
    assert "HTML alone" in inside("report", "tuned", "--markdown", "x.md", status=2).err
    assert "is a system that was not tuned" in inside("report", made / "phrase", *page, status=2).err
    assert "is the record of a tuning" in (said := inside("report", "tuned/tune", *page, status=2).err)
    assert "give tuned" in " ".join(said.split())
    run = fake_run(tmp_path / "run", seeds=(1,))
    assert "are for a tuned system" in inside("report", run, *page, "--test", dev, "-r", english, status=2).err
