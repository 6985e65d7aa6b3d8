"""`dragoman tune --decoder`, its run folder, and `--method all`, with a small decoder script."""

from __future__ import annotations

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.kit import toy_decoder

from dragoman.optim import LIST_METHODS
from dragoman.run import RunFolder

TOY = f"'{sys.executable}' '{toy_decoder.__file__}' {{source}} {{weights}} {{nbest}} {{k}} --calls calls"


@pytest.fixture
def task(tmp_path):
    toy_decoder.write_task(tmp_path, n_sentences=12)


def tune_words(more="", *, out="w.tsv", method="mert", k=4):
    words = ["tune", "--decoder", f"{TOY} {more}", "--source", "dev.src", "-r", "dev.ref", "--weights", "start"]
    return [*words, "--method", method, "--k", k, "-o", out]


@pytest.mark.parametrize("method", ["mert", "pro"])
@pytest.mark.parametrize(
    ("style", "format_"), [("moses", "tsv"), ("cdec", "cdec"), ("jsonl", "moses-dense"), ("moses", "dragoman")]
)
def test_a_decoder_is_tuned(inside, task, tmp_path, method, style, format_):
    words = tune_words(f"--style {style}", method=method)
    result = inside(*words, "--weights-format", format_, "--rounds", 4, "--json").json
    assert result["score_after"] > result["score_before"] + 5
    scores = [entry["score"] for entry in result["rounds"]]
    assert result["score_after"] == max(scores) == scores[result["best_round"] - 1]
    assert {"metric", "n_sentences", "n_candidates", "n_features", "cpu_s", "weights"} <= result.keys()
    assert {"round", "score", "n_new", "n_candidates", "n_features", "wall_s"} <= result["rounds"][0].keys()
    assert len((tmp_path / "calls").read_text().splitlines()) == len(scores)
    # The score is what the decoder gives by the result, not what the pool promises.
    n, features = tmp_path / "again", toy_decoder.read_weights(tmp_path / "w.tsv")
    lines = (tmp_path / "dev.src").read_text().splitlines()
    n.write_text("".join(toy_decoder.ranked(line.split(), features)[0][1] + "\n" for line in lines))
    scored = inside("score", "again", "-r", "dev.ref", "--json").json["systems"][0]["bleu"]
    assert scored == pytest.approx(result["score_after"], abs=1e-6)


def test_an_external_score_of_the_decoder(inside, task):
    words = [word for word in tune_words("--style jsonl") if word not in {"-r", "dev.ref"}]
    result = inside(*words, "--external", "length", "--json").json
    assert result["score_after"] == pytest.approx(5)
    assert result["metric"] == "length"


def test_the_last_round_on_request(inside, task):
    result = inside(*tune_words(method="pro"), "--keep", "last", "--rounds", 2, "--json").json
    assert result["best_round"] == len(result["rounds"]) == 3
    assert result["stopped"] == "2 rounds are done"


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("fail", "the decoder failed with status 7; its last output: toy decoder, mode fail out of cheese"),
        ("hang", "still running after 3 s; its last output: toy decoder, mode hang"),
        ("silent", "wrote no list to {nbest}"),
        ("skip", "the decoder left out 1 of 12 sentences, the first is line 2 of"),
        ("garbage", "the decoder's list cannot be used:"),
    ],
)
def test_a_bad_decoder_is_reported_with_its_output(inside, task, tmp_path, mode, message):
    err = " ".join(inside(*tune_words(f"--mode {mode}"), "--timeout", 3, "--run", "r", status=1).err.split())
    assert message in err
    assert f"its last output: toy decoder, mode {mode}" in err
    assert not (tmp_path / "w.tsv").exists()
    kept = tmp_path / "r" / "rounds" / "failed-0001"
    assert "the files of this round are kept in r/rounds/failed-0001" in err
    assert (kept / "decoder.log").read_text().startswith(f"toy decoder, mode {mode}\n")
    assert list(kept.parent.iterdir()) == [kept]
    if mode == "garbage":
        assert f"{kept / 'nbest'}, line 3" in err
        assert (kept / "nbest").read_text().splitlines()[2].startswith("Segmentation fault")


