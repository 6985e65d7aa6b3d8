"""Raw files and nothing else: train, tune, translate, and what goes wrong with data."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.kit.small_raw import write_raw_splits
from tests.kit.small_text import write_lines

from dragoman.lm import EstimateConfig
from dragoman.system import SystemSettings, TrainConfig, train

MERT = ("--set", "n_starts=2")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    write_raw_splits(folder, 300, 15, 15, seed=2)
    config = TrainConfig(settings=SystemSettings(n_folds=2), lm=EstimateConfig(order=3))
    train(folder / "train.de", folder / "train.en", folder / "s", config=config)
    return folder


@pytest.fixture
def here(built, tmp_path):
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_three_commands(here, inside):
    done = inside("train", "-s", "train.de", "-t", "train.en", "-o", "new")
    assert "taken as raw" in done.err
    assert "taken as 'de'" in done.err
    done = inside("tune", "--system", "new", "--source", "dev.de", "-r", "dev.en", "--rounds", 1, *MERT, "-o", "t")
    assert "% of the source words are unknown" in done.err
    warnings = [line for line in done.err.splitlines() if line.startswith("warning")]
    assert all("start" in line for line in warnings)  # a round is too few to beat it; the text is as it should be
    info = inside("system", "info", "t").out
    for row in (
        r"phrase pairs +[\d,]+",
        "tuning: method +mert",
        r"tuning: rounds +\d",
        r"tuning: score_after +[01](\.0*\d{1,5})?\s",
    ):
        assert re.search(row, info)
    assert "statistics_cpu_s" not in info
    inside("translate", "t", "-i", "test.de", "-o", "out.en", "--summary", "s.json")
    lines = (here / "out.en").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 15
    assert all(line[0].isupper() and line[-2] != " " for line in lines)
    assert json.loads((here / "s.json").read_text())["unknown_words"] < 0.2
    score = inside("score", "out.en", "-r", "test.en", "-m", "bleu")
    assert "--tokenize 13a" in score.err
    assert "--tokenize 13a" not in inside("score", "out.en", "-r", "test.en", "--tokenize", "13a").err


def test_tokens_are_asked_for(here, inside):
    line = (here / "test.de").read_text(encoding="utf-8").splitlines()[0]
    write_lines(here / "one.de", [line])
    plain = inside("translate", "s", "-i", "one.de").out
    inside("corpus", "tokenize", "-l", "de", "-i", "one.de", "-o", "one.tok")
    tokens = inside("translate", "s", "--tokenized", "-i", "one.tok").out
    assert "￭" in tokens
    assert "￭" not in plain
    lists = inside("translate", "s", "-i", "one.de", "--nbest", 3).out.splitlines()
    assert lists[0].split("\t")[2] == plain.strip()
    assert "￭" in inside("translate", "s", "--tokenized", "-i", "one.tok", "--nbest", 3, "--format", "moses").out
    explained = inside("translate", "s", "-i", "one.de", "--explain").out
    assert "￭" in explained
    assert inside("translate", "s", "-i", "one.de", "--forest", "f").out == plain


@pytest.mark.parametrize("form", ["moses", "cdec", "jsonl"])
def test_lists_of_raw_systems_are_raw_text(here, inside, form):
    """Reranked by the system's own weights they give its translations, and BLEU counts words, not tokens with glue."""
    inside("translate", "s", "-i", "dev.de", "-o", "dev.out")
    inside("translate", "s", "-i", "dev.de", "--nbest", 9, "--format", form, "-o", "dev.nbest")
    assert "￭" not in (here / "dev.nbest").read_text(encoding="utf-8")
    weights = ("--weights", "s/weights.tsv", "--nbest", "dev.nbest")
    done = inside("rerank", *weights, "-r", "dev.en", "--tokenize", "13a", "-o", "best", "--summary", "s.json")
    assert (here / "best").read_text(encoding="utf-8") == (here / "dev.out").read_text(encoding="utf-8")
    assert "--tokenize 13a" not in done.err
    scored = json.loads(inside("score", "dev.out", "-r", "dev.en", "--tokenize", "13a", "-m", "bleu", "--json").out)
    assert json.loads((here / "s.json").read_text())["score"] == pytest.approx(scored["systems"][0]["bleu"])
    assert "add --tokenize 13a" in inside("oracle", "--nbest", "dev.nbest", "-r", "dev.en").err
    best = json.loads(inside("oracle", "--nbest", "dev.nbest", "-r", "dev.en", "--tokenize", "13a", "--json").out)
    assert best["score"] >= scored["systems"][0]["bleu"]


