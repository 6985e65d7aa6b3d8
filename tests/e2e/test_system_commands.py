"""train, translate, tune --system, system, forest: as a user runs them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time

import pytest

from dragoman.errors import FailedError
from dragoman.optim import Pro
from dragoman.tuning import LoopSettings, TuneConfig, tune_system
from dragoman.tuning.loop import _Loop

TRAIN = (
    *("train", "-s", "c/train.de", "-t", "c/train.en", "--lm-order", 3),
    *("--folds", 2, "--domains", "c/train.domain", "--lm-text", "c/more.en"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus and a system, made once."""
    folder = tmp_path_factory.mktemp("made")

    def run(*words):
        command = [sys.executable, "-m", "dragoman", *map(str, words)]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

    run("corpus", "synth", "-n", 500, "--dev", 25, "--test", 12, "-o", "c")
    (folder / "c" / "train.domain").write_text("news\nmo\n" * 250)
    (folder / "c" / "more.en").write_text("there is more text .\n" * 5)
    return folder, json.loads(run(*TRAIN, "-o", "s", "--json"))


@pytest.fixture
def here(made, tmp_path):
    """Copies of them that a test may change."""
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_train_reports_its_stages(made):
    record = made[1]
    names = [stage["name"] for stage in record["stages"]]
    assert names[:5] == ["corpus", "domains", "alignment", "grammar", "language model"]
    assert names[-1] == "language model without fold 1"
    assert record["n_lines"] == sum(record["fold_lines"]) == 500
    assert record["domains"] == {"news": 250, "mo": 250}
    assert all(stage["wall_s"] >= 0 and stage["cpu_s"] >= 0 and stage["peak_bytes"] > 0 for stage in record["stages"])
    assert record["n_pairs"] > 1000
    assert record["system"] == "s"


def test_translate_is_text_in_text_out(here, dragoman):
    lines = (here / "c" / "test.de").read_text(encoding="utf-8").splitlines()
    text = "\n".join([lines[0], "", *lines[1:]]) + "\n"
    one = dragoman("translate", "s", "--threads", 1, text=text).out
    assert len(one.splitlines()) == len(lines) + 1
    assert one.splitlines()[1] == ""
    assert one == dragoman("translate", "s", "--threads", 2, "--summary", "t.json", text=text).out
    assert json.loads((here / "t.json").read_text())["n_sentences"] == len(lines) + 1
    for preset in ("--fast", "--accurate"):
        other = dragoman("translate", "s", preset, "--without-fold", 1, text=text).out
        assert len(other.splitlines()) == len(lines) + 1
    assert dragoman("translate", "s", text="").out == ""
    assert dragoman("translate", "s", text="qwertz " * 1500 + "\n").out.split() == ["qwertz"] * 1500


def test_raw_text_comes_back_as_text(here, dragoman):
    settings = here / "s" / "system.json"
    system = json.loads(settings.read_text(encoding="utf-8"))
    system["settings"]["text"]["source_language"] = "de"
    system["settings"]["text"]["target_language"] = "en"
    settings.write_text(json.dumps(system), encoding="utf-8")
    raw = "der Lehrer liest, sagt er.\n"
    text = dragoman("translate", "s", "--raw", text=raw).out.removesuffix("\n")
    assert text.endswith(".")
    assert not text.endswith(" .")
    first = dragoman("translate", "s", "--raw", "--nbest", 5, text=raw).out.splitlines()[0]
    assert first.split("\t")[2] == text
    listed = dragoman("translate", "s", "--raw", "--nbest", 5, "--format", "moses", text=raw).out.splitlines()[0]
    assert listed.split(" ||| ")[1] == text


def test_a_tuning_on_raw_text_supplies_languages(here, dragoman):
    """A system of tokens knows none, and what it is tuned to remembers them."""
    for name in ("dev.de", "dev.en"):
        language = name[-2:]
        dragoman("corpus", "detokenize", "--moses", "-l", language, "-i", f"c/{name}", "-o", f"raw.{name}")
    words = ("tune", "--system", "s", "--source", "raw.dev.de", "-r", "raw.dev.en", "--rounds", 1, "--method", "pro")
    assert "--languages de-en" in dragoman(*words, "--raw", "-o", "t", status=2).err
    assert "add --raw" in dragoman(*words, "--languages", "de-en", "-o", "t", status=2).err
    assert "two codes" in dragoman(*words, "--raw", "--languages", "german", "-o", "t", status=2).err
    given = ("--raw", "--languages", "de-en", "--workers", 2)
    score = dragoman(*words, *given, "-o", "t", "--json").json["score_before"]
    plain = ("tune", "--system", "s", "--source", "c/dev.de", "-r", "c/dev.en", "--rounds", 1, "--method", "pro")
    assert score == pytest.approx(dragoman(*plain, "-o", "u", "--json").json["score_before"])
    assert dragoman("translate", "t", "--raw", text="der Lehrer liest.\n").out.strip().endswith(".")
    curve = ("curve", "s", "--source", "raw.dev.de", "-r", "raw.dev.en", "--feature", "lm", "--rounds", 0)
    assert "add --raw" in dragoman(*curve, "--languages", "de-en", status=2).err
    dragoman(*curve, "--raw", "--languages", "de-en", "-o", "lm.svg")


