"""A run that is killed at any moment and resumed ends like one that was left alone, bit by bit."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.kit import toy_decoder
from tests.kit.toy_runs import tune_inside, what_remains


class Kills:
    """Copies of a run as a kill would leave it, taken before every call that makes something durable, or the n-th."""

    def __init__(self, monkeypatch, folder):
        self.folder = folder
        self.n_copies = 0
        self.run = None
        for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "rename")):
            call = getattr(owner, name)
            # A kill takes nothing from the disk's cache, so nothing need wait for the disk.
            monkeypatch.setattr(owner, name, self.copying((lambda _: None) if name == "fsync" else call))

    def copying(self, call):
        def wrapped(*arguments):
            if self.run is not None and (self.folder / self.run).exists():
                self.moment += 1
                found = {path: path.is_file() and path.read_bytes() for path in (self.folder / self.run).rglob("*")}
                if self.only in (None, self.moment) and found != self.last:  # a sync alone changes no file
                    self.last = found
                    self.n_copies += 1
                    shutil.copytree(self.folder / self.run, self.folder / f"copy{self.n_copies}")
            return call(*arguments)

        return wrapped

    def during(self, run, only=None):
        """The copies taken while this run is resumed to its end."""
        self.run, self.only, self.moment, self.last = run, only, 0, None
        before = self.n_copies
        tune_inside(self.folder, run)
        self.run = None
        return [f"copy{i}" for i in range(before + 1, self.n_copies + 1)]


def test_killed_at_every_sync(tmp_path, monkeypatch):
    toy_decoder.write_task(tmp_path, n_sentences=3, length=3)
    kills = Kills(monkeypatch, tmp_path)
    killed = kills.during("whole")
    expected = what_remains(tmp_path / "whole")
    assert len(killed) > 40
    for run in killed:
        twice = kills.during(run, only=3)  # and once more, early in the resumed run
        assert what_remains(tmp_path / run) == expected, f"{run} ended differently"
        for again in twice:
            kills.during(again, only=0)
            assert what_remains(tmp_path / again) == expected, f"{again}, killed in {run}, ended differently"


@pytest.mark.parametrize(("method", "seed"), [("mert", 1), ("pro", 2)])
def test_the_command_killed_at_random_moments(tmp_path, method, seed):
    toy_decoder.write_task(tmp_path, n_sentences=8)
    toy = f"'{sys.executable}' '{toy_decoder.__file__}' {{source}} {{weights}} {{nbest}} {{k}} --pause 0.005"
    words = ["tune", "--decoder", toy, "--source", "dev.src", "-r", "dev.ref", "--weights", "start", "--quiet"]

    def start(name):
        more = ["--method", method, "--k", "4", "--rounds", "3", "-o", f"{name}.tsv", "--run", name, "--resume"]
        return subprocess.Popen([sys.executable, "-m", "dragoman", *words, *more], cwd=tmp_path)

    began = time.monotonic()
    assert start("whole").wait() == 0
    duration = time.monotonic() - began
    process = start("run")
    while not (tmp_path / "run" / "run.json").exists():
        time.sleep(0.001)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    rng = random.Random(seed)
    for _ in range(5):
        process = start("run")
        try:
            # From about the moment when it has read its options to its end.
            process.wait(rng.uniform(0.3, 1.0) * duration)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert start("run").wait() == 0
    assert (tmp_path / "run.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert what_remains(tmp_path / "run") == what_remains(tmp_path / "whole")
