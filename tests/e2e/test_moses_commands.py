"""`mert-moses` with a decoder that takes Moses' options, and working folders of mert-moses.pl."""

from __future__ import annotations

import gzip
import json
import stat
import sys

import pytest
from tests.kit import toy_decoder

from dragoman.cli.mert_moses import frozen_features
from dragoman.errors import InputError
from dragoman.features import read_weights

INI = """[feature]
ToyModel name=lm
[weight]
lm= 0.3
words= -0.2
swaps= 0.1
"""
STAND_IN = """#!{python}
import subprocess, sys
words = sys.argv[1:]
assert words[words.index("-threads") + 1] == "2"
of = {{name: words[words.index(name) + 1] for name in ("-config", "-input-file", "-n-best-list")}}
assert words[-2:] == ["20", "distinct"]
weights = of["-n-best-list"] + ".dense"
lines = open(of["-config"]).read().split("[weight]")[1].splitlines()
open(weights, "w").write("".join(line.replace("=", "") + "\\n" for line in lines if "=" in line))
sys.exit(subprocess.call(
    [{python!r}, {toy!r}, of["-input-file"], weights, of["-n-best-list"], "20", "--style", "moses"]
))
"""


@pytest.fixture
def moses(tmp_path):
    """A task, a moses.ini, and an executable that reads what Moses reads."""
    toy_decoder.write_task(tmp_path, n_sentences=12)
    (tmp_path / "moses.ini").write_text(INI)
    program = tmp_path / "moses"
    program.write_text(STAND_IN.format(python=sys.executable, toy=toy_decoder.__file__))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return "mert-moses dev.src dev.ref ./moses moses.ini --decoder-flags=-threads\t2 --nbest=20"


def words_of(command):
    return [word.replace("\t", " ") for word in command.split(" ")]


@pytest.mark.parametrize("method", ["", " --batch-mira", " --pairwise-ranked"])
def test_a_drop_in(inside, moses, tmp_path, method):
    command = f"{moses} --working-dir=work --mertdir=/nowhere --maximum-iterations=3 --json{method}"
    done = inside(*words_of(command))
    assert "note: --mertdir is not needed here" in done.err
    result = done.json
    assert result["score_after"] > result["score_before"]
    tuned = (tmp_path / "work" / "moses.ini").read_text()
    assert "ToyModel name=lm" in tuned
    assert read_weights(tmp_path / "work" / "moses.ini")["words"] != -0.2
    again = inside(*words_of(command), status=2)
    assert "holds a run already" in again.err
    assert inside(*words_of(f"{command} --continue")).json["score_after"] == result["score_after"]
    other = inside(*words_of(f"{command} --continue".replace("--nbest=20", "--nbest=30")), status=2)
    assert "was started with other settings" in other.err


def test_features_to_tune(inside, moses, tmp_path):
    inside(*words_of(f"{moses} --maximum-iterations=2 --activate-features=words,swaps --quiet"))
    weights = read_weights(tmp_path / "mert-work" / "moses.ini")
    start = read_weights(tmp_path / "moses.ini")
    assert weights["lm"] == start["lm"]
    assert weights["words"] != start["words"]
    bad = inside(*words_of(f"{moses} --activate-features=tm"), status=2)
    assert "no weight of this name: 'tm'; there are: lm, words, swaps" in bad.err


def test_features_are_counted_from_0_as_there(tmp_path):
    # The same name means the second value there and the first one in our files.
    ini = tmp_path / "moses.ini"
    ini.write_text("[weight]\nLM0= 0.5\nTM0= 0.1 0.2 0.3\nA_1= 1\n")
    assert frozen_features("TM0_1 LM0_0", str(ini)) == ["A_1", "TM0_1", "TM0_3"]
    assert frozen_features("TM0,A_1", str(ini)) == ["LM0"]
    assert frozen_features("A_1_0", str(ini)) == ["LM0", "TM0_1", "TM0_2", "TM0_3"]
    for name in ("TM0_3", "LM0_1", "TM"):
        with pytest.raises(InputError, match="TM0_0 … TM0_2, A_1"):
            frozen_features(name, str(ini))


@pytest.mark.parametrize(
    ("more", "settings"),
    [
        ("-random-restarts 4 -number-of-random-directions=3", {"n_starts": 5, "n_directions": 3}),
        ("--pairwise-ranked --historic-interpolation 0.25 --set l2=3", {"interpolation": 0.25, "l2": 3.0}),
        ("-batch-mira --batch-mira-args -J\t7\t-C\t0.02", {"n_epochs": 7, "aggressiveness": 0.02}),
    ],
)
def test_settings_of_methods(inside, moses, tmp_path, more, settings):
    command = moses.replace("--decoder-flags=-threads\t2", "-decoder-flags -threads\t2")
    command = command.replace("mert-moses dev.src dev.ref", "mert-moses -input dev.src --refs dev.ref")
    command = command.replace("./moses moses.ini", "-decoder ./moses --config=moses.ini")
    inside(*words_of(f"{command} -working-dir w --maximum-iterations 1 --shortest --quiet {more}"))
    recorded = json.loads((tmp_path / "w" / "dragoman" / "run.json").read_text())["settings"]
    [method] = recorded["methods"].values()
    assert settings.items() <= method.items()
    assert recorded["options"]["reference_length"] == "shortest"


