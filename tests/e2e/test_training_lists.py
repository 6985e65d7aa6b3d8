"""Stored lists of the training text, as a user makes, describes, joins and learns from them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.candidates import rerank, save_pool
from dragoman.features import read_weights
from dragoman.sources.lists import ListsFolder, StoredLists
from dragoman.system import System, SystemSettings, TrainConfig, train

N_LINES = 400


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A system with folds whose lines are labelled: most are to learn from, some are held out."""
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, N_LINES, 1, 1, seed=7)
    domains = write_lines(folder / "domains", ["held" if i % 4 == 0 else "learn" for i in range(N_LINES)])
    config = TrainConfig(settings=SystemSettings(n_folds=3))
    train(folder / "train.de", folder / "train.en", folder / "system", config=config, domains=domains)
    write_lines(folder / "poor.tsv", ["lm\t0.1", "p_e_f\t0.2", "lex_e_f\t0.2", "words\t-0.3", "distortion\t0.1"])
    return folder


@pytest.fixture
def lists(made, inside):
    """Makes lists once, by weights that can be improved, and knows where they are."""

    def make(name, *words):
        if not (made / name / "lists.json").exists():
            options = ["--k", 20, "--lines-per-shard", 64, "--weights", made / "poor.tsv"]
            inside("lists", made / "system", "-o", made / name, *options, *words)
        return made / name

    return make


def score(folder, weights):
    lists = ListsFolder.load(folder)
    pool = StoredLists(lists.open_system(features=["extended"]), lists.paths()).pool(lists.settings.measure())
    return rerank(pool, weights).score()


def test_made_described_and_joined(made, inside, tmp_path):
    system = made / "system"
    told = inside("lists", system, "-o", "whole", "--k", 5, "--lines-per-shard", 80, "--json").json
    assert (told["n_lists"], told["n_shards"], told["shards"]) == (N_LINES, 5, [0, 5])
    assert told["bytes_per_candidate"] < 300
    for i in (1, 2):
        inside("lists", system, "-o", f"part-{i}", "--k", 5, "--lines-per-shard", 80, "--shard", f"{i}/2")
    assert "2 of 5 shards" in inside("lists", "info", "part-1").out
    inside("lists", "join", "part-2", "part-1", "-o", "joined")
    for path in (tmp_path / "joined").iterdir():
        assert path.read_bytes() == (tmp_path / "whole" / path.name).read_bytes()
    about = inside("lists", "info", "joined", "--features", "extended", "--json").json
    assert about["features"]["dense"]["n_features"] == 15
    assert about["features"]["word_pair"]["n_features"] > about["features"]["word_pair"]["per_candidate"] > 0
    assert [row["fold"] for row in about["scores"]] == [None, 0, 1, 2]
    assert all(row["oracle"] > row["score"] > 0 for row in about["scores"])
    shown = inside("lists", "info", "joined").out
    assert "out of fold" in shown
    inside("lists", system, "-o", "seen", "--k", 5, "--all-data")
    assert "in fold" in inside("lists", "info", "seen").out


def test_worker_processes_give_the_same_bytes(made, inside, tmp_path):
    options = ["--k", 5, "--lines-per-shard", 80]
    inside("lists", made / "system", "-o", "threads", *options, "--threads", 2)
    inside("lists", made / "system", "-o", "workers", *options, "--workers", 2)
    for path in (tmp_path / "threads").glob("*[!k]"):
        assert path.read_bytes() == (tmp_path / "workers" / path.name).read_bytes()


@pytest.mark.parametrize("method", ["xbleu", "softramp", "pro", "mira", "rm"])
def test_what_is_learned_holds_for_other_lines(lists, method, inside, tmp_path):
    learn, held = lists("learn", "--where", "learn"), lists("held", "--where", "!learn")
    words = ["--lists", learn, "--method", method, "--features", "extended", "-o", "w.tsv"]
    told = inside("tune", *words, "--json").json
    assert told["score_after"] > told["score_before"]
    before, after = ListsFolder.load(learn).weights(), read_weights(tmp_path / "w.tsv")
    assert score(held, after) > score(held, before) + 0.005


