"""Gradient passes as a user makes, stops, resumes and joins them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.gradients import Gradient
from dragoman.system import SystemSettings, TrainConfig, train

N_LINES = 120
OPTIONS = ["--k", 8, "--lines-per-shard", 10, "--features", "rule_id", "--scale", 5]


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, N_LINES, 1, 1, seed=8)
    domains = write_lines(folder / "domains", ["news" if i % 4 else "mo" for i in range(N_LINES)])
    config = TrainConfig(settings=SystemSettings(n_folds=3))
    train(folder / "train.de", folder / "train.en", folder / "system", config=config, domains=domains)
    train(folder / "train.de", folder / "train.en", folder / "plain")
    return folder / "system"


@pytest.fixture(scope="module")
def whole(system, tmp_path_factory):
    """The bytes of a pass in one go."""
    path = tmp_path_factory.mktemp("whole") / "vector"
    words = ["gradient", system, "-o", path, *OPTIONS]
    subprocess.run([sys.executable, "-m", "dragoman", *map(str, words)], check=True)
    assert not path.with_name("vector.run").exists()
    return path.read_bytes()


def test_several_losses_and_lines_of_a_domain(system, inside, tmp_path):
    losses = ["--loss", "softramp", "--loss", "rm", "--set", "softramp.cost_scale=10", "--set", "rm.bound=2"]
    told = inside("gradient", system, "-o", "v", *OPTIONS, *losses, "--where", "!mo", "--json").json
    assert told["n_lines"] == N_LINES * 3 // 4
    assert told["losses"].keys() == {"softramp", "rm"}
    assert told["settings"]["losses"] == {"softramp": {"cost_scale": 10}, "rm": {"bound": 2}}
    assert 0 < told["score"] < told["oracle_score"] < 100
    found = Gradient.load(tmp_path / "v")
    assert list(found.table.columns) == ["softramp", "rm", "n_lists"]
    assert len(found.table) == told["n_features"]
    shown = inside("gradient", system, "-o", "w", "--k", 8, "--limit", 20, "-m", "chrf", "--all-data", "--fast").out
    assert "softramp: " in shown
    assert "chrf: " in shown
    assert " in fold, oracle " in shown
    assert "features of 20 lists -> w" in shown


def test_parts_and_workers_give_the_bytes_of_one_run(system, whole, inside, tmp_path):
    for i in (1, 2, 3):
        how = ["--workers", 2] if i == 2 else ["--threads", 2]
        inside("gradient", system, "-o", f"part-{i}", *OPTIONS, "--shard", f"{i}/3", *how)
    assert "none of the parts" in inside("gradient", "sum", "part-1", "part-3", "-o", "v", status=2).err
    inside("gradient", "sum", "part-3", "part-1", "part-2", "-o", "v")
    assert (tmp_path / "v").read_bytes() == whole
    file = next((tmp_path / "part-2" / "sums").iterdir())
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    outcome = inside("gradient", "sum", "part-1", "part-2", "part-3", "-o", "v", status=2)
    assert str(file.relative_to(tmp_path)) in outcome.err
    assert "damaged" in outcome.err
    assert (tmp_path / "v").read_bytes() == whole


def test_interrupted_and_resumed(system, whole, tmp_path, inside):
    words = [sys.executable, "-m", "dragoman", "gradient", system, "-o", "v", *OPTIONS, "--quiet"]
    with subprocess.Popen(
        [*map(str, words)], cwd=tmp_path, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    ) as process:
        while not (tmp_path / "v.run" / "run.json").exists():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait() in (130, 0)
    if (tmp_path / "v.run" / "sums.json").exists():  # else it was stopped before the first sum, or after the last
        assert "say --resume" in inside("gradient", system, "-o", "v", *OPTIONS, status=2).err
        other = inside("gradient", system, "-o", "v", *OPTIONS, "--distinct", "--resume", status=2).err
        assert "other settings (distinct)" in other
    inside("gradient", system, "-o", "v", *OPTIONS, "--resume")
    assert (tmp_path / "v").read_bytes() == whole
    assert not (tmp_path / "v.run").exists()


def test_a_full_disk_costs_nothing_but_the_file(system, whole, inside, tmp_path):
    assert "No space left" in inside("gradient", system, "-o", "/dev/full", "--run", "r", *OPTIONS, status=1).err
    inside("gradient", system, "-o", "v", "--run", "r", *OPTIONS, "--resume")
    assert (tmp_path / "v").read_bytes() == whole
    assert (tmp_path / "r" / "sums.json").exists()


def test_errors_say_what_to_do(system, inside, tmp_path):
    (tmp_path / "zero.tsv").write_text("lm\t0\n")
    for words, why in (
        ([system, "-o", "v", "--loss", "mert"], "there is no loss 'mert'"),
        ([system, "-o", "v", "--loss", "cll", "--loss", "cll"], "named twice"),
        ([system, "-o", "v", "--set", "xbleu.gamma=2"], "--set xbleu: that loss is not asked for; add --loss xbleu"),
        ([system, "-o", "v", "--set", "gamma=2"], "--set gamma: expected the setting of a loss"),
        ([system, "-o", "v", "--set", "softramp=2"], "expected softramp.NAME=VALUE"),
        ([system, "-o", "v", "--set", "softramp.step=2"], "does not depend on its setting 'step'"),
        ([system, "-o", "v", "--scale", "-1"], "scale of the weights must be positive"),
        ([system, "-o", "v", "--k", 1], "at least 2"),
        ([system, "-o", "v", "--weights", "zero.tsv"], "no weight of a feature of the system"),
        ([system, "-o", "v", "--where", "sports"], "it has: mo, news"),
        ([system, "-o", "v", "--fast", "--accurate"], "choose one"),
        ([system, "-o", "v", "--shard", "0/2"], "no part 0/2"),
        ([system, "-o", "v", "--shard", "1/2", "--run", "r"], "leave out --run"),
        ([system, "-o", "v", "--run", "./v"], "name two different places"),
        ([system, "-o", "-"], "not text"),
        ([system, "-o", "nowhere/v"], "its folder does not exist"),
        ([system.parent / "plain", "-o", "v"], "--folds"),
        (["sum", system, "-o", "v"], "is not a part of a gradient pass"),
    ):
        assert why in inside("gradient", *words, status=2).err, words
    assert [path.name for path in tmp_path.iterdir()] == ["zero.tsv"]
