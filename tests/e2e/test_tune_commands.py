"""`dragoman tune`, `rerank`, `oracle` and `run` from end to end."""

from __future__ import annotations

import json

import pytest

REFERENCES = ["the house is small", "a dog barks loudly"]
LISTS = {
    0: [("a house is small here", -1, 2), ("the house is small", -2, 5), ("house small", -1.5, 0)],
    1: [("dog bark", -1, 1), ("a dog barks loudly", -3, 4), ("a dog barks", -2, 3)],
}


def moses_line(sentence, text, lm, tm):
    return f"{sentence} ||| {text} ||| LM0= {lm} TM0= {tm} ||| 0\n"


@pytest.fixture
def lists(tmp_path):
    lines = [(s, *candidate) for s, candidates in LISTS.items() for candidate in candidates]
    (tmp_path / "nbest").write_text("".join(moses_line(*line) for line in lines))
    (tmp_path / "cdec").write_text("".join(f"{s} ||| {t} ||| LM0={a} TM0={b} ||| 0\n" for s, t, a, b in lines))
    records = [
        {"id": s, "text": t, "features": {"LM0": a, "TM0": b}, "scores": {"comet": b / 10}} for s, t, a, b in lines
    ]
    (tmp_path / "lists.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "ref").write_text("".join(line + "\n" for line in REFERENCES))
    (tmp_path / "start").write_text("LM0 1\nTM0 0.1\n")


@pytest.mark.parametrize("method", ["mert", "pro"])
@pytest.mark.parametrize("file", ["nbest", "cdec", "lists.jsonl"])
def test_tuning_then_reranking_finds_the_references(dragoman, lists, method, file):
    words = ["tune", "--nbest", file, "-r", "ref", "--weights", "start", "--method", method, "-o", "w.tsv", "--json"]
    result = dragoman(*words).json
    assert result["score_after"] == pytest.approx(100)
    assert result["score_before"] < 100
    assert {"metric", "rounds", "n_sentences", "n_candidates", "n_features", "cpu_s", "weights"} <= result.keys()
    assert (result["n_sentences"], result["n_candidates"], result["n_features"]) == (2, 6, 2)
    chosen = dragoman("rerank", "--nbest", file, "--weights", "w.tsv", "--summary", "s.json")
    assert chosen.out.splitlines() == REFERENCES


def test_weights_on_standard_output_are_alone_there(dragoman, lists, tmp_path):
    words = ["tune", "--nbest", "nbest", "-r", "ref", "--weights", "start", "-o"]
    dragoman(*words, "w.tsv", "-q")
    done = dragoman(*words, "-")
    assert done.out == (tmp_path / "w.tsv").read_text()
    assert "bleu: " in done.err
    for more in (["--json"], ["--method", "all"]):
        assert "standard output" in dragoman(*words, "-", *more, status=2).err


def test_an_external_score_can_be_maximised(dragoman, lists):
    words = ["--nbest", "lists.jsonl", "--external", "comet", "-o", "w.tsv", "--json"]
    assert dragoman("tune", *words).json["score_after"] == pytest.approx(0.45)
    best = dragoman("oracle", "--nbest", "lists.jsonl", "--external", "comet", "--json")
    assert best.json["score"] == pytest.approx(0.45)


def test_oracle(dragoman, lists, tmp_path):
    assert dragoman("oracle", "--nbest", "nbest", "-r", "ref", "-o", "best", "--json").json["score"] == pytest.approx(
        100
    )
    assert (tmp_path / "best").read_text().splitlines() == REFERENCES
    ter = dragoman("oracle", "--nbest", "nbest", "-r", "ref", "-m", "ter", "--json").json
    assert ter["score"] == pytest.approx(0)


def test_moses_weights_keep_the_template(dragoman, lists, tmp_path):
    (tmp_path / "moses.ini").write_text("[feature]\nLM0 path=x\n\n[weight]\nLM0= 1\nTM0= 1\n")
    words = [
        "--nbest",
        "nbest",
        "-r",
        "ref",
        "-o",
        "new.ini",
        "--weights-format",
        "moses",
        "--template",
        "moses.ini",
    ]
    dragoman("tune", *words, "--weights", "moses.ini")
    text = (tmp_path / "new.ini").read_text()
    assert "LM0 path=x" in text
    assert "TM0= " in text


def test_help_shows_options_in_groups(inside):
    lines = inside("tune", "--help").out.splitlines()
    titles = [line.rstrip(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    panels = ["Candidates", "Metric", "Method", "Loop", "System", "Result", "Common options"]
    assert [title for title in titles if title in panels] == panels
    assert not any("<list" in line for line in lines)


def test_settings_are_listed_and_checked(dragoman, lists):
    assert "n_starts = 20    (a whole number)" in dragoman("tune", "--method", "mert", "--set", "help").out
    shown = dragoman("tune", "--method", "pro", "--set", "help", "--json").json["settings"]["pro"]
    assert shown["n_draws"]["default"] == "5000; logistic: 100"
    assert shown["n_draws"]["meaning"].startswith("Gamma")
    assert "sentence_bleu.smooth_brevity" in dragoman("tune", "--method", "pro", "--set", "help").out
    common = ["tune", "--nbest", "nbest", "-r", "ref", "-o", "w"]
    dragoman(*common, "--method", "pro", "--set", "sentence_bleu.smooth_brevity=true", "--set", "l2=0.5")
    for setting, message in [
        ("n_starts=many", "n_starts = 'many': expected a whole number"),
        ("starts=3", "mert has no setting 'starts'; it has: n_starts"),
        ("n_starts", "expected NAME=VALUE"),
        ("norm=l3", "expected none or l1 or l2"),
        ("n_starts=0", "at least one start"),
    ]:
        assert message in " ".join(dragoman(*common, "--set", setting, status=2).err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tune", "-r", "ref", "-o", "w"], "no candidates"),
        (["tune", "--nbest", "nbest", "-r", "ref"], "say where the weights go"),
        (["tune", "--nbest", "nbest", "-o", "w"], "no references"),
        (["tune", "--nbest", "nbest", "-r", "short", "-o", "w"], "the references have only 1 lines"),
        (["tune", "--nbest", "nbest", "-r", "long", "-o", "w"], "1 of them have no candidates"),
        (["tune", "--nbest", "empty", "-r", "ref", "-o", "w"], "empty"),
        (["tune", "--nbest", "nan", "-r", "ref", "-o", "w"], "nan, line 1"),
        (["tune", "--nbest", "nbest", "-r", "ref", "-o", "w", "--method", "magic"], "no method 'magic'"),
        (["tune", "--nbest", "nbest", "-r", "ref", "-o", "w", "--freeze", "LN0"], "'LN0' cannot be frozen"),
        (
            ["tune", "--nbest", "nbest", "-r", "ref", "-o", "w", "--weights", "foreign"],
            "no weight belongs to a feature",
        ),
        (["tune", "--nbest", "one", "-r", "ref", "-o", "w"], "only one candidate"),
        (["rerank", "--nbest", "nbest", "--weights", "foreign"], "no weight belongs to a feature"),
        (["rerank", "--nbest", "absent", "--weights", "start"], "absent: cannot be read"),
        (["run", "absent.toml", "-o", "r"], "absent.toml: cannot be read"),
    ],
)
def test_mistakes(dragoman, lists, tmp_path, words, message):
    (tmp_path / "short").write_text("one\n")
    (tmp_path / "long").write_text("one\ntwo\nthree\n")
    (tmp_path / "empty").touch()
    (tmp_path / "nan").write_text(moses_line(0, "a", "nan", 1) + moses_line(0, "b", 1, 1))
    (tmp_path / "one").write_text(moses_line(0, "a", 1, 1) + moses_line(1, "b", 1, 2))
    (tmp_path / "foreign").write_text("OtherModel 1\n")
    outcome = dragoman(*words, status=2)
    assert message in " ".join(outcome.err.split())
    assert not (tmp_path / "w").exists()


RECIPE = """
kind = "synthetic"
title = "t"
citation = "c"
expected = "e"
[[grid]]
dimensions = [5, 10]
noise = [0, 500]
seeds = [1]
[pool]
n_sentences = 20
n_candidates = 10
upper = 500
[optimisers.mert]
settings = { n_starts = 2 }
[optimisers.pro]
"""


def test_a_recipe_runs_and_resumes_to_the_same_result(dragoman, tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE)
    whole = dragoman("run", "r.toml", "-o", "a", "--json").json["cells"]
    assert len(whole) == 8
    assert "<svg" in (tmp_path / "a" / "report.html").read_text()
    assert (tmp_path / "a" / "figure.svg").read_text().startswith("<svg")
    dragoman("run", "r.toml", "-o", "b", "-q")
    trace = tmp_path / "b" / "trace.jsonl"
    trace.write_text(trace.read_text()[:500])
    assert "--resume" in dragoman("run", "r.toml", "-o", "b", status=2).err
    again = dragoman("run", "r.toml", "-o", "b", "--resume", "--json").json["cells"]
    assert [cell["cosine"] for cell in again] == [cell["cosine"] for cell in whole]
    assert dragoman("run", "r.toml", "-o", "c", "--dry-run", "--json").json["n_cells"] == 8
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("grid.seeds=[]", "grid.0.seeds = []: expected a list of whole numbers"),
        ("grid.dimensions=[0]", "at least 1"),
        ("grid.optimisers=['svm']", "there is no 'svm' in [optimisers]"),
        ("pool.upper='x'", "pool.upper = 'x': expected a whole number or a number"),
        ("pool.n_candidates=1", "expected at least 2"),
        ("pool.size=1", "'pool.size' is not a key"),
        ("titel=1", "'titel' is not a key"),
        ("optimisers.mert.settings.n_starts=0", "optimisers.mert: mert needs at least one start"),
        ("optimisers.magic={}", "no method 'magic'"),
        ("grid=1", "grid = 1: expected a list or a table"),
    ],
)
def test_bad_recipes(inside, tmp_path, change, message):
    (tmp_path / "r.toml").write_text(RECIPE)
    assert message in " ".join(inside("run", "r.toml", "-o", "a", "--set", change, status=2).err.split())


