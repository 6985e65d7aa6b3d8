"""`pool info|merge|filter|convert`."""

from __future__ import annotations

import json

import pytest

from dragoman.candidates import load_pool

LIST = """1 ||| yes ||| lm= -2 ||| -2
0 ||| the house ||| lm= -1 ||| -1
0 ||| a house ||| lm= -1.5 ||| -1.5
"""


@pytest.fixture
def run(inside, tmp_path):
    (tmp_path / "list").write_text(LIST)
    (tmp_path / "other").write_text('{"id": 0, "text": "the house", "features": {"qe": 0.5}}\n')
    (tmp_path / "ref").write_text("the house\nyes\n")
    return lambda words, status=0: inside(*words.split(), status=status)


def test_info(run):
    done = run("pool info list -r ref -m chrf")
    assert "3 candidates of 2 sentences, 1 to 2 each, 3 distinct texts" in done.out
    assert "+1.000" in done.out  # of the two candidates the better one has the higher score
    found = run("pool info list --json").json
    assert found["features"][0]["name"] == "lm"
    assert found["features"][0]["correlation"] is None


def test_conversion_sorts(run, tmp_path):
    run("pool convert list --to jsonl -o out")
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [(row["id"], row["text"]) for row in rows] == [(0, "the house"), (0, "a house"), (1, "yes")]
    assert run("pool convert out --to moses -o -").out.startswith("0 ||| the house ||| lm= -1 ||| -1\n")
    run("pool convert list --to pool -o stored")
    assert load_pool(tmp_path / "stored").n_candidates == 3
    assert "exists already" in run("pool convert list --to pool -o stored", 2).err


def test_scores_that_a_format_cannot_hold(run, tmp_path):
    (tmp_path / "scored").write_text(
        '{"id": 0, "text": "a b", "features": {"lm": -1}, "scores": {"qe": 0.5}, "total": 2}\n'
    )
    assert "or leave them out (`pool convert --no-scores`)" in run("pool convert scored --to moses -o out", 2).err
    assert not (tmp_path / "out").exists()
    assert run("pool convert scored --to moses --no-scores -o -").out == "0 ||| a b ||| lm= -1 ||| 2\n"
    assert "scores" not in json.loads(run("pool filter scored --first 1 --no-scores -o -").out)
    run("pool convert scored --to pool --no-scores -o stored")
    assert load_pool(tmp_path / "stored").score_names == ()


def test_both_worlds_in_one_list(run):
    out = run("pool merge list other --origin ours --origin neural --to jsonl -o -").out.splitlines()
    rows = [json.loads(line) for line in out]
    assert rows[0]["features"] == {"lm": -1, "from_ours": 1, "qe": 0.5, "from_neural": 0}
    assert rows[2]["features"] == {"lm": -1.25, "from_ours": 0, "qe": 0.5, "from_neural": 1}
    assert "two lists have the origin 'a'" in run("pool merge list other --origin a --origin a -o -", 2).err
    assert "give one for each list" in run("pool merge list other --origin a -o -", 2).err


def test_filter(run, tmp_path):
    assert run("pool filter list --first 1 -o -").out.splitlines() == [
        "0 ||| the house ||| lm= -1 ||| -1",
        "1 ||| yes ||| lm= -2 ||| -2",
    ]
    assert len(run("pool filter list --sentences 1: -o -").out.splitlines()) == 1
    # A text that was sampled twice counts twice: duplicates stay as long as nobody asks for distinct texts.
    (tmp_path / "samples").write_text(LIST + LIST)
    assert len(run("pool filter samples --first 3 -o -").out.splitlines()) == 5
    assert len(run("pool filter samples --distinct-text -o -").out.splitlines()) == 3
    assert "expected two sentence numbers" in run("pool filter list --sentences 1 -o -", 2).err
    assert "no candidate is left" in run("pool filter list --sentences 7: -o -", 2).err
    assert "would be overwritten" in run("pool filter list --first 1 -o list", 2).err