@pytest.mark.parametrize("form", ["moses", "cdec", "jsonl"])
def test_candidate_lists_can_be_read_again(here, dragoman, form):
    dragoman("translate", "s", "-i", "c/dev.de", "--nbest", 20, "--format", form, "-o", f"dev.{form}.gz")
    best = dragoman("translate", "s", "-i", "c/dev.de").out
    again = dragoman("rerank", "--nbest", f"dev.{form}.gz", "--weights", "s/weights.tsv").out
    # In so small a corpus some candidates differ in nothing but words, and rounding decides between them.
    same = [a == b for a, b in zip(again.splitlines(), best.splitlines(), strict=True)]
    assert sum(same) >= 0.8 * len(same)
    tuned = dragoman("tune", "--nbest", f"dev.{form}.gz", "-r", "c/dev.en", "-o", "w.tsv", "--json").json
    assert tuned["score_after"] >= tuned["score_before"]


def test_candidates_as_text(here, dragoman):
    out = dragoman("translate", "s", "-i", "c/test.de", "--nbest", 3, "--distinct").out
    rows = [line.split("\t") for line in out.splitlines()]
    assert {int(row[0]) for row in rows} == set(range(12))
    first = [row for row in rows if row[0] == "0"]
    assert len({row[2] for row in first}) == len(first) <= 3
    assert [float(row[1]) for row in first] == sorted((float(row[1]) for row in first), reverse=True)


def test_explanations_add_up(here, dragoman):
    out = dragoman("translate", "s", "-i", "c/test.de", "--explain", "--format", "jsonl").out
    lines = dragoman("translate", "s", "-i", "c/test.de").out.splitlines()
    for line, found in zip(lines, map(json.loads, out.splitlines()), strict=True):
        assert found["text"] == line
        assert sum(item["contribution"] for item in found["features"]) == pytest.approx(found["score"])
        assert sum(piece["score"] for piece in found["pieces"]) == pytest.approx(found["score"], abs=1e-6)
    text = dragoman("translate", "s", "-i", "c/test.de", "--explain").out
    assert text.count("translation") == len(lines)


def test_forests_hold_the_best_translation(here, dragoman):
    out = dragoman("translate", "s", "-i", "c/test.de", "--forest", "f").out.splitlines()
    files = [f"f/{i}.json.gz" for i in range(3)]
    best = dragoman("forest", "best", *files, "--weights", "s/weights.tsv", "--json").json["best"]
    assert [item["text"] for item in best] == out[:3]


def test_tune_a_system(here, dragoman):
    words = ("tune", "--system", "s", "--source", "c/dev.de", "-r", "c/dev.en", "--rounds", 2, "--k", 30)
    record = dragoman(*words, "-o", "t", "--json").json
    assert record["score_after"] >= record["score_before"]
    assert {"metric", "rounds", "n_sentences", "n_candidates", "n_features", "cpu_s", "weights"} <= set(record)
    assert record["weights"] == "t/weights.tsv"
    assert [entry["round"] for entry in record["rounds"]][:2] == [1, 2]
    assert sorted(path.name for path in (here / "t").iterdir()) == ["system.json", "tune", "weights.tsv"]
    assert len(dragoman("translate", "t", "-i", "c/test.de").out.splitlines()) == 12
    assert dragoman("system", "info", "t", "--json").json["parent"] == "../s"
    assert "holds a system" in dragoman(*words, "-o", "t", status=2).err
    again = dragoman(*words, "-o", "t", "--resume", "--json").json
    assert again["score_after"] == pytest.approx(record["score_after"])
    assert again["weights"] == record["weights"]
    (here / "s").rename(here / "gone")
    assert "parent system is gone" in dragoman("translate", "t", status=2).err


