"""`features`, and `--add` of `tune` and `rerank`: the same features from file to file and on the fly."""

from __future__ import annotations

import json
import re

import pytest

LIST = """0 ||| the house ||| lm= -1.5 ||| 0
0 ||| a old house ||| lm= -1 ||| 0
1 ||| yes ||| lm= -2 ||| 0
1 ||| yes yes ||| lm= -1 ||| 0
"""


@pytest.fixture
def run(inside, tmp_path):
    (tmp_path / "list").write_text(LIST)
    (tmp_path / "source").write_text("das haus\nja\n")
    (tmp_path / "ref").write_text("the house\nyes\n")
    return lambda words, status=0: inside(*words.split(), status=status)


def test_a_list_keeps_its_format_and_order(run, tmp_path):
    done = run("features list -s source -o out --add length --add repeats --json")
    assert done.json["names"][:2] == ["length", "length_ratio"]
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[0].startswith("0 ||| the house ||| lm= -1.5 length= 2 length_ratio= 0")
    assert [line.split(" ||| ")[1] for line in lines] == ["the house", "a old house", "yes", "yes yes"]
    run("features list -s source -o out.jsonl --add repeats --list-format jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["features"]["doubled"] for row in rows] == [0, 0, 0, 1]


def test_features_on_the_fly_are_those_of_the_file(run, tmp_path):
    run("features list -s source -o more --add agreement --add length")
    direct = run("tune --nbest list -s source --add agreement --add length -r ref -m chrf -o direct --json").json
    stored = run("tune --nbest more -r ref -m chrf -o stored --json").json
    assert direct["score_after"] == stored["score_after"] == pytest.approx(100)
    assert direct["n_features"] == 10
    chosen = run("rerank --nbest list -s source --add agreement --add length --weights direct").out
    assert chosen == run("rerank --nbest more --weights stored").out == "the house\nyes\n"


def test_duplicates_count_in_features_on_the_fly_as_from_file_to_file(run, tmp_path):
    """Of samples the same text several times; weights, choice and pool are those without duplicates."""
    samples = ["the house"] * 3 + ["a old house"] + ["old house"] * 2
    rows = [(0, text) for text in samples] + [(1, "yes"), (1, "yes yes"), (1, "yes")]
    (tmp_path / "samples").write_text("".join(f"{s} ||| {text} ||| lm= -1 ||| 0\n" for s, text in rows))
    run("features samples -s source -o more --add agreement --list-format jsonl")
    direct = run("tune --nbest samples -s source --add agreement -r ref --method mira -o direct --json")
    stored = run("tune --nbest more -r ref --method mira -o stored --json")
    assert (tmp_path / "direct").read_text() == (tmp_path / "stored").read_text()
    assert "5 distinct candidates" in direct.err
    assert "5 distinct candidates" in stored.err
    run("rerank --nbest samples -s source --add agreement --weights direct --top 9 -o a --list-format jsonl")
    run("rerank --nbest more --weights stored --top 9 -o b --list-format jsonl")
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    written = map(json.loads, (tmp_path / "a").read_text().splitlines())
    agree = {row["text"]: row["features"]["agree_2"] for row in written}
    assert agree["the house"] == pytest.approx(3 / 6)
    assert agree["old house"] == pytest.approx((1 + 2) / 6)


def test_output_of_fairseq_is_a_list(run, tmp_path):
    text = "S-{0}\tx\nH-{0}\t-1\t{1}\nP-{0}\t-1\nH-{0}\t-2\t{2}\n"
    (tmp_path / "generated").write_text(text.format(1, "yes yes", "yes") + text.format(0, "house", "the house"))
    run("tune --nbest generated -s source --add length -r ref -m chrf -o w")
    assert run("rerank --nbest generated -s source --add length --weights w").out == "the house\nyes\n"
    run("rerank --nbest generated --weights w --allow-missing --top 1 -o best")
    assert json.loads((tmp_path / "best").read_text().splitlines()[0])["id"] == 0
    (tmp_path / "sorted").write_text(text.format(0, "house", "the house") + text.format(1, "yes yes", "yes"))
    run("features sorted -s source --add length -o more")
    assert json.loads((tmp_path / "more").read_text().splitlines()[0])["features"]["length"] == 1
    assert (
        "read, not written"
        in run("pool convert list --to fairseq -o out", 2).err
        + run("features list -s source --add length -o out --list-format fairseq", 2).err
    )
    assert not (tmp_path / "out").exists()


def test_subwords_are_warned_of(run, tmp_path):
    """Whatever the list, where references are known; the D lines of fairseq have none."""
    rows = "H-{0}\t-1\t{1}\nD-{0}\t-1\t{2}\nH-{0}\t-2\tno\nD-{0}\t-2\tno\n"
    log = "2026-11-19 10:21:05 | INFO | fairseq_cli.generate | {}\n"
    generated = log + rows.format(1, "y@@ es", "yes") + log + rows.format(0, "the ho@@ use", "the house")
    (tmp_path / "generate-test.txt").write_text(generated)
    (tmp_path / "raw").write_text("".join(line + "\n" for line in generated.split("\n") if line.startswith("H")))
    pieces = [
        f"{i} ||| \u2581{words} ||| lm= {len(words)} ||| 0\n" for words in ("the \u2581house", "y es") for i in (0, 1)
    ]
    (tmp_path / "pieces").write_text("".join(pieces))
    (tmp_path / "w").write_text("score\t1\nlm\t1\n")
    (tmp_path / "out").write_text("the ho@@ use\ny@@ es\n")
    for words in (
        "tune --nbest {} -r ref -m chrf -o new",
        "rerank --nbest {} --weights w -r ref -m chrf",
        "oracle --nbest {} -r ref -m chrf",
    ):
        assert "subwords" not in run(words.format("generate-test.txt")).err
        assert run(words.format("raw")).err.count("the candidates have subwords, marked @@") == 1
        assert run(words.format("pieces")).err.count("the candidates have subwords, marked \u2581") == 1
    assert "warning: out has subwords, marked @@" in run("score out -r ref").err
    assert "subwords" not in run("score out -r out").err


def test_what_is_missing(run, tmp_path):
    assert "--add needs the source sentences" in run("tune --nbest list --add length -r ref -o w", 2).err
    assert "no feature to add" in run("features list -s source -o out", 2).err
    assert "there is no feature for candidates 'x'" in run("features list -s source -o out --add x", 2).err
    assert "would be overwritten" in run("features list -s source -o source --add length", 2).err
    assert "standard input can be read once" in run("features - -s - -o out --add length", 2).err
    (tmp_path / "scores").write_text("qe\n1\n2\n")
    assert "scores: ends after 2 candidates" in run("features list -s source -o out --scores scores", 2).err
    assert not (tmp_path / "out").exists()


def test_no_input_is_overwritten(run, tmp_path):
    (tmp_path / "w").write_text("lm\t1\nlength\t1\n")
    (tmp_path / "text").write_text("the house\nyes\n")
    run("lm train -i text -o model --order 2")
    assert "-o" in run("rerank --nbest list --weights w --add length -s source -o source", status=2).err
    assert "--out" in run("features list -s source --add lm=model -o model", status=2).err
    assert (tmp_path / "source").read_text() == "das haus\nja\n"


def test_scores_may_begin_late_in_a_long_list(run, tmp_path):
    rows = [{"id": s, "text": f"a {s} {k}", "features": {"lm": -k}} for s in range(300) for k in range(100)]
    for row in rows[-100:]:
        row["scores"] = {"qe": 0.5}
    (tmp_path / "late").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "late.source").write_text("x\n" * 300)
    run("features late -s late.source --add repeats -o more --list-format jsonl")
    assert len((tmp_path / "more").read_text().splitlines()) == 30_000


