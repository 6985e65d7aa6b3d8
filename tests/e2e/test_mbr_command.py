"""`mbr` and what `rerank` writes: lists, plain text, posteriors, totals."""

from __future__ import annotations

import json

import pytest

from dragoman.candidates import expected_gains, posteriors, read_pool
from dragoman.metric import Chrf

LISTS = """0 ||| the small cat ||| lm= -1 tm= -1 ||| -2
0 ||| the house ||| lm= -2 tm= -1 ||| -3
0 ||| a house ||| lm= -1 tm= -0.5 ||| -1.5
1 ||| yes ||| lm= -2 tm= -0.5 ||| -2.5
"""
TEXT = "no\nthe house\nthe house\nyes\nyes\nyes sir\n"


@pytest.fixture
def run(inside, tmp_path):
    (tmp_path / "list").write_text(LISTS)
    (tmp_path / "text").write_text(TEXT)
    (tmp_path / "weights").write_text("lm 1\ntm 1\n")
    (tmp_path / "ref").write_text("the house\nyes\n")
    return lambda words, status=0: inside(*words.split(), status=status)


def test_samples_as_text(run):
    done = run("mbr text --per-sentence 3 -m bleu -r ref")
    assert done.out == "the house\nyes\n"
    assert "bleu: 0.00" in done.err  # unsmoothed: the sentences are short
    assert "2 are not" not in done.err
    assert "6 lines are not a multiple of 4" in run("mbr text --per-sentence 4", 2).err


def test_posteriors_change_the_choice(run):
    assert run("mbr list").out == "the house\nyes\n"
    assert run("mbr list --weights weights --scale 9").out == "a house\nyes\n"
    assert run("mbr list --totals --scale 9").out == "a house\nyes\n"
    assert run("rerank --nbest list --weights weights --mbr chrf --scale 9").out == "a house\nyes\n"
    assert run("rerank --nbest list --weights weights --mbr chrf --scale 0").out == "the house\nyes\n"
    assert "give one of them" in run("mbr list --totals --weights weights", 2).err
    assert "no total score" in run("mbr text --per-sentence 3 --totals", 2).err


@pytest.mark.parametrize("scale", ["1", "0.5", "0"])
def test_a_scale_without_a_posterior_is_an_error(run, tmp_path, scale):
    assert "give --weights or --totals" in run(f"mbr list --scale {scale} -o out", 2).err
    assert "name a utility with --mbr" in run(f"rerank --nbest list --weights weights --scale {scale} -o out", 2).err
    assert not (tmp_path / "out").exists()


def test_lists_with_expected_utilities(run, tmp_path):
    run("mbr list --top 0 -o all --list-format jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all").read_text().splitlines()]
    pool = read_pool([tmp_path / "list"])
    (gains,) = expected_gains(pool, Chrf(), posteriors(pool))
    assert [line["total"] for line in lines[:3]] == pytest.approx(sorted(gains[:3], reverse=True), abs=1e-6)
    assert lines[0]["text"] == "the house"
    assert run("mbr list --top 1").out.startswith("0 ||| the house ||| lm= -2 tm= -1 ||| 0.")
    assert len(run("mbr text --per-sentence 3 --top 1").out.splitlines()) == 2


def test_the_summary(run, tmp_path):
    summary = run("mbr list -o out --json -m ter -r ref").json
    assert (summary["utility"], summary["n_candidates"], summary["metric"]) == ("ter", 4, "ter")
    assert summary["score"] == 0
    run("mbr list -o out --summary s.json")
    assert 0 < json.loads((tmp_path / "s.json").read_text())["expected"] <= 1
    assert "standard output holds the JSON object" in run("mbr list --json", 2).err


def test_hostile_options(run, tmp_path):
    assert "would be overwritten" in run("mbr list -o list", 2).err
    assert "is not a metric" in run("mbr list -m comet", 2).err
    (tmp_path / "empty").write_text("")
    assert "the file is empty" in run("mbr empty --per-sentence 2", 2).err
    assert "leave out --format" in run("mbr text --per-sentence 3 --format moses", 2).err


def test_extreme_scores(run, tmp_path):
    lines = [
        f"0 ||| {text} ||| lm= {value} ||| {value}" for text, value in (("a b", -3e38), ("c", 3e38), ("a d", -3e38))
    ]
    (tmp_path / "huge").write_text("\n".join(lines) + "\n")
    for scale in ("1", "1e308"):
        assert run(f"mbr huge --weights weights --scale {scale}").out == "c\n"
        assert run(f"mbr huge --totals --scale {scale}").out == "c\n"
    assert run("mbr huge --weights weights --scale 0").out == "a b\n"
    (tmp_path / "large").write_text("lm 1e300\n")
    assert "not finite" in run("mbr huge --weights large", 2).err
    for scale in ("nan", "inf", "-1"):
        run(f"mbr huge --totals --scale={scale}", 2)


def test_rerank_without_weights_points_to_mbr(run):
    assert "name a file of them with --weights; minimum" in run("rerank --nbest list --mbr chrf", 2).err
    assert run("rerank --nbest list", 2).err.rstrip().endswith("name a file of them with --weights")


def test_rerank_writes_lists(run, tmp_path):
    out = run("rerank --nbest list --weights weights --top 2").out.splitlines()
    assert out == [
        "0 ||| a house ||| lm= -1 tm= -0.5 ||| -1.5",
        "0 ||| the small cat ||| lm= -1 tm= -1 ||| -2",
        "1 ||| yes ||| lm= -2 tm= -0.5 ||| -2.5",
    ]
    (tmp_path / "half").write_text("lm -0.5\ntm 1\n")
    assert run("rerank --nbest list --weights half --top 1").out.startswith("0 ||| the house ||| lm= -2 tm= -1 ||| 0")
    summary = run("rerank --nbest list --weights weights -r ref -m chrf -o out --json").json
    assert summary["metric"] == "chrf"
    assert "standard output holds the JSON object" in run("rerank --nbest list --weights weights --json", 2).err
