"""`dragoman compare` in all its formats."""

from __future__ import annotations

import csv
import io

import pytest
from tests.fake_runs import fake_run, write_cell

DRAWS = ["--trials", 300, "--bootstrap", 100]


@pytest.fixture
def run(tmp_path):
    return fake_run(tmp_path / "run", rates={"mert": 0.4, "pro": 0.1, "mira": 0.11})


def test_json(inside, run):
    result = inside("compare", run, *DRAWS, "--json").json
    assert [row["optimiser"] for row in result["rows"]] == ["mert", "mira", "pro"]
    for row in result["rows"]:
        assert (row["corpus"], row["system"], row["features"], row["n_runs"]) == ("toy", "phrase", "phrase15", 3)
        assert 10 < row["mean"]["bleu"] < 100
        assert 0 < row["std"]["bleu"] < 10
        assert set(row["p_value"]) == {"bleu", "chrf", "ter"}
        assert row["mean"]["bleu"] == pytest.approx(sum(row["details"]["bleu"]["runs"]) / 3)
    assert result["rows"][0]["p_value"]["bleu"] < 0.05
    assert not result["rows"][0]["not_worse"]["bleu"]
    best = [row for row in result["rows"] if row["best"]["bleu"]]
    assert [row["p_value"]["bleu"] for row in best] == [None]


def test_table(inside, run):
    write_cell(run, optimiser="rm", error="no luck")
    shown = inside("compare", run, *DRAWS)
    assert "toy/phrase/phrase15/rm/1 failed: no luck" in shown.err
    assert "not significantly worse" in " ".join(shown.err.split())
    lines = shown.out.splitlines()
    names = ["corpus", "system", "features", "optimiser", "runs", "BLEU", "p", "chrF", "p", "TER↓", "p", "length"]
    assert lines[0].split() == names
    assert len(lines) == 4
    assert sum("*" in line for line in lines) >= 1
    assert not any(sign in lines[1] for sign in "*≈"), lines[1]


def test_markdown(inside, run):
    lines = inside("compare", run, *DRAWS, "-m", "bleu", "--format", "markdown").out.splitlines()
    assert lines[0] == "| corpus | system | features | optimiser | runs | BLEU | p | length |"
    assert lines[1] == "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |"
    assert sum(line.count("**") for line in lines[2:5]) == 2
    assert sum("≈" in line for line in lines[2:5]) == 1
    assert lines[6].startswith("Mean ± standard deviation over tuning runs. **Bold**: best")


def test_csv(inside, run):
    rows = list(csv.DictReader(io.StringIO(inside("compare", run, *DRAWS, "--format", "csv").out)))
    as_json = inside("compare", run, *DRAWS, "--json").json["rows"]
    assert sorted(row["bleu_mark"] for row in rows) == ["", "best", "not significantly worse"]
    for row, other in zip(rows, as_json, strict=True):
        assert float(row["ter_mean"]) == other["mean"]["ter"]
        assert row["chrf_p_best_randomisation"] == str(other["p_value"]["chrf"] or "")
        assert row["bleu_p_baseline_bootstrap"] == ""


def test_latex(inside, run, tmp_path):
    assert inside("compare", run, *DRAWS, "-m", "bleu", "--format", "latex", "-o", "table.tex").out == ""
    text = (tmp_path / "table.tex").read_text()
    assert text.startswith("\\begin{tabular}{llllrrrr}\n\\toprule\n")
    assert text.count("\\textbf{") == 1
    assert text.count("$^{\\approx}$") == 1
    assert " $\\pm$ " in text


def test_html(inside, run):
    text = inside("compare", run, *DRAWS, "-m", "bleu", "--format", "html", "--baseline", "mert").out
    assert text.count('<strong title="best">') == 1
    assert text.count('<span title="not significantly worse">≈</span>') == 1
    assert "against the baseline mert" in text


def test_mistakes(inside, run):
    for words, message in (
        (["absent"], "is not a run"),
        ([run, run], "duplicate cell"),
        ([run, "-m", "meteor"], "'meteor' is not a metric"),
        ([run, "--baseline", "nobody"], "no such row"),
        ([run, "--format", "excel"], "--format"),
        ([run, "--test", "t"], "--test"),
    ):
        assert message in " ".join(inside("compare", *words, status=2).err.split())
