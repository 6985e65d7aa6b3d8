"""Experiments as users run them: killed, resumed, on a full disk, twice at once, with cells that fail."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import multiprocessing
import os
import random
import resource
import signal
import time
from pathlib import Path

import pytest
from tests.kit.toy_runs import without_times

from dragoman.analysis import compare_runs
from dragoman.errors import FailedError, InputError
from dragoman.experiments import read_recipe, run_cells
from dragoman.run import load_cells, load_test_sets
from dragoman.system import Silent
from dragoman.work.engine.processes import ProcessEngine

TWO_SYSTEMS = Path(__file__).parents[1] / "kit" / "two_systems.toml"
SMALL = [
    "corpora.synth.synth={train=300, dev=10, test=10, references=2}",
    "systems.phrase.lm_order=3",
    "systems.hiero.lm_order=3",
    "systems.hiero.max_span=8",
    "optimisers.mert={k=10, max_rounds=2, settings={n_starts=2}}",
    "optimisers.pro={k=10, max_rounds=2}",
    "optimisers.mira={k=10, max_rounds=2}",
    "report.samples=2",
    "grid.seeds=[1]",
]


class Watcher(Silent):
    """Notes which cells ended, and what was said."""

    def __init__(self):
        self.said = []
        self.rounds = []
        self.ended = []

    def say(self, text):
        self.said.append(text)

    def begin_cell(self, key):
        pass

    def step(self, key, number, what):
        pass

    def end_round(self, key, record):
        self.rounds.append((key, record.round))

    def end_cell(self, result, *, before):
        self.ended.append((result.key, before))


def run(out, cache, *changes, resume=True, only=(), engine=None):
    recipe = read_recipe(TWO_SYSTEMS, [*SMALL, *changes])
    watcher = Watcher()
    chosen = recipe.select(only)
    return run_cells(recipe, chosen, out, observer=watcher, cache=cache, resume=resume, engine=engine), watcher


def what_remains(out):
    """Everything that comparing and reporting read."""
    assert not list(out.rglob(".*"))
    found = {}
    for path in sorted(out.glob("cells/**/*")):
        name = str(path.relative_to(out))
        if path.name == "cell.json":
            found[name] = without_times(json.loads(path.read_bytes()), "peak_bytes", "cached")
        elif path.is_file() and "/tuned/" not in name:
            found[name] = path.read_bytes()
    for path in sorted(out.glob("corpora/*/*")):
        found[str(path.relative_to(out))] = path.read_bytes()
    return found


def no_sync(_descriptor):
    """The machine does not go down in these tests, and disks are slow."""


@pytest.fixture(scope="module", autouse=True)
def quick_disk():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", no_sync)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory, quick_disk):
    """A run that was left alone: its cache, what remains of it, and how long it took."""
    folder = tmp_path_factory.mktemp("whole")
    began = time.monotonic()
    results, watcher = run(folder / "run", folder / "cache", resume=False)
    elapsed = time.monotonic() - began
    assert len(results) == len(watcher.ended) == 6
    assert not any(result.error for result in results)
    return folder / "cache", what_remains(folder / "run"), elapsed


def test_cells_side_by_side_give_the_same_run(whole, tmp_path):
    cache, remains, _ = whole
    with ProcessEngine(2) as engine:
        results, watcher = run(tmp_path / "run", cache, resume=False, engine=engine)
        assert [key for key, _ in watcher.ended] == [result.key for result in results]
        again, watcher = run(tmp_path / "run", cache, engine=engine)
    assert all(before for _, before in watcher.ended)
    assert again == results
    assert what_remains(tmp_path / "run") == remains
    few = "optimisers.pro.settings={n_draws=1}"
    failed, _ = run(tmp_path / "bad", cache, few, only=["*/pro/*"], resume=False)
    with ProcessEngine(2) as engine:
        side, _ = run(tmp_path / "side", cache, few, only=["*/pro/*"], resume=False, engine=engine)
    assert [(one.key, one.error) for one in side] == [(one.key, one.error) for one in failed]


def run_and_exit(out, cache):
    os.fsync = no_sync
    run(out, cache)


@contextlib.contextmanager
def working(context, *args):
    process = context.Process(target=run_and_exit, args=args)
    process.start()
    try:
        yield process
    finally:
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        process.join()


def test_killed_at_twenty_random_moments_it_ends_with_the_same_table(whole, tmp_path):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dragoman.cli"])
    _, expected, elapsed = whole
    rng = random.Random(5)
    n_kills, n_runs = 0, 1
    while n_kills < 20:
        out, cache = tmp_path / f"run{n_runs}", tmp_path / f"cache{n_runs}"
        with working(context, out, cache) as process:
            process.join(rng.uniform(0, 0.6) * elapsed)
            killed = process.is_alive()
        n_kills += killed
        if not killed:
            assert process.exitcode == 0
            assert what_remains(out) == expected
            n_runs += 1
    run(out, cache)
    assert what_remains(out) == expected
    assert not [*cache.glob(".*"), *cache.glob("*.new"), *cache.glob("*.part")]


def test_a_full_disk_leaves_nothing_half_done(whole, tmp_path, monkeypatch):
    """Writes fail at a random moment: what became durable before is kept, and the rest is done later."""
    rng = random.Random(1)
    out = tmp_path / "run"
    n_failures = 0
    for _ in range(6):
        left = rng.randrange(20, 200)

        def full(_descriptor):
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with contextlib.suppress(FailedError):
                run(out, tmp_path / "cache")
        n_failures += left < 0
    assert n_failures >= 3
    run(out, tmp_path / "cache")
    assert what_remains(out) == whole[1]


def run_with_small_files(out, cache, n_bytes):
    os.fsync = no_sync
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    with contextlib.suppress(Exception):
        run(out, cache)


def test_files_that_cannot_grow_leave_nothing_half_done(whole, tmp_path):
    """The same for writes of the native core."""
    context = multiprocessing.get_context("forkserver")
    for n_bytes in (2_000, 30_000, 200_000):
        process = context.Process(target=run_with_small_files, args=(tmp_path / "run", tmp_path / "cache", n_bytes))
        process.start()
        process.join()
        assert process.exitcode == 0
    run(tmp_path / "run", tmp_path / "cache")
    assert what_remains(tmp_path / "run") == whole[1]


def test_runs_share_what_is_cached_and_damage_is_made_good(whole, tmp_path):
    cache, expected, _ = whole
    results, watcher = run(tmp_path / "a", cache, resume=False, only=["*/phrase/*/pro/*"])
    assert all(stage.cached for stage in results[0].stages if stage.name not in ("tuning", "scoring", "derivations"))
    assert not watcher.said
    (grammar,) = [
        path for path in cache.glob("*/system/lm.bin") if b'"phrase"' in (path.parent / "system.json").read_bytes()
    ]
    data = bytearray(grammar.read_bytes())
    data[len(data) // 2] ^= 1
    grammar.write_bytes(data)
    _, watcher = run(tmp_path / "b", cache, resume=False, only=["*/phrase/*/pro/*"])
    assert any("damaged" in text and "grammar" in text for text in watcher.said)
    for out in (tmp_path / "a", tmp_path / "b"):
        remains = what_remains(out)
        assert remains == {name: expected[name] for name in remains}
        assert sum(name.endswith("cell.json") for name in remains) == 1


def test_cells_can_be_run_a_few_at_a_time(whole, tmp_path):
    cache, expected, _ = whole
    first, _ = run(tmp_path / "r", cache, resume=False, only=["*/phrase/*"])
    assert len(first) == 3
    results, watcher = run(tmp_path / "r", cache)
    assert [before for _, before in watcher.ended] == [True] * 3 + [False] * 3
    assert len(results) == 6
    assert what_remains(tmp_path / "r") == expected
    assert {cell.key for cell in load_cells(tmp_path / "r")} == {cell.key for cell in results}
    assert len(load_test_sets(tmp_path / "r")["synth"].references) == 2


@pytest.fixture
def command(inside):
    def call(*words, status=0):
        changes = [word for change in SMALL for word in ("--set", change)]
        return inside("run", TWO_SYSTEMS, *changes, *words, status=status)

    return call


def test_one_failing_cell_does_not_stop_the_others(whole, command, tmp_path):
    """A file that is in the way makes a cell fail; when it is gone, --resume tries again."""
    cell = tmp_path / "r" / "cells" / "synth" / "phrase" / "dense" / "mert" / "1"
    words = ("-o", "r", "--cache", whole[0], "--json", "--only")
    command(*words, "*/phrase/*/pro/*")
    cell.mkdir(parents=True)
    (cell / "tuned").write_text("in the way")
    outcome = command(*words, "*/phrase/*/m*/*", "--resume", status=1)
    assert "1 of 2 cells failed" in outcome.err
    assert "synth/phrase/dense/mert/1: " in outcome.err
    failed, good = outcome.json["cells"]
    assert failed["error"]
    assert good["error"] is None
    assert [result.error is None for result in load_cells(tmp_path / "r")] == [False, True, True]
    (cell / "tuned").unlink()
    outcome = command(*words, "*/phrase/*", "--resume")
    assert [entry["error"] for entry in outcome.json["cells"]] == [None, None, None]
    remains = what_remains(tmp_path / "r")
    assert remains == {name: whole[1][name] for name in remains}


def test_a_plan_says_what_is_cached_and_runs_nothing(whole, command, tmp_path):
    plan = command("-o", "r", "--dry-run", "--json").json
    assert plan["n_cells"] == 6
    assert not any(any(cell["cached"].values()) for cell in plan["cells"])
    assert list(plan["cells"][0]["cached"]) == ["corpus", "alignment", "language model", "grammar"]
    plan = command("-o", "r", "--cache", whole[0], "--dry-run", "--json", "--only", "*/hiero/*").json
    assert plan["n_cells"] == 3
    assert all(all(cell["cached"].values()) for cell in plan["cells"])
    assert not list(tmp_path.iterdir())
    assert "6 cells, 0 of them done" in command("-o", "r", "--dry-run").out
    assert "6 cells, 0 of them done" in command("--dry-run").out
    # A folder that nobody named is not looked at; one that was named must do.
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "stray").touch()
    assert "6 cells, 0 of them done" in command("--dry-run").out
    assert "is not empty and holds no run" in command("-o", "run", "--dry-run", status=2).err
    (tmp_path / "run" / "run.json").write_text('{"format": "dragoman-run", "version": 1, "settings": {"kind": "x"}}')
    assert "was started with other settings (kind)" in " ".join(command("-o", "run", "--dry-run", status=2).err.split())
    assert "is not a folder" in command("-o", "run/stray", "--dry-run", status=2).err
    assert "with -o" in command(status=2).err


def test_what_a_kill_left_is_swept(whole, tmp_path):
    run(tmp_path / "r", whole[0], resume=False, only=["*/phrase/*/pro/1"])
    cell = tmp_path / "r" / "cells" / "synth" / "phrase" / "dense" / "pro" / "1"
    for left in (tmp_path / "r", tmp_path / "r" / "corpora" / "synth", cell, cell / "tuned"):
        (left / ".half.abc").write_text("x")
    (cell / "tuned" / "tune" / "rounds" / ".0009.abc").mkdir()
    run(tmp_path / "r", whole[0], only=["*/phrase/*/pro/1"])
    what_remains(tmp_path / "r")


def test_a_run_is_not_continued_with_other_settings_nor_by_two(whole, command, tmp_path):
    words = ("-o", "r", "--cache", whole[0], "--only", "*/phrase/*/mert/1", "-q")
    command(*words)
    assert "--resume" in command(*words, status=2).err
    changed = command(*words, "--resume", "--set", "optimisers.mert.k=11", status=2).err
    assert "another tuning.k" in " ".join(changed.split())
    assert command(*words, "--dry-run", "--set", "optimisers.mert.k=11", status=2).err == changed
    assert "1 of them done" in command(*words, "--dry-run").out
    changed = command(*words, "--resume", "--set", "corpora.synth.synth.test=11", status=2).err
    assert "another text.settings.synth.n_test" in " ".join(changed.split())
    with (tmp_path / "r" / "lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "is at work on this run" in " ".join(command(*words, "--resume", status=2).err.split())
    resumed = " ".join(command(*words, "--resume").err.split())  # --quiet keeps warnings
    assert resumed == "warning: 1 of 1 cells ended at or below their start: synth/phrase/dense/mert/1"


@pytest.mark.parametrize(
    ("change", "only", "named"),
    [
        ("corpora.synth.synth={seed=3, train=300, dev=10, test=10, references=2}", "*/pro/*", "synth.config.seed"),
        ("optimisers.mert.k=11", "*/mert/2", "tuning.k"),
        ("systems.phrase.lm_order=2", "*/pro/*", "system.train.lm.order"),
        ("optimisers.mert.k=11", "other/mert/1", "tuning.k"),
    ],
    ids=["another test set", "another seed", "another system", "another optimiser"],
)
def test_cells_that_stay_are_not_mixed_with_others(whole, tmp_path, change, only, named):
    """A test set is that of all cells of a corpus, and a name means the same in all rows."""
    run(tmp_path / "r", whole[0], resume=False, only=["*/phrase/*/mert/1"])
    before = what_remains(tmp_path / "r")
    with pytest.raises(InputError, match=rf"mert/1: the cell was begun with another \S*{named}"):
        more = ("grid.seeds=[1, 2]", "features.other={templates=[]}", "grid.features=['dense', 'other']")
        run(tmp_path / "r", whole[0], *more, change, only=[f"*/phrase/{only}"])
    assert what_remains(tmp_path / "r") == before


def test_the_trace_tells_what_happened(whole, command, tmp_path):
    command("-o", "r", "--cache", whole[0], "--only", "*/hiero/*/pro/1", "-q")
    events = [json.loads(line) for line in (tmp_path / "r" / "trace.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == [
        "start", *["stage"] * 4, *["round"] * 3, *["stage"] * 5, "cell", "end",
    ]  # fmt: skip
    assert events[0]["cells"] == ["synth/hiero/dense/pro/1"]
    assert events[0]["dragoman"]
    assert all(event["peak_bytes"] > 0 for event in events if event["event"] in ("stage", "round"))


def test_what_a_cell_says_of_itself(whole, tmp_path, monkeypatch):
    online = "optimisers.mira={online=true, k=5, max_rounds=2, metric='BLEU'}"
    only = ["*/phrase/*/mira/*"]
    before = {*whole[0].iterdir()}
    (first, second), _ = run(tmp_path / "r", whole[0], online, "grid.seeds=[1, 2]", only=only, resume=False)
    assert first.metric == "bleu"
    # It learned from up to five candidates of each of ten sentences in a pass; the last round was only measured.
    assert len(first.rounds) == 3
    assert 10 < first.rounds[0].n_candidates <= 50
    assert first.rounds[2].n_candidates == first.rounds[1].n_candidates
    for entry in first.rounds[:2]:
        assert min(entry.spread, entry.spread_deviation, entry.fired["margin"]) > 0
        assert entry.fired["upper"] == entry.fired["lower"] == 0  # of RM alone
        assert entry.n_active <= entry.n_possible
    assert (first.rounds[2].spread, first.rounds[2].fired) == (None, {})
    assert first.tune.scores["bleu"] == pytest.approx(first.best.dev)
    # The start's translations are shared, and so are others: what was found ready is not paid for again.
    costs = [stage for cell in (first, second) for stage in cell.stages if stage.name == "test decoding"]
    made = [json.loads((folder / "step.json").read_bytes()) for folder in {*whole[0].iterdir()} - before]
    paid = [entry["cost"]["cpu_s"] for entry in made if entry["kind"] == "test decoding"]
    assert sum(cost.cpu_s for cost in costs if not cost.cached) == pytest.approx(sum(paid), abs=1e-6)

    (program,) = first.programs
    no_gain = "2 of 2 cells ended at or below their start: synth/phrase/dense/mira/1, synth/phrase/dense/mira/2"
    assert compare_runs([tmp_path / "r"], n_bootstrap=0, n_trials=0).notes == (no_gain,)
    (tmp_path / "r/cells/synth/phrase/dense/mira/2/cell.json").unlink()
    monkeypatch.setattr("dragoman.experiments.cell.program_name", lambda _: "0.0.9+older")
    (_, again), _ = run(tmp_path / "r", whole[0], online, "grid.seeds=[1, 2]", only=only)
    assert again.programs == (program, "0.0.9+older")
    assert again.scores == second.scores
    assert compare_runs([tmp_path / "r"], n_bootstrap=0, n_trials=0).notes == (
        no_gain,
        f"the cells were made by 2 versions of the program ({program}: 1 cells, 0.0.9+older: 1 cells)",
        "synth/phrase/dense/mira/2 was begun by one version of the program and finished by another",
    )
