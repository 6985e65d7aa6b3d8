"""`dragoman compare` in all its formats."""

from __future__ import annotations

import csv
import io

import pytest
from tests.kit.fake_runs import fake_run, noisy, sentences, write_cell

from dragoman.analysis import holm
from dragoman.run import start_file

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


@pytest.fixture
def two_corpora(tmp_path):
    """A recipe with a primary comparison, whose cells keep the start; a method gives one output for all seeds."""
    report = {"primary": {"rows": "pro", "baseline": "mert", "metric": "ter"}}
    first = fake_run(tmp_path / "first", rates={"mert": 0.3, "pro": 0.1}, report=report)
    fake_run(tmp_path / "second", rates={"mert": 0.25, "pro": 0.15}, corpus="other", report=report)
    same = (first / "cells/toy/phrase/phrase15/pro/1/test.txt").read_bytes()
    for cell in first.glob("cells/toy/*/*/pro/*"):
        (cell / "test.txt").write_bytes(same)
    for folder in tmp_path.glob("*/cells/*/*/*/*/*"):
        start_file(folder).write_text("".join(f"{line}\n" for line in noisy(sentences(40), 0.35, 7)), encoding="utf-8")
    return tmp_path / "first", tmp_path / "second"


def test_json_beside_p_values(inside, two_corpora):
    result = inside("compare", *two_corpora, *DRAWS, "--json").json
    names = [(row["corpus"], row["optimiser"], row["start"]) for row in result["rows"]]
    assert names == [
        (corpus, name, name == "start") for corpus in ("toy", "other") for name in ("start", "mert", "pro")
    ]
    assert [row["n_distinct"] for row in result["rows"]] == [1, 3, 1, 1, 3, 3]
    assert [row["n_runs"] for row in result["rows"]] == [1, 3, 3, 1, 3, 3]
    start, mert, pro = result["rows"][:3]
    p_values = [row["p_value"]["bleu"] for row in (start, mert)]
    assert sorted(row["p_holm"]["bleu"] for row in (start, mert)) == sorted(holm(dict(enumerate(p_values))).values())
    assert pro["p_holm"]["bleu"] is None
    assert start["details"]["bleu"]["holm_best"]["randomisation"] == start["p_holm"]["bleu"]
    assert [row["name"] for row in result["pooled"]] == ["phrase/start", "phrase/phrase15/mert", "phrase/phrase15/pro"]
    assert result["pooled_over"] == ["toy/test", "other/test"]
    assert result["pooled"][1]["mean"]["ter"] == pytest.approx(
        (result["rows"][1]["mean"]["ter"] + result["rows"][4]["mean"]["ter"]) / 2
    )
    (primary,) = result["primary"]
    assert (primary["rows"], primary["baseline"], primary["metric"]) == (["phrase/phrase15/pro"], "mert", "ter")
    assert primary["gain"] == pytest.approx(primary["baseline_mean"] - primary["mean"])
    assert primary["p_value"] < 0.05


def test_table_of_all_test_sets(inside, two_corpora):
    shown = inside("compare", *two_corpora, *DRAWS, "-m", "ter")
    first, second = shown.out.split("\n\n")
    assert [line.split()[:2] for line in second.splitlines()[1:]] == [
        ["phrase", "start"],
        ["phrase", "phrase15"],
        ["phrase", "phrase15"],
    ]
    assert "1 of 3" in first
    assert len(second.splitlines()) == 4
    said = " ".join(shown.err.split())
    assert "Primary comparison: phrase/phrase15/pro against mert by TER" in said
    assert "second table: Means over corpora of the rows that all of toy/test, other/test have" in said


def test_versions_of_the_program(inside, tmp_path):
    run = fake_run(tmp_path / "run", seeds=(1,))
    refs = sentences(40)
    for seed, program in ((1, "1.0 abc"), (2, "1.0 abc"), (3, "1.1 def")):
        write_cell(run, optimiser="mira", seed=seed, lines=refs, programs=("0.9 old", program))
    rows = {row["optimiser"]: row["programs"] for row in inside("compare", run, *DRAWS, "--json").json["rows"]}
    assert rows == {"mert": [], "pro": [], "mira": ["1.0 abc", "1.1 def"]}