@pytest.mark.parametrize(
    "method",
    [
        ["--method", "pro", "--k", 20],
        ["--online", "--method", "mira", "--set", "measure=live"],
        ["--online", "--method", "mira"],
    ],
)
def test_a_finished_tuning_goes_on(here, dragoman, method):
    """More rounds give what a tuning of as many gives at once; fewer, and a stop on the way, are also possible."""
    words = ("tune", "--system", "s", "--source", "c/dev.de", "-r", "c/dev.en", *method)
    whole = dragoman(*words, "--rounds", 4, "-o", "whole", "--json").json
    dragoman(*words, "--rounds", 2, "-o", "t")
    assert not [*(here / "t").glob("tune/rounds/*/candidates")]
    manifest = (here / "t" / "system.json").read_bytes()
    assert "was finished before" in dragoman(*words, "--rounds", 2, "-o", "t", "--resume").out
    assert "other settings (" in dragoman(*words, "--rounds", 4, "--seed", 8, "-o", "t", "--resume", status=2).err
    assert (here / "t" / "system.json").read_bytes() == manifest
    more = dragoman(*words, "--rounds", 4, "-o", "t", "--resume", "--json").json
    assert (here / "t" / "weights.tsv").read_bytes() == (here / "whole" / "weights.tsv").read_bytes()
    # The translations that a pass made while it learned are gone; to count them, their lines are decoded once more.
    names = ["score_before", "score_after", "best_round", "stopped"]
    for name in names if "measure=live" in method else [*names, "n_candidates"]:
        assert more[name] == whole[name]
    assert len(dragoman("translate", "t", "-i", "c/test.de").out.splitlines()) == 12
    # A tuning that went on and was stopped before it wrote its system has one that does not belong to its result.
    (here / "t" / "system.json").write_bytes(manifest)
    assert "finished before" not in dragoman(*words, "--rounds", 4, "-o", "t", "--resume").out
    less = dragoman(*words, "--rounds", 1, "-o", "t", "--resume", "--json").json
    assert [entry["score"] for entry in less["rounds"]] == [entry["score"] for entry in whole["rounds"][:2]]


@pytest.mark.parametrize("begins", ["command", "python"])
def test_a_tuning_goes_on_wherever_it_began(here, inside, monkeypatch, begins):
    words = ["tune", "--system", "s", "--source", "c/dev.de", "-r", "c/dev.en", "--method", "pro", "--set", "l2=2"]
    words += ["--rounds", "3", "--k", "20", "--seed", "5"]
    inside(*words, "-o", "whole")

    def from_python(**more):
        config = TuneConfig(k=20, loop=LoopSettings(max_rounds=3, patience=10))
        files = (here / "s", here / "c/dev.de", [here / "c/dev.en"], here / "t")
        return tune_system(*files, optimiser=Pro(l2=2.0), config=config, seed=5, **more)

    learn = _Loop.learn

    def stop(self):
        if len(self.rounds) == 2:
            raise FailedError("stopped")
        learn(self)

    with monkeypatch.context() as patch:
        patch.setattr(_Loop, "learn", stop)
        if begins == "command":
            inside(*words, "-o", "t", status=1)
        else:
            with pytest.raises(FailedError, match="stopped"):
                from_python()
    if begins == "command":
        from_python(resume=True)
    else:
        inside(*words, "-o", "t", "--resume")
    assert (here / "t" / "weights.tsv").read_bytes() == (here / "whole" / "weights.tsv").read_bytes()
    records = [json.loads((here / name / "tune" / "run.json").read_bytes())["settings"] for name in ("t", "whole")]
    assert records[0] == records[1]
    other = [word if word != "l2=2" else "l2=3" for word in words]
    assert "other settings (method_settings.l2)" in " ".join(
        inside(*other, "-o", "t", "--resume", status=2).err.split()
    )


def test_what_a_system_is_tuned_for(here, inside):
    """Case and tokens as told, empty references said, an arrow where lower is better, a damaged result refused."""
    lines = (here / "c/dev.en").read_text().upper().splitlines()
    (here / "upper").write_text("".join(line + "\n" for line in ["", *lines[1:]]))
    words = ["tune", "--system", "s", "--source", "c/dev.de", "-r", "upper", "--rounds", 1, "--k", 20]
    done = inside(*words, "--lowercase", "--tokenize", "13a", "-o", "low", "--json")
    assert done.json["score_before"] > 5
    assert "upper: 1 of" in done.err
    err = inside(*words, "--lowercase", "-o", "low", "--resume", status=2).err
    assert "other settings (tokenizer)" in " ".join(err.split())
    words = [word if word != "upper" else "c/dev.en" for word in words] + ["-m", "ter", "-o", "t"]
    assert "ter ↓:" in inside(*words).out
    result = here / "t" / "tune" / "result.json"
    result.write_text(result.read_text().replace('"score_after": 0.', '"score_after": 0.1'))
    assert "does not match its checksum" in " ".join(inside(*words, "--resume", status=2).err.split())