def test_several_sentences_and_jsonl(here, inside):
    lines = (here / "test.de").read_text(encoding="utf-8").splitlines()
    write_lines(here / "two.de", [f"{lines[0]} {lines[1]}", lines[2]])
    explained = inside("translate", "s", "-i", "two.de", "--explain", "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["id"] for line in explained] == [0, 0, 1]


def test_explanations_are_of_what_translate_writes(here, inside):
    """With tags, forced translations and spans that must survive."""
    line = (here / "test.de").read_text(encoding="utf-8").splitlines()[0]
    first, *rest = line.split(" ")
    write_lines(here / "terms.tsv", [f"{rest[0]}\tblue car"])
    marked = 'Das <t translation="old gate">Tor</t> %s {name} %s 1.234,5.'
    write_lines(here / "in.de", [f"<p>{first} <b>{rest[0]}</b> {' '.join(rest[1:])}</p>", marked, ""])
    words = ("translate", "s", "-i", "in.de", "--glossary", "terms.tsv")
    translated = inside(*words).out.splitlines()
    explained = [json.loads(one) for one in inside(*words, "--explain", "--format", "jsonl").out.splitlines()]
    assert [one.get("output", "") for one in explained] == translated
    assert "<b>" not in explained[0]["source"]
    assert any(piece["target"] == "blue\u00a0car" for piece in explained[0]["pieces"])
    (gate,) = [piece for piece in explained[1]["pieces"] if piece["target"].endswith("gate")]
    assert gate["source"] == "Tor"
    shown = inside(*words, "--explain").out
    assert "old\u00a0gate  forced" in shown
    assert "%s  unknown, copied" in shown
    assert f"output       {translated[0]}" in shown.splitlines()
    assert "leave out" in inside(*words, "--explain", "--target", "in.de", status=2).err


def test_glossaries_and_marks(here, inside):
    write_lines(here / "terms.tsv", ["Zebra Foo\tstriped thing"])
    write_lines(here / "in.de", ["Der zebra foo schläft.", 'Das <t translation="gate">Tor</t> %s.'])
    out = inside("translate", "s", "--glossary", "terms.tsv", "-i", "in.de").out.splitlines()
    assert out[0].count("triped thing") == 1
    assert out[1].lower().count("gate") == out[1].count("%s") == 1
    assert "leave out --nbest" in inside("translate", "s", "--glossary", "terms.tsv", "--nbest", 2, status=2).err
    write_lines(here / "in.de", ['Das <t translation="gate (old">Tor</t> ist da.'])
    assert "gate (old" in inside("translate", "s", "-i", "in.de").out
    write_lines(here / "bad.tsv", ["one"])
    err = inside("translate", "s", "--glossary", "bad.tsv", "-i", "in.de", status=2).err
    assert "bad.tsv, line 1" in err or "bad.tsv:1" in err


def test_languages_belong_to_raw_text(here, inside):
    assert "add --raw" in inside("translate", "s", "--tokenized", "--languages", "de-en", status=2).err
    assert "two codes" in inside("translate", "s", "--languages", "german", "-i", "test.de", status=2).err
    inside("translate", "s", "--languages", "de-en", "-i", "test.de")


def test_data_that_does_not_fit_is_told(here, inside):
    words = ("tune", "--system", "s", "--rounds", 1, *MERT)
    err = inside(*words, "--source", "dev.en", "-r", "dev.de", "-o", "swapped", status=2).err
    assert err.count("source and target are swapped") == 2
    assert "swapped" in inside("translate", "s", "-i", "test.en").err
    write_lines(here / "short.en", ["one line"])
    err = inside(*words, "--source", "dev.de", "-r", "short.en", "-o", "short", status=2).err
    assert "15 lines" in err
    assert "round 1" not in err
    inside("corpus", "tokenize", "-l", "de", "--moses", "-i", "dev.de", "-o", "moses.de")
    assert "already" not in inside(*words, "--source", "dev.de", "-r", "dev.en", "-o", "fits").err
    err = inside(*words, "--source", "moses.de", "-r", "dev.en", "-o", "tokens").err
    assert "moses.de: it is tokenised already" in err
    assert "it is tokenised already" in inside("translate", "s", "-i", "moses.de").err
    assert "add --raw" in inside("translate", "s", "--tokenized", "-i", "dev.de").err
    write_lines(here / "half.en", [line.replace(".", " .").replace(",", " ,") for line in ["A dog.", "Yes, no."] * 9])
    write_lines(here / "half.de", ["Ein Hund.", "Ja, nein."] * 9)
    assert "--raw or --tokenized" in inside("train", "-s", "half.de", "-t", "half.en", "-o", "x", status=2).err
    assert not (here / "x").exists()


def test_chinese_is_never_left_whole(here, inside):
    write_lines(here / "raw.zh", ["此软件包包含文档。", "软件包列表。"] * 9)
    inside("corpus", "tokenize", "-l", "zh", "-i", "raw.zh", "-o", "zh.tok")
    tokens = (here / "zh.tok").read_text(encoding="utf-8").splitlines()
    assert max(len(token) for token in tokens[0].split()) <= 4
    inside("corpus", "detokenize", "-l", "zh", "-i", "zh.tok", "-o", "again.zh")
    assert (here / "again.zh").read_bytes() == (here / "raw.zh").read_bytes()
    assert "--in" in inside("corpus", "tokenize", "-l", "zh", status=2).err
    assert "not a language code" in inside("corpus", "tokenize", "-l", "german", status=2).err


def test_text_without_spaces_is_scored_by_characters(here, inside):
    """BLEU by 13a and TER by what stands between spaces would take a line of Chinese for a word."""
    subjects, verbs, objects = (
        (("ich", "我"), ("sie", "她")),
        (("sehe", "看见"), ("mag", "喜欢")),
        (("Hunde", "狗"), ("Tee", "茶")),
    )
    pairs = [
        (f"{s[0]} {v[0]} {o[0]}, und {t[0]} {v[0]} {p[0]}.", f"{s[1]}{v[1]}{o[1]}，而且{t[1]}{v[1]}{p[1]}。")
        for s in subjects
        for t in subjects
        for v in verbs
        for o in objects
        for p in objects
    ]
    for name, chosen in (("train", pairs * 3), ("dev", pairs[:8])):
        write_lines(here / f"zh.{name}.de", [pair[0] for pair in chosen])
        write_lines(here / f"zh.{name}.zh", [pair[1] for pair in chosen])
    inside("train", "-s", "zh.train.de", "-t", "zh.train.zh", "-o", "dezh")
    test = ("--test", "zh.dev.de", "--test-reference", "zh.dev.zh")
    words = ("tune", "--system", "dezh", "--source", "zh.dev.de", "-r", "zh.dev.zh", "--rounds", 1, *MERT, *test)
    after = json.loads(inside(*words, "-o", "dezh-tuned", "--json").out)["test"][1]
    assert "tok:zh" in after["signature"]["bleu"]
    assert "asian:yes" in after["signature"]["ter"]
    assert after["bleu"] > 50
    inside("translate", "dezh-tuned", "-i", "zh.dev.de", "-o", "out.zh")
    assert "add --tokenize zh" in inside("score", "out.zh", "-r", "zh.dev.zh").err
    scored = json.loads(inside("score", "out.zh", "-r", "zh.dev.zh", "--tokenize", "zh", "--json").out)["systems"][0]
    assert scored["bleu"] == pytest.approx(after["bleu"])
    assert scored["ter"] == pytest.approx(after["ter"])
    write_lines(here / "ja", ["風が止んだ。彼女は眠る。"] * 3)
    assert "add --tokenize char" in inside("score", "ja", "-r", "ja").err


def test_a_test_set_before_and_after(here, inside):
    words = ("tune", "--system", "s", "--source", "dev.de", "-r", "dev.en", "--rounds", 1, *MERT)
    test = ("--test", "test.de", "--test-reference", "test.en")
    done = inside(*words, *test, "-o", "t", "--json")
    before, after = json.loads(done.out)["test"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert "tok:13a" in after["signature"]["bleu"]
    inside("translate", "t", "-i", "test.de", "-o", "t.en")
    scored = json.loads(inside("score", "t.en", "-r", "test.en", "--tokenize", "13a", "--json").out)["systems"][0]
    assert after["bleu"] == pytest.approx(scored["bleu"])
    assert "give both" in inside(*words, "--test", "test.de", "-o", "u", status=2).err
    write_lines(here / "short.en", ["one"])
    err = inside(*words, "--test", "test.de", "--test-reference", "short.en", "-o", "u", status=2).err
    assert "15 lines but short.en has 1" in err


def test_lookup_shows_where_a_translation_comes_from(here, inside):
    line = (here / "train.de").read_text(encoding="utf-8").splitlines()[0]
    word = next(word for word in line.split() if word.isalpha() and word[0].islower())
    found = json.loads(inside("lookup", "s", word, "--json").out)
    assert found["source"] == word
    assert found["n_occurrences"] >= 1
    best = found["rows"][0]
    assert best["count"] >= 1
    assert best["scores"]["p_e_f"] <= 0
    number, source, target = best["sentences"][0]
    assert word in source.split()
    assert best["target"] in target
    shown = inside("lookup", "s", word, "--targets", 1).out
    assert f"line {number}" in shown
    assert "no translation" in inside("lookup", "s", "qwertz").out


def test_a_tuning_ends_when_told(here, inside):
    words = ("tune", "--system", "s", "--source", "dev.de", "-r", "dev.en", "--method", "pro", "-o", "t")
    with subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTIBLE, *words, "--rounds", "30", "--patience", "0"],
        cwd=here,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        end = time.monotonic() + 120
        while not (here / "t/tune/rounds/0003/learned.json").exists():
            assert time.monotonic() < end
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        err = process.communicate(timeout=60)[1]
        assert process.returncode == 130
    assert "Go on with --resume" in err
    assert "interrupted; the best of" in err
    n_rounds = int(err.partition("--resume --rounds ")[2].split()[0])
    assert n_rounds >= 2
    done = json.loads(inside(*words, "--rounds", n_rounds, "--resume", "--json").out)
    assert len(done["rounds"]) == n_rounds + 1
    assert (here / "t" / "system.json").exists()


_INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
sys.argv = ["dragoman", *sys.argv[1:]]
from dragoman.cli import main
main()
"""


@pytest.mark.parametrize("form", [(), ("--nbest", "1"), ("--explain", "--format", "jsonl")])
def test_each_line_of_a_pipe_is_answered_at_once(here, inside, form):
    lines = (here / "test.de").read_text(encoding="utf-8").splitlines()[:2]
    write_lines(here / "in.de", lines)
    expected = inside("translate", "s", "-i", "in.de", *form).out.splitlines()
    with subprocess.Popen(
        [sys.executable, "-m", "dragoman", "translate", "s", "--line-buffered", "--quiet", *form],
        cwd=here,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        for line, answer in zip(lines, expected, strict=True):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{answer}\n"  # hangs if lines wait for one another
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_lines_that_arrive_are_read_as_others_are(here, inside):
    lines = (here / "test.de").read_text(encoding="utf-8").splitlines()[:3]
    (here / "odd.de").write_bytes(b"\xef\xbb\xbf" + "\r\n".join([lines[0], "", *lines[1:]]).encode())
    words = ("translate", "s", "-i", "odd.de")
    assert inside(*words, "--line-buffered").out == inside(*words).out
    (here / "bad.de").write_bytes(b"ein\nHund\xff\n")
    for more in ((), ("--line-buffered",)):
        assert "bad.de, line 2: invalid UTF-8" in inside("translate", "s", "-i", "bad.de", *more, status=2).err
    assert "leave out --line-buffered" in inside(*words, "--line-buffered", "--workers", 2, status=2).err


def test_no_gain_ends_a_tuning(here, inside):
    words = ("tune", "--system", "s", "--source", "dev.de", "-r", "dev.en", "--method", "pro", "--patience", 1)
    record = json.loads(inside(*words, "-o", "t", "--json").out)
    if record["stopped"].startswith("no better score"):
        scores = [entry["score"] for entry in record["rounds"]]
        assert scores[-1] <= max(scores[:-1])
    assert len(record["rounds"]) < 31
