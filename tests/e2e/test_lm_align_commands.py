"""`dragoman lm` and `dragoman align` from end to end."""

from __future__ import annotations

import math

import pytest


@pytest.fixture
def corpus(dragoman):
    dragoman("corpus", "synth", "-n", 500, "--dev", 50, "--test", 50, "-o", "c", "-q")


def test_a_model_is_trained_queried_and_exported(dragoman, corpus, tmp_path):
    made = dragoman("lm", "train", "-i", "c/train.en", "-i", "c/dev.en", "-o", "m.lm", "--order", 3, "--json").json
    assert made["order"] == 3
    assert len(made["n_ngrams"]) == 3
    assert made["n_sentences"] == 550
    text = (tmp_path / "c" / "test.en").read_text()
    answer = dragoman("lm", "query", "m.lm", "--json", "--per-sentence", "s.tsv", text=text).json
    assert answer["tokens"] == len(text.split()) + 50
    assert answer["perplexity"] == pytest.approx(10 ** (-answer["log10_total"] / answer["tokens"]))
    assert answer["oov"] >= 0
    rows = [line.split("\t") for line in (tmp_path / "s.tsv").read_text().splitlines()]
    assert math.fsum(float(row[0]) for row in rows) == pytest.approx(answer["log10_total"], abs=1e-3)
    dragoman("lm", "export", "m.lm", "-o", "m.arpa.gz", "-q")
    again = dragoman("lm", "query", "m.arpa.gz", "-i", "c/test.en", "--json").json
    assert again["perplexity"] == pytest.approx(answer["perplexity"], rel=1e-5)
    assert "perplexity" in dragoman("lm", "query", "m.lm", "-i", "c/test.en").out


def test_pruning_leaves_fewer_ngrams(dragoman, corpus):
    full = dragoman("lm", "train", "-i", "c/train.en", "-o", "a.lm", "--order", 3, "--json").json
    words = ["--order", 3, "--prune", 0, "--prune", 1, "--json"]
    pruned = dragoman("lm", "train", "-i", "c/train.en", "-o", "b.lm", *words).json
    assert pruned["n_ngrams"][0] == full["n_ngrams"][0]
    assert pruned["n_ngrams"][1] < full["n_ngrams"][1]
    assert pruned["n_ngrams"][2] < full["n_ngrams"][2]


def test_an_alignment_has_a_line_for_each_pair(dragoman, tmp_path):
    (tmp_path / "f").write_text("das haus\n\ndas buch\nein buch\n" + "lang " * 30 + "\n")
    (tmp_path / "e").write_text("the house\n\nthe book\na book\nlong\n")
    words = ["-s", "f", "-t", "e", "-o", "a", "--forward", "fwd", "--max-words", 20, "--json"]
    done = dragoman("align", *words)
    assert done.json["n_pairs"] == 5
    assert (done.json["n_empty"], done.json["n_too_long"]) == (1, 1)
    lines = (tmp_path / "a").read_text().split("\n")
    assert len(lines) == 6
    assert lines[2] == "0-0 1-1"
    assert lines[1] == lines[4] == ""
    assert "iteration" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lm", "query", "bad.arpa"], "bad.arpa"),
        (["lm", "query", "absent"], "absent"),
        (["lm", "train", "-i", "empty", "-o", "m"], "text"),
        (["lm", "train", "-i", "text", "-o", "m", "--order", "99"], "order"),
        (["lm", "train", "-i", "text", "-o", "m", "--prune", "1"], "first pruning threshold must be 0"),
        (["align", "-s", "text", "-t", "empty", "-o", "a"], "text has 2, empty has 0"),
        (["align", "-s", "text", "-t", "text", "-o", "-", "--json"], "standard output holds the JSON"),
        (["align", "-s", "text", "-t", "text", "-o", "a", "--method", "giza"], "--method"),
    ],
)
def test_mistakes(dragoman, tmp_path, words, message):
    (tmp_path / "bad.arpa").write_text("\\data\\\nngram 1=2\n\n\\1-grams:\n0.5 a\n")
    (tmp_path / "text").write_text("a b\nc\n")
    (tmp_path / "empty").touch()
    assert message in " ".join(dragoman(*words, status=2).err.replace("│", " ").split())
    assert not (tmp_path / "m").exists()
    assert not (tmp_path / "a").exists()