def test_moses_statistics_files_can_be_tuned(dragoman, tmp_path):
    features = {0: ["-1 2", "-2 5"], 1: ["-1 1", "-3 4"]}
    bleu = {0: ["1 4 0 3 0 2 0 1 4", "4 4 3 3 2 2 1 1 4"], 1: ["2 5 1 4 0 3 0 2 5", "5 5 4 4 3 3 2 2 5"]}
    blocks = [
        f"FEATURES_TXT_BEGIN_0 {s} 2 2 LM0 TM0\n" + "\n".join(rows) + "\nFEATURES_TXT_END_0\n"
        for s, rows in features.items()
    ]
    (tmp_path / "features.dat").write_text("".join(blocks))
    blocks = [
        f"SCORES_TXT_BEGIN_0 {s} 2 9 BLEU\n" + "\n".join(rows) + "\nSCORES_TXT_END_0\n" for s, rows in bleu.items()
    ]
    (tmp_path / "scores.dat").write_text("".join(blocks))
    (tmp_path / "init.opt").write_text("1 0.1\n-1 -1\n1 1\n")
    words = ["--stats", "features.dat", "scores.dat", "--weights", "init.opt", "-o", "w.tsv", "--json"]
    result = dragoman("tune", *words).json
    assert (result["score_before"], result["score_after"]) == (0.0, pytest.approx(100))
    assert "leave out" in dragoman("tune", *words[:3], "-r", "x", "-o", "w", status=2).err
    (tmp_path / "scores.dat").write_text("".join(blocks[:1]))
    assert "sentence 1 is in only one of" in " ".join(dragoman("tune", *words, status=2).err.split())