def test_a_failed_round_goes_when_the_run_goes_on(inside, task, tmp_path):
    """Also where the decoder failed in the first round, and other settings may be said."""
    rounds = tmp_path / "r" / "rounds"
    for mode in ("garbage", "fail"):
        inside(*tune_words(f"--mode {mode}"), "--run", "r", status=1)
    assert [path.name for path in rounds.iterdir()] == ["failed-0001"]
    assert not (rounds / "failed-0001" / "nbest").exists()
    inside(*tune_words(), "--run", "r", "--rounds", 1)
    assert [path.name for path in sorted(rounds.iterdir())] == ["0001", "0002"]


PARENT = """import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("child.tmp").write_text(str(child.pid))
pathlib.Path("child.tmp").rename("child")
time.sleep(600)
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_whatever_ends_the_tuning_ends_the_decoder_and_its_children(task, tmp_path, ending):
    (tmp_path / "parent.py").write_text(PARENT)
    command = [
        sys.executable,
        "-m",
        "dragoman",
        "tune",
        "--decoder",
        f"'{sys.executable}' parent.py {{weights}} {{nbest}}",
    ]
    more = ["--source", "dev.src", "-r", "dev.ref", "--weights", "start", "-o", "w.tsv", "--run", "r"]
    with subprocess.Popen([*command, *more], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        wait_until((tmp_path / "child").exists)
        child = int((tmp_path / "child").read_text())
        process.send_signal(ending)
        assert process.wait(20) == -ending
        assert "Traceback" not in process.stderr.read()
    wait_until(lambda: is_gone(child))
    assert not list((tmp_path / "r" / "rounds").glob("[!.]*"))


def test_nohup_is_respected(task, tmp_path):
    command = f"trap '' HUP; exec '{sys.executable}' -m dragoman {shlex.join(map(str, tune_words('--pause 0.2')))}"
    with subprocess.Popen(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        wait_until((tmp_path / "calls").exists)
        process.send_signal(signal.SIGHUP)
        assert process.wait(120) == 0
    assert (tmp_path / "w.tsv").exists()


def wait_until(what):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_gone(pid):
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_decoder_that_ignores_its_weights_is_noticed(inside, task):
    outcome = inside(*tune_words("--mode deaf"), "--json")
    assert outcome.json["stopped"] == "the decoder repeats its lists"
    assert "although the weights changed" in " ".join(outcome.err.split())


def test_the_run_is_recorded_and_resumes(inside, task, tmp_path):
    words = [*tune_words(), "--run", "r", "--json"]
    whole = inside(*words).json
    record = json.loads((tmp_path / "r" / "run.json").read_text())
    assert record["settings"]["methods"]["mert"]["n_starts"] == 20
    assert set(record["settings"]["inputs"]) == {"dev.src", "dev.ref", "start"}
    assert "toy decoder" in (tmp_path / "r" / "rounds" / "0001" / "decoder.log").read_text()
    assert len((tmp_path / "r" / "rounds" / "0001" / "output.txt").read_text().splitlines()) == 12
    calls = (tmp_path / "calls").read_text()
    again = inside(*words, "--resume").json
    assert again == whole
    assert (tmp_path / "calls").read_text() == calls
    # Candidates of the rounds are lists like any other.
    lists = [word for n in (1, 2) for word in ("--nbest", f"r/rounds/000{n}/candidates")]
    assert inside("oracle", *lists, "-r", "dev.ref", "--json").json["score"] >= whole["score_after"]
    assert "--resume" in inside(*words, status=2).err
    assert "other settings (options.k)" in " ".join(inside(*words, "--resume", "--k", 3, status=2).err.split())
    shorter = inside(*words, "--resume", "--rounds", 1).json
    assert len(shorter["rounds"]) == 2
    assert (tmp_path / "calls").read_text() == calls
    (tmp_path / "dev.ref").write_text((tmp_path / "dev.ref").read_text().replace("a", "b"))
    assert "other settings (inputs.dev.ref)" in " ".join(inside(*words, "--resume", status=2).err.split())


def test_a_misspelt_name_costs_no_round(inside, task, tmp_path):
    words = [*tune_words(), "--rounds", 2, "--run", "r", "--json"]
    assert "'lmm' cannot be frozen" in inside(*words, "--freeze", "lmm", status=2).err
    n_calls = len((tmp_path / "calls").read_text().splitlines())
    done = inside(*words, "--freeze", "lm", "--resume").json
    assert len((tmp_path / "calls").read_text().splitlines()) == n_calls + len(done["rounds"]) - 1
    assert json.loads((tmp_path / "r" / "run.json").read_text())["settings"]["frozen"] == ["lm"]
    # What was learned depends on it.
    assert "other settings (frozen)" in " ".join(inside(*words, "--resume", status=2).err.split())


def test_what_does_not_change_the_result_may_change(inside, task, tmp_path):
    words = [*tune_words(), "--rounds", 1, "--run", "r", "--json"]
    whole = inside(*words, "--timeout", 60).json
    assert inside(*words, "--timeout", 90, "--resume").json == whole
    template = [*words[:-3], "--run", "t", "--weights-format", "moses", "--template", "moses.ini"]
    (tmp_path / "moses.ini").write_text("[weight]\n")
    inside(*template, "-q")
    (tmp_path / "moses.ini").write_text("[weight]\n\n[threads]\n2\n")
    assert "other settings (inputs.moses.ini)" in " ".join(inside(*template, "--resume", status=2).err.split())


def test_lists_of_a_decoder_are_read_as_told(inside, task, tmp_path):
    words = [*tune_words("--style moses"), "--rounds", 1, "--json"]
    fields = inside(*words, "--fields", "id,text,features,total", "--allow-missing").json
    assert fields["score_after"] == inside(*words).json["score_after"]
    assert "cannot be used" in inside(*words, "--fields", "id,features,text,total", status=1).err


def test_fixed_lists_leave_a_run_too(inside, task, tmp_path):
    inside(*tune_words(), "--run", "r", "--rounds", 1, "-q")
    words = ["tune", "--nbest", "r/rounds/0001/candidates", "-r", "dev.ref", "-o", "w", "--run", "fixed", "--json"]
    first = inside(*words).json
    assert (tmp_path / "fixed" / "rounds" / "0001" / "learned.tsv").exists()
    assert (tmp_path / "fixed" / "rounds" / "0001" / "output.txt").exists()
    assert inside(*words, "--resume").json == first


def test_a_second_process_is_told(inside, task, tmp_path):
    with RunFolder.open(tmp_path / "r", {}):
        err = inside(*tune_words(), "--run", "r", "--resume", status=2).err
    assert f"another process (id {os.getpid()}) is at work" in " ".join(err.split())


def test_a_disk_without_room_is_a_clear_failure(lists, tmp_path):
    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    words = [sys.executable, "-m", "dragoman", "tune", *lists, "-o", "w", "--run", "full"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, preexec_fn=no_room, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "cannot be written: File too large" in done.stderr


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--nbest", "x"], "--nbest and --decoder exclude each other"),
        (["--stats", "x", "y"], "--stats and --decoder exclude each other"),
        (["--folds", "3"], "--folds cannot be used with --decoder"),
        (["--method", "all"], "--method was given 2 times (mert, all); give one, or all"),
        (["--resume"], "name its folder with --run"),
        (["--template", "moses.ini"], "belongs to the format of moses.ini"),
        (["--lower-is-better"], "--lower-is-better belongs to --external"),
        (["--external", "x"], "an external score needs no references"),
        (["--timeout", "0"], "the time limit must be positive"),
        (["--source", "absent"], "absent: cannot be read"),
        (["--source", "-"], "name it with --source"),
        (["--weights", "absent"], "absent: cannot be read"),
        (["--weights", "other"], "lm"),
        (["-o", "start"], "is the input start, which would be overwritten"),
        (["--decoder", "dec {weights}"], "lacks {nbest}"),
        (["-r", "short"], "short has 1 lines but dev.ref has 12"),
        (["--weights-format", "xml"], "expected one of tsv, moses, moses-dense, cdec"),
        (["--rounds", "0"], "--rounds"),
        (["--k", "0"], "--k"),
    ],
)
def test_wrong_options_with_a_decoder(inside, task, tmp_path, more, message):
    (tmp_path / "foreign").write_text("LM0 1\n")
    (tmp_path / "other").write_text("lm 7\n")
    (tmp_path / "short").write_text("a\n")
    (tmp_path / "moses.ini").write_text("[weight]\nlm= 1\n")
    assert message in " ".join(inside(*tune_words(), *more, status=2).err.split())
    assert not (tmp_path / "w.tsv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nbest", "n", "--source", "s"], "--source cannot be used with --nbest: the lists are fixed"),
        (["--nbest", "n", "--k", "3"], "--k cannot be used with --nbest"),
        (["--nbest", "n", "--rounds", "3", "--keep", "last"], "--keep, --rounds cannot be used with --nbest"),
        (["--stats", "f", "s", "--timeout", "3"], "--timeout cannot be used with --stats"),
        (["--stats", "f", "s", "-r", "ref"], "-r cannot be used with --stats: statistics files come with their scores"),
        (["--nbest", "-", "-r", "start", "--run", "r"], "--nbest is standard input"),
        ([], "no candidates; say where they come from with one of --nbest, --stats, --forest, --lists, --decoder"),
    ],
)
def test_wrong_options_without_a_decoder(inside, task, words, message):
    assert message in " ".join(inside("tune", *words, "-o", "w", status=2).err.split())


def test_a_decoder_without_a_source(inside, task):
    words = [word for word in tune_words() if word not in {"--source", "dev.src"}]
    assert "name it with --source" in inside(*words, status=2).err


@pytest.fixture
def lists(inside, task):
    inside(*tune_words(k=8), "--run", "r", "--rounds", 2, "-q")
    return ["--nbest", "r/rounds/0001/candidates", "--nbest", "r/rounds/0002/candidates", "-r", "dev.ref"]


def test_all_methods_are_compared(inside, lists, tmp_path):
    words = ["tune", *lists, "--method", "all", "--folds", 3, "--set", "mert.n_starts=3", "--weights", "start"]
    result = inside(*words, "-o", "w", "--json").json
    assert [row["method"] for row in result["methods"]] == ["start", *LIST_METHODS]
    good = [row for row in result["methods"] if "failure" not in row]
    assert {"start", "mert", "pro"} <= {row["method"] for row in good}
    for row in good:
        assert len(row["folds"]) == 3
        assert row["held_out"] == pytest.approx(sum(row["folds"]) / 3)
    assert result["best"] == max(good[1:], key=lambda row: row["held_out"])["method"]
    assert (tmp_path / "w").exists()
    shown = inside(*words)
    assert "held out" in shown.out
    assert "deviation" in shown.out
    recorded = inside(*words, "--run", "cv", "--json").json
    assert inside(*words, "--run", "cv", "--resume", "--json").json == recorded


def test_a_method_that_fails_does_not_stop_the_others(inside, lists):
    words = ["tune", *lists, "--method", "all", "--folds", 2, "--set", "mert.max_features=1", "--json"]
    rows = {row["method"]: row for row in inside(*words).json["methods"]}
    assert "mert would tune" in rows["mert"]["failure"]
    assert rows["pro"]["held_out"] > 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--folds", "1"], "cannot be dealt into 1 folds"),
        (["--folds", "99"], "12 sentences cannot be dealt into 99 folds; expected 2 to 12"),
        (["--set", "n_starts=3"], "expected METHOD.NAME=VALUE"),
        (["--set", "magic.x=3"], "expected METHOD.NAME=VALUE"),
    ],
)
def test_mistakes_in_a_comparison(inside, lists, more, message):
    assert message in " ".join(inside("tune", *lists, "--method", "all", *more, status=2).err.split())
