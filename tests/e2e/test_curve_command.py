"""`dragoman curve` as a user calls it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.system import SystemSettings, TrainConfig, train


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 150, 8, 0, seed=4)
    config = TrainConfig(settings=SystemSettings(n_folds=3))
    train(folder / "train.de", folder / "train.en", folder / "system", config=config)
    return folder


@pytest.fixture
def words(made):
    return ["curve", made / "system", "--source", made / "dev.de", "-r", made / "dev.en", "-k", 20, "--rounds", 1]


def test_all_outputs_tell_the_same(words, inside, tmp_path):
    outputs = [part for name in ("c.svg", "c.html", "c.tsv.gz", "c.tsv", "c.json") for part in ("-o", name)]
    chosen = ["--feature", "lm", "--features", "rule_id", "--frequent", 2, "--rare", 1, "--check", 4]
    told = inside(*words, *chosen, *outputs, "--json").json
    assert told["metric"] == "bleu"
    assert told["outputs"] == ["c.svg", "c.html", "c.tsv.gz", "c.tsv", "c.json"]
    curves = told["curves"]
    assert [curve["chosen_as"] for curve in curves] == ["named", "frequent", "frequent", "rare"]
    assert told["deviation"] == max(curve["deviation"] for curve in curves)
    stored = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["curves"]
    assert [{key: one[key] for key in one if key != "intervals"} for one in stored] == curves
    rows = [line.split("\t") for line in (tmp_path / "c.tsv").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["feature", "from", "to", "score"]
    for curve, whole in zip(curves, stored, strict=True):
        own = [[float(cell) for cell in row[1:]] for row in rows[1:] if row[0] == curve["feature"]]
        assert own == whole["intervals"]
        assert len(own) == curve["n_intervals"]
        assert (own[0][0], own[-1][1]) == (curve["from"], curve["to"])
        scores = [score for _, _, score in own]
        assert (min(scores), max(scores)) == (curve["lowest"], curve["highest"])
        assert curve["range"] == pytest.approx(max(scores) - min(scores))
        best = curve["best"]
        assert [best["from"], best["to"], best["score"]] in own
        assert curve["gain"] == pytest.approx(best["score"] - curve["score"])
        assert all(check["decoded"] == pytest.approx(check["curve"], abs=5) for check in curve["checks"])
    assert ET.fromstring((tmp_path / "c.svg").read_text(encoding="utf-8")).tag.endswith("svg")
    assert "<svg" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_the_table_and_the_number_of_threads(words, inside, tmp_path):
    shown = inside(
        *words, "--feature", "words", "--feature", "lm", "--from", -1, "--to", 1, "--check", 2, "-o", "1.tsv"
    )
    lines = shown.out.splitlines()
    assert lines[0].split()[:4] == ["feature", "lists", "weight", "BLEU"]
    assert [line.split()[0] for line in lines[1:3]] == ["words", "lm"]
    assert "4 checks by decoding, " in lines[3]
    assert "-> 1.tsv" in shown.err
    how = ["--feature", "words", "--feature", "lm", "--from", -1, "--to", 1, "--threads", 1, "--quiet"]
    assert inside(*words, *how, "-o", "2.tsv").err == ""
    assert (tmp_path / "1.tsv").read_bytes() == (tmp_path / "2.tsv").read_bytes()
    ter = inside(*words, "--feature", "lm", "-m", "ter", "--fast", "--without-fold", 1)
    assert "TER ↓" in ter.out


def test_errors_say_what_to_do(made, words, inside, tmp_path):
    write_lines(tmp_path / "zero.tsv", ["lm\t0"])
    write_lines(tmp_path / "c.tsv", ["kept"])
    for more, why in (
        ([], "which weight? Name a feature with --feature"),
        (["--feature", "lmm"], "can have a feature 'lmm'; dense features are lm, p_e_f"),
        (["--feature", "rule_id:a,b"], "sparse ones are those of the templates that --features names"),
        (["--feature", "lm", "--from", 1, "--to", 1], "from 1 to 1 is not a range"),
        (["--feature", "lm", "--from", 1, "--to", -1], "from 1 to -1 is not a range"),
        (["--feature", "lm", "--from", "nan"], "cannot end at nan"),
        (["--feature", "lm", "--to", "inf"], "cannot end at inf"),
        (["--feature", "lm", "--from", 1000], "is not a range"),
        (["--feature", "lm", "-k", 1], "at least two candidates"),
        (["--frequent", 1], "name templates with --features"),
        (["--frequent", 1, "--features", "nonsense"], "nonsense"),
        (["--feature", "lm", "--fast", "--accurate"], "choose one"),
        (["--feature", "lm", "--weights", "zero.tsv"], "no weight of a feature of the system"),
        (["--feature", "lm", "--without-fold", 7], "there is no fold 7"),
        (["--feature", "lm", "-m", "meteor"], "meteor"),
        (["--feature", "lm", "-o", "c.png"], "expected .svg, .html, .tsv or .json"),
        (["--feature", "lm", "-o", "-"], "expected .svg, .html, .tsv or .json"),
        (["--feature", "lm", "-o", "nowhere/c.tsv"], "its folder does not exist"),
        (["--feature", "lm", "-o", "c.svg", "-o", "./c.svg"], "names a file twice"),
        (["--feature", "lm", "-r", made / "train.en"], "lines but"),
    ):
        if "-o" not in more:
            more = [*more, "-o", "c.tsv"]
        assert why in inside(*words, *more, status=2).err, more
    assert (tmp_path / "c.tsv").read_text() == "kept\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv", "zero.tsv"]