@pytest.mark.parametrize("method", ["mert", "xbleu", "cll", "rampion", "svm", "perceptron", "pro", "mira"])
def test_stored_lists_teach_what_the_same_lists_in_a_pool_do(made, lists, method, inside, tmp_path):
    learn = lists("learn", "--where", "learn")
    found = ListsFolder.load(learn)
    stored = StoredLists(found.open_system(features=["extended"]), found.paths(), with_words=True)
    save_pool(stored.pool(found.settings.measure()), tmp_path / "pool")
    inside("tune", "--lists", learn, "--features", "extended", "--method", method, "-o", "stored.tsv")
    references = ["-r", made / "train.en", "--allow-missing", "--weights", learn / "weights.tsv"]
    inside("tune", "--nbest", "pool", *references, "--method", method, "-o", "pool.tsv")
    one, other = (read_weights(tmp_path / name) for name in ("stored.tsv", "pool.tsv"))
    assert dict(one.items()) == dict(other.items())


def test_a_fold_is_held_out_and_the_scale_said(lists, inside, tmp_path):
    learn = lists("learn", "--where", "learn")
    words = ["tune", "--lists", learn, "--features", "extended", "--method", "xbleu", "-o", "w.tsv"]
    settings = ["--set", "held_out_fold=1", "--set", "scale=3"]
    told = inside(*words, *settings, "--json").json
    entry = told["rounds"][0]["trace"][0]
    assert (entry["held_out_folds"], entry["scale"]) == ("1", 3)
    said = inside(*words, *settings).err
    assert "multiplied by 3, and the result divided by it" in said
    assert f"{entry['held_out']} lists held out: bleu {100 * entry['held_out_before']:.2f} -> " in said
    before, after = ListsFolder.load(learn).weights(), read_weights(tmp_path / "w.tsv")
    assert {name: after[name] for name, _ in before.items()} == dict(before.items())


def test_workers_sample_as_this_process_does(lists, inside, tmp_path):
    learn = lists("learn", "--where", "learn")
    words = ["tune", "--lists", learn, "--features", "extended", "--method"]
    inside(*words, "pro", "-o", "alone.tsv", "--run", "run")
    inside(*words, "pro", "-o", "shared.tsv", "--workers", 2)
    inside(*words, "pro", "-o", "again.tsv", "--run", "run", "--resume", "--workers", 2)
    for name in ("shared.tsv", "again.tsv"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "alone.tsv").read_bytes()
    for method in ("mira", "all"):
        error = inside(*words, method, "-o", "w.tsv", "--workers", 2, status=2).err
        assert "leave out --workers (workers are for pro)" in " ".join(error.split())


def test_a_tuned_system_with_sparse_features(lists, inside, tmp_path):
    learn = lists("learn", "--where", "learn")
    inside(
        *["tune", "--lists", learn, "--method", "mira", "--features", "extended"],
        *["-o", "w.tsv", "--system-out", "tuned", "--run", "run"],
    )
    tuned = System.load(tmp_path / "tuned")
    assert tuned.settings.features == ("extended",)
    assert dict(tuned.weights.items()) == dict(read_weights(tmp_path / "w.tsv").items())
    again = inside("lists", "tuned", "-o", "again", "--k", 4, "--limit", 10, "--json").json
    assert again["settings"]["features"] == ["extended"]
    assert (
        "holds a system already"
        in inside("tune", "--lists", learn, "-o", "w.tsv", "--system-out", "tuned", status=2).err
    )


def test_a_hierarchical_system(made, inside, tmp_path):
    for side in ("de", "en"):
        write_lines(tmp_path / side, (made / f"train.{side}").read_text().splitlines()[:100])
    inside("train", "-s", "de", "-t", "en", "--model", "hiero", "--folds", 2, "-o", "hiero", "--quiet")
    inside("lists", "hiero", "-o", "lists", "--k", 10, "--fast", "--weights", made / "poor.tsv")
    about = inside("lists", "info", "lists", "--features", "rule_id", "--json").json
    assert about["bytes_per_candidate"] < 300
    assert about["features"]["rule_id"]["n_features"] > 100
    told = inside("tune", "--lists", "lists", "--features", "rule_id", "--method", "mira", "-o", "w.tsv", "--json").json
    assert told["score_after"] > told["score_before"]