def test_a_learned_scale(run, tmp_path):
    """Found on what is tuned, reported, and found again in the names of the weights."""
    words = "tune --nbest list -s source --add agreement=lm:{} -r ref -m chrf -o {} --json"
    done = run(words.format("learned", "w"))
    scale = re.search(r"learned agreement=lm:(\S+): correlation", done.err)[1]
    given = run(words.format(scale, "given"))
    assert (tmp_path / "w").read_text() == (tmp_path / "given").read_text()
    assert f"agree_lm_{scale}_bleu" in (tmp_path / "w").read_text()
    assert "learned agreement" not in given.err
    choice = run("rerank --nbest list -s source --add agreement=lm:learned --weights w")
    assert choice.out == run(f"rerank --nbest list -s source --add agreement=lm:{scale} --weights w").out
    assert "use `tune --nbest … --add`" in run("features list -s source -o x --add agreement=lm:learned", 2).err
    (tmp_path / "other").write_text("lm\t1\n")
    bad = run("rerank --nbest list -s source --add agreement=lm:learned --weights other", 2).err
    assert "say the scale that `tune` reported" in bad


def test_numbers_of_a_table_are_maximised(run, tmp_path):
    """What --external names is no feature: it would choose by itself."""
    (tmp_path / "texts").write_text("the house\na old house\nyes\nyes yes\n")
    (tmp_path / "table").write_text("lm\tqe\n-1.5\t0.9\n-1\t0.1\n-1\t0.2\n-2\t0.8\n")
    (tmp_path / "qe").write_text("0.9\n0.1\n0.2\n0.8\n")
    plain = "--nbest texts --per-sentence 2"
    done = run(f"tune {plain} --scores table --external qe -o w --json").json
    assert done["n_features"] == 1
    assert done["score_after"] == pytest.approx(0.85)
    assert (tmp_path / "w").read_text().splitlines()[-1] == "lm\t-1.0"
    assert run(f"oracle {plain} --scores qe=qe --external qe --json").json["score"] == pytest.approx(0.85)
    assert run(f"rerank {plain} --scores table --external qe --weights w -o out --json").json["score"] == pytest.approx(
        0.85
    )
    assert "--add needs the source" in run("features list -o more --add length", 2).err
    run("features list -o more --scores qe=qe --as-score qe --list-format jsonl")
    row = json.loads((tmp_path / "more").read_text().splitlines()[0])
    assert row["scores"] == {"qe": 0.9}
    assert "qe" not in row["features"]
    assert "no table has a column 'x'; they have: qe" in run(
        "features list -s source -o x --scores qe=qe --as-score x", 2
    ).err  # fmt: skip
    assert "would be overwritten" in run(f"tune {plain} --scores qe=qe --external qe -o qe", 2).err
    assert "cannot be read" in run(f"tune {plain} --scores qe=missing --external qe -o w", 2).err