def test_another_metric(inside, moses):
    done = inside(*words_of(f"{moses} --maximum-iterations=1 --json --mertargs --sctype\tTER"))
    assert done.json["metric"] == "ter"


def test_what_does_not_fit(inside, moses, tmp_path):
    assert "CONFIG (--config) is missing" in inside("mert-moses", "dev.src", "dev.ref", "./moses", status=2).err
    for more, message in (
        ("--batch-mira --pairwise-ranked", "give one of them"),
        ("--decoder-flags={x}", "must not have curly brackets"),
        ("--decoder-flags=-f\tx", "must not have -f; CONFIG names"),
        ("--inputtype=1", "only text (0) is read"),
        ("--closest --average", "exclude each other"),
        ("--batch-mira --random-restarts=3", "--random-restarts is for mert, but the method is mira"),
        ("--batch-mira --batch-mira-args --foo\t1", "'--foo' is not known here"),
        ("--mertargs --sctype\tPER", "only --sctype with BLEU, TER, WER, CHRF is taken"),
        ("--input=dev.src", "INPUT (--input) is given twice"),
        ("--decoder-flags='", "No closing quotation"),
    ):
        assert message in inside(*words_of(f"{moses} {more}"), status=2).err
    assert "is no program" in inside(*words_of(moses.replace("./moses ", "./absent ")), status=2).err
    assert "followed by 0 or .ref0" in inside(*words_of(moses.replace("dev.ref", "none")), status=2).err


def working_folder(root):
    """What mert-moses.pl leaves after two rounds, as far as it matters."""
    work = root / "mert-work"
    work.mkdir()
    lists = ["0 ||| the house ||| LM0= -1 TM0= 1 2 ||| 0\n", "0 ||| a house ||| LM0= -2 TM0= 0 1 ||| 0\n"]
    for number, text in enumerate(lists, start=1):
        with gzip.open(work / f"run{number}.best100.out.gz", "wt") as stream:
            stream.write(text)
        (work / f"run{number}.dense").write_text(f"LM0= -{number}\nTM0= 0.1\nTM0= 0.2\n")
        (work / f"run{number}.moses.ini").write_text("[feature]\nx\n[weight]\nLM0= 1\nTM0= 1 1\n")
    (work / "extractor.sh").write_text(
        "#!/bin/bash\ncd /somewhere\n/bin/extractor --scfile run2.scores.dat -r ../ref0,../ref1 -n run2.out.gz\n"
    )
    (root / "ref0").write_text("the house\n")
    (root / "ref1").write_text("the home\n")
    return work


def statistics_of(work):
    """What its extractor makes of two rounds; the sparse feature is written in three ways."""
    rows = {1: ["-1 1 2 pl_x=1"], 2: ["-1 1 2 pl_x==1", "-2 0 1 pl_x:2", "-3 0 1"]}
    counts = ["1 4 0 3 0 2 0 1 4", "4 4 3 3 2 2 1 1 4", "2 4 1 3 0 2 0 1 4"]
    for number, features in rows.items():
        head = f"0 {len(features)}"
        text = "\n".join([f"FEATURES_TXT_BEGIN_0 {head} 3 LM0_0 TM0_0 TM0_1", *features, "FEATURES_TXT_END_0", ""])
        (work / f"run{number}.features.dat").write_text(text)
        lines = [f"SCORES_TXT_BEGIN_0 {head} 9 BLEU", *counts[: len(features)], "SCORES_TXT_END_0", ""]
        (work / f"run{number}.scores.dat").write_text("\n".join(lines))


def test_a_working_folder(inside, tmp_path):
    work = working_folder(tmp_path)

    def tune(more, status=0):
        return inside("tune", "--moses-run", *more.split(), status=status)

    result = tune("mert-work -m chrf -o w --json").json
    assert result["n_candidates"] == 2
    assert result["score_before"] < 100  # by the weights of round 2 the other candidate is better
    assert result["score_after"] == pytest.approx(100)
    tune("mert-work -m chrf -o tuned.ini --weights-format moses --method pro --quiet")
    assert (tmp_path / "tuned.ini").read_text().startswith("[feature]\nx\n")
    (work / "extractor.sh").unlink()
    assert "give them with -r" in tune("mert-work -o w", 2).err
    assert tune("mert-work -r ref0 -m chrf -o w --json").json["n_candidates"] == 2
    assert "--moses-run and --nbest exclude each other" in tune("mert-work --nbest x -o w", 2).err
    statistics_of(work)
    # Statistics where references are not known, lists where they are.
    assert "--metric cannot be used with --stats" in tune("mert-work -m chrf -o w", 2).err
    assert tune("mert-work -m chrf -r ref0 -o w --json").json["metric"] == "chrf"
    result = tune("mert-work -o w --json --set sparse=true").json
    assert result["metric"] == "bleu"
    assert result["n_candidates"] == 3  # that of round 1 again in round 2
    assert result["n_features"] == 4
    assert result["score_after"] == pytest.approx(100)
    assert {name for name, _ in read_weights(tmp_path / "w").items()} <= {"LM0", "TM0_1", "TM0_2", "pl_x"}
    (work / "run2.dense").unlink()
    assert "no run2.dense" in tune("mert-work -r ref0 -o w", 2).err
    assert "is no folder" in tune("ref0 -o w", 2).err