def test_online_learning_from_the_training_text(made, inside, tmp_path):
    words = ["tune", "--system", made / "system", "--source", made / "dev.de", "-r", made / "dev.en", "--online"]
    learn = [*words, "--method", "rm", "--learn-from", "training", "--limit", 60, "--features", "rm_phrase", "--k", 10]
    told = inside(*learn, "--rounds", 2, "--keep", "last", "-o", "t", "--json").json
    passes = [entry for item in told["rounds"] for entry in item["trace"]]
    assert [entry["pass"] for entry in passes] == [1, 2]
    inside(*learn, "--rounds", 2, "--keep", "last", "-o", "u", "--workers", 2, "--quiet")
    assert (tmp_path / "t" / "weights.tsv").read_bytes() == (tmp_path / "u" / "weights.tsv").read_bytes()
    for more, why in (
        (["--limit", 0], "at least 1"),
        (["--without-fold", 1], "leave out --without-fold"),
        (["--set", "learners=2"], "folds has a learner"),
        (["--learn-from", "development"], "--learn-from training"),
    ):
        assert why in " ".join(inside(*learn, "-o", "v", *more, status=2).err.split()), more
    assert "add --online" in inside(*[word for word in learn if word != "--online"], "-o", "v", status=2).err
    assert not (tmp_path / "v").exists()


def test_errors_say_what_to_do(made, lists, inside, tmp_path):
    learn, system = lists("learn", "--where", "learn"), made / "system"
    xbleu = ["tune", "--lists", learn, "--method", "xbleu", "--features", "rule_id", "-o", "w", "--set"]
    for words, why in (
        (["lists", system, "-o", "l", "--k", 1], "at least 2"),
        (["lists", system, "-o", "l", "--limit", 0], "--limit 0"),
        (["lists", system, "-o", "l", "--where", "mo"], "it has: held, learn"),
        (["lists", system, "-o", "l", "--shard", "3/2"], "no part"),
        (["lists", system, "-o", "l", "--fast", "--accurate"], "choose one"),
        (["lists", system, "-o", learn], "--resume"),
        (["lists", system, "-o", learn, "--resume", "--k", 9], "other settings (k, lines_per_shard, weights, where)"),
        (["lists", "info", tmp_path], "is not a folder of lists"),
        (["tune", "--lists", learn, "-m", "ter", "-o", "w"], "-m cannot be used with --lists"),
        (["tune", "--lists", learn, "-r", made / "train.en", "-o", "w"], "-r cannot be used with --lists"),
        (["tune", "--lists", learn, "--nbest", "x", "-o", "w"], "exclude each other"),
        (["tune", "--lists", learn, "--online", "--method", "mira", "-o", "w"], "--online"),
        ([*xbleu, "held_out_fold=77"], "held_out_fold=77 leaves nothing to watch; the lists are of folds 0, 1"),
        ([*xbleu, "held_out_fold=-1"], "from 0, not -1"),
        ([*xbleu, "scale=0"], "must be positive"),
        ([*xbleu, "sentence_bleu.prior=-1"], "must not be negative"),
    ):
        assert why in inside(*words, status=2).err.replace("--metric", "-m"), words
    assert not (tmp_path / "l").exists()


def test_damaged_lists_teach_nothing(made, inside, tmp_path):
    words = ["lists", made / "system", "-o", "l", "--k", 5, "--limit", 60, "--lines-per-shard", 20]
    inside(*words)
    data = bytearray((tmp_path / "l" / "shard-000001").read_bytes())
    data[-9] ^= 4
    (tmp_path / "l" / "shard-000001").write_bytes(data)
    for command in (["tune", "--lists", "l", "-o", "w.tsv"], ["lists", "info", "l"], ["lists", "join", "l", "-o", "j"]):
        said = inside(*command, status=2).err
        assert "shard-000001" in said
        assert "--resume makes it again" in said
    assert "shard-000001" in inside(*words, "--resume").err
    inside("lists", "info", "l")


def test_a_killed_command_goes_on(made, inside, tmp_path):
    words = ["lists", made / "system", "-o", "killed", "--k", 20, "--lines-per-shard", 16]
    with subprocess.Popen([sys.executable, "-m", "dragoman", *map(str, words)], cwd=tmp_path) as process:
        while not list(tmp_path.glob("killed/shard-*")):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert "not complete" in inside("tune", "--lists", "killed", "-o", "w.tsv", status=2).err
    assert "not complete" in inside("lists", "info", "killed", status=2).err
    inside(*words, "--resume")
    assert ListsFolder.load(tmp_path / "killed").n_lists == N_LINES