def test_tune_a_system_online(here, dragoman):
    words = ("tune", "--system", "s", "--source", "c/dev.de", "-r", "c/dev.en", "--online")
    record = dragoman(*words, "--method", "mira", "--rounds", 2, "--set", "batch=4", "-o", "t", "--json").json
    assert record["score_after"] >= record["score_before"]
    assert [entry["pass"] for item in record["rounds"] for entry in item["trace"]] == [1, 2]
    stored = json.loads((here / "t" / "tune" / "run.json").read_bytes())["settings"]
    assert (stored["method"], stored["method_settings"]["batch"]) == ("online-mira", 4)
    assert "passes" in dragoman("tune", "--online", "--method", "mira", "--set", "help").out
    assert "there are: mira, rm" in dragoman(*words, "--method", "mert", "-o", "u", status=2).err
    lists = ("tune", "--nbest", "x", "-r", "c/dev.en", "--method", "mira", "--online", "-o", "u")
    assert "--system" in dragoman(*lists, status=2).err


def test_damage_is_told_apart_from_bad_usage(here, dragoman):
    assert "as they were written" in dragoman("system", "verify", "s").out
    assert "--languages" in dragoman("translate", "s", "--raw", status=2).err
    path = here / "s" / "grammar" / "events"
    data = bytearray(path.read_bytes())
    data[100] ^= 255
    path.write_bytes(data)
    assert "grammar/events" in dragoman("system", "verify", "s", status=2).err
    path.write_bytes(data[:-8])
    assert "damaged" in dragoman("translate", "s", status=2).err
    assert "not a system" in dragoman("translate", "c", status=2).err
    assert "-s and -t" in dragoman("train", "-o", "x", status=2).err


def test_a_killed_training_goes_on(here, dragoman):
    words = (*TRAIN, "-o", "again")
    for sign in ("training", "training/domains", "grammar"):
        process = subprocess.Popen(
            [sys.executable, "-m", "dragoman", *map(str, words), "--resume", "--quiet"],
            cwd=here,
            stdout=subprocess.DEVNULL,
        )
        while process.poll() is None and not (here / "again" / sign).exists():
            time.sleep(0.005)
        process.kill()
        process.wait()
    if not (here / "again" / "system.json").exists():  # it was quicker than the kill
        assert "--resume" in dragoman(*words, status=2).err
    dragoman(*words, "--resume")
    kept = [f"training/{path.name}" for path in (here / "s" / "training").iterdir()]
    assert len(kept) == 11
    for name in ("lm.bin", "lm.fold-1.bin", "grammar/manifest.json", "weights.tsv", *kept):
        assert (here / "again" / name).read_bytes() == (here / "s" / name).read_bytes()
    assert not [*(here / "again").glob(".*"), *(here / "again").glob("work")]


def test_export_and_import(here, dragoman):
    dragoman("system", "export", "s", "-o", "moses")
    assert {path.name for path in (here / "moses").iterdir()} == {
        "phrase-table.gz",
        "reordering-table.gz",
        "lm.arpa.gz",
        "moses.ini",
    }
    dragoman("train", "--import", "moses", "-o", "back")
    assert dragoman("translate", "back", "-i", "c/test.de").out == dragoman("translate", "s", "-i", "c/test.de").out


def test_word_classes_are_kept(here, dragoman):
    levels = ("--classes", 4, "--classes", 9)
    dragoman("train", "-s", "c/train.de", "-t", "c/train.en", "--lm-order", 2, *levels, "-o", "k", "-q")
    about = dragoman("system", "info", "k", "--json").json
    assert about["settings"]["classes"] == [4, 9]
    assert about["bytes"]["source_classes"] == 4 * 2 * about["about"]["n_source_words"]
    assert re.search(r"classes +4, 9", dragoman("system", "info", "k").out)
    dragoman("system", "verify", "k")
    again = ("train", "-s", "c/train.de", "-t", "c/train.en", "-o", "new")
    for options, why in (
        (("--classes", 0), "from 1 to 2048, not 0"),
        (("--classes", 3, "--classes", 3), "3 classes are asked for more than once"),
        (("--classes", 2048), "c/train.de: 2048 classes of"),
    ):
        assert why in dragoman(*again, *options, status=2).err
    refused = dragoman("train", "--import", "k", "--classes", 3, "-o", "new", status=2)
    assert "there is no text: leave out" in refused.err
    assert not (here / "new").exists()
