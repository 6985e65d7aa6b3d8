"""Gradient passes: the sums of all lists, with the same bits however they came about."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.engine_jobs import Mortal
from tests.kit.small_text import write_splits

from dragoman.errors import FailedError, InputError
from dragoman.features import Block, FeatureTable, Weights
from dragoman.files.store import seal, write_json
from dragoman.gradients import N_LISTS, Gradient, GradientPass, PassSettings, gradient_pass, sum_parts
from dragoman.lm import EstimateConfig
from dragoman.optim import LOSSES
from dragoman.system import (
    FoldDecoder,
    HieroSettings,
    PhraseSettings,
    Preset,
    System,
    SystemSettings,
    TrainConfig,
    reordering_by_name,
    train,
)
from dragoman.work.engine import LocalEngine, Part, TreeSum, open_engine

N_LINES, N_SHARDS = 52, 13
SETTINGS = PassSettings(
    losses={"softramp": {}, "xbleu": {"gamma": 0.5}}, scale=3, k=9, features=("rule_id",), lines_per_shard=4
)
MODELS = {"phrase": PhraseSettings(reordering=reordering_by_name("hrm")), "hiero": HieroSettings()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Systems of both kinds with folds."""
    base = tmp_path_factory.mktemp("passes")
    write_splits(base, N_LINES, 1, 1, seed=5)
    config = {
        kind: TrainConfig(settings=SystemSettings(model=model, n_folds=3), lm=EstimateConfig(order=3))
        for kind, model in MODELS.items()
    }
    return {
        kind: train(base / "train.de", base / "train.en", base / kind, config=config[kind], n_threads=2)
        for kind in MODELS
    }


@pytest.fixture(scope="module")
def system(built):
    return built["phrase"]


@pytest.fixture(scope="module")
def whole(system):
    """A pass in one go, which others must equal."""
    return gradient_pass(system, SETTINGS)


def lists_of(system, settings):
    """All lists of a pass as one pool."""
    fresh = System.load(system.folder).with_templates(settings.features)
    decoder = FoldDecoder(fresh, preset=settings.preset, all_data=settings.all_data)
    lines = fresh.training.select(where=settings.where, limit=settings.limit)
    pool = decoder.kbest(lines, fresh.weights, settings.k, distinct=settings.distinct)
    return decoder.measured(pool, settings.measure()), fresh.weights


def named(table, column):
    return dict(zip(table.names(), table.columns[column].tolist(), strict=True))


def saved(gradient, path):
    gradient.save(path)
    return path.read_bytes()


class Stops(LocalEngine):
    """An engine whose user loses patience after so many shards."""

    def __init__(self, n, error=KeyboardInterrupt):
        super().__init__()
        self._n = n
        self._error = error

    def map(self, job, items):
        for n, result in enumerate(super().map(job, items)):
            if n == self._n:
                raise self._error
            yield result


@pytest.mark.parametrize(("kind", "all_data"), [("phrase", False), ("phrase", True), ("hiero", False)])
def test_the_gradient_is_that_of_one_pool_of_all_lists(built, kind, all_data):
    settings = replace(SETTINGS, losses={name: {} for name in LOSSES}, all_data=all_data, preset=Preset.FAST)
    found = gradient_pass(built[kind], settings)
    pool, weights = lists_of(built[kind], settings)
    (shard,) = pool.shards
    values = settings.scale * weights.values
    for name, loss in settings.made_losses().items():
        value, vector, _ = loss.gradient(shard, values)
        expected = dict.fromkeys(found.table.names(), 0.0)
        expected |= dict(zip(pool.index.names(vector.ids), vector.values.tolist(), strict=True))
        assert found.sums.losses[name] == pytest.approx(value, rel=1e-12)
        assert named(found.table, name) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    counts = Counter()
    for s in range(shard.n_sentences):
        first, last = (int(shard.feature_rows[shard.sentences[place]]) for place in (s, s + 1))
        counts.update(pool.index.names(np.unique(shard.feature_ids[first:last])))
    assert named(found.table, N_LISTS) == dict(counts)
    assert (found.sums.n_lines, found.sums.n_lists) == (N_LINES, int((np.diff(shard.sentences) > 0).sum()))
    assert found.sums.n_candidates == shard.n_candidates


def test_the_gradient_is_the_slope_of_the_summed_loss(system, whole):
    pool, weights = lists_of(system, SETTINGS)
    values, h = SETTINGS.scale * weights.values, 1e-5
    some = whole.table.names()[:: len(whole.table) // 25]
    for name, loss in SETTINGS.made_losses().items():
        of_each = named(whole.table, name)
        for feature in some:
            step = np.zeros(len(values))
            step[pool.index.find(feature)] = h
            above, below = (loss.gradient(pool.shards[0], values + sign * step)[0] for sign in (1, -1))
            assert of_each[feature] == pytest.approx((above - below) / (2 * h), abs=1e-5)


def test_what_the_pass_knows_about_its_lists(system, whole):
    pool, _ = lists_of(system, SETTINGS)
    (shard,) = pool.shards
    gains = pool.metric.segment_gains(shard.stats)
    lists = [range(a, b) for a, b in zip(shard.sentences, shard.sentences[1:], strict=False) if b > a]
    assert np.array(whole.sums.best) == pytest.approx(shard.stats[[each[0] for each in lists]].sum(axis=0))
    best = [max(each, key=lambda c: gains[c]) for each in lists]
    assert np.array(whole.sums.oracle) == pytest.approx(shard.stats[best].sum(axis=0))
    assert whole.metric().score_of(np.array(whole.sums.best)) < whole.metric().score_of(np.array(whole.sums.oracle))
    seen = gradient_pass(system, replace(SETTINGS, all_data=True))
    assert seen.metric().score_of(np.array(seen.sums.best)) > whole.metric().score_of(np.array(whole.sums.best)) + 0.1


def test_several_losses_in_one_pass_are_those_of_single_passes(system, whole):
    for name, values in SETTINGS.losses.items():
        alone = gradient_pass(system, replace(SETTINGS, losses={name: values}))
        assert alone.sums.losses[name] == whole.sums.losses[name]
        assert alone.table.names() == whole.table.names()
        for column in (name, N_LISTS):
            assert alone.table.columns[column].tobytes() == whole.table.columns[column].tobytes()


def test_threads_processes_and_a_used_system_give_the_same_bits(system, whole, tmp_path):
    expected = saved(whole, tmp_path / "whole")
    used = System.load(system.folder).with_templates(("rule_id", "word_pair"))
    used.kbest(["der mann", "die frau schläft"], 5)
    with open_engine("local", n_workers=2, n_threads=1) as processes:
        for n, (of, engine) in enumerate([(system, LocalEngine(3)), (system, processes), (used, LocalEngine())]):
            assert saved(gradient_pass(of, SETTINGS, engine=engine), tmp_path / str(n)) == expected


def test_a_killed_worker_changes_nothing(system, whole, tmp_path):
    work = GradientPass.of(system, SETTINGS)
    mortal = replace(work, job=Mortal(work.job, tmp_path / "mark", work.shards[5][0]))
    tree = TreeSum(Gradient.add)
    with open_engine("local", n_workers=2, n_threads=1) as engine:
        mortal.run(engine, tree)
    assert (tmp_path / "mark").exists()
    assert saved(work.total(tree), tmp_path / "a") == saved(whole, tmp_path / "b")


def test_other_weights_are_those_of_search_and_of_the_loss(system, tmp_path):
    settings = replace(SETTINGS, limit=20)
    plain = gradient_pass(system, settings)
    other = system.weights.copy()
    names = [name for name, value in zip(plain.table.names(), plain.table.columns["softramp"], strict=True) if value]
    sparse = next(name for name in names if name.startswith("rule_id"))
    other[sparse] = -2.0
    moved = gradient_pass(system, settings, weights=other)
    assert moved.settings["weights"] != plain.settings["weights"]
    assert moved.sums.losses != plain.sums.losses
    again = gradient_pass(system, settings, weights=Weights.from_dict(dict(reversed(list(other.items())))))
    assert saved(again, tmp_path / "a") == saved(moved, tmp_path / "b")


def test_the_gradient_of_a_block_is_that_of_the_features_along_it(system, whole):
    rules = whole.table.take(np.flatnonzero([name.startswith("rule_id") for name in whole.table.names()]))
    along = rules.with_columns({"step": -rules.columns["softramp"] / rules.columns[N_LISTS]})
    other = along.weights("step")
    other.values[:] *= 0.5
    for name, value in system.weights.items():
        other[name] = value
    apart = gradient_pass(system, SETTINGS, weights=other)
    together = system.weights.copy()
    together["step"] = 0.5
    block = Block("step", along, "step")
    found = gradient_pass(system.with_blocks([block]), SETTINGS, weights=together)
    assert found.settings["blocks"].keys() == {"step"}
    for loss in SETTINGS.losses:
        gradient, steps = named(apart.table, loss), named(along, "step")
        expected = sum(gradient.get(name, 0.0) * value for name, value in steps.items())
        assert named(found.table, loss)["step"] == pytest.approx(expected, rel=1e-4)
        assert found.sums.losses[loss] == pytest.approx(apart.sums.losses[loss], rel=1e-5)
    assert not any(steps.keys() & found.table.names())


def test_a_pass_over_some_lines(system, whole, tmp_path):
    halves = [np.arange(first, N_LINES, 2) for first in (0, 1)]
    found = [gradient_pass(system, SETTINGS, lines=lines) for lines in halves]
    total = found[0].add(found[1])
    assert named(total.table, N_LISTS) == named(whole.table, N_LISTS)
    for name in SETTINGS.losses:
        assert named(total.table, name) == pytest.approx(named(whole.table, name), rel=1e-12, abs=1e-12)
    assert found[0].sums.n_lines == len(halves[0]) == found[0].settings["n_lines"]
    assert found[0].settings["lines"] != found[1].settings["lines"]
    assert "lines" not in whole.settings
    first = gradient_pass(system, replace(SETTINGS, limit=9))
    same = gradient_pass(system, SETTINGS, lines=np.arange(9), folder=tmp_path / "run")
    assert same.table.columns["softramp"].tobytes() == first.table.columns["softramp"].tobytes()
    with pytest.raises(InputError, match=r"other settings \(lines\)"):
        gradient_pass(system, SETTINGS, lines=np.arange(1, 10), folder=tmp_path / "run", resume=True)
    for lines, error, message in [
        (np.array([0, N_LINES]), InputError, "has 52 lines"),
        (np.array([-1]), InputError, "has 52 lines"),
        (np.array([], dtype=np.int64), InputError, "no line"),
        (np.array([2, 1]), ValueError, "ascend"),
    ]:
        with pytest.raises(error, match=message):
            gradient_pass(system, SETTINGS, lines=lines)
    with pytest.raises(ValueError, match="not both"):
        gradient_pass(system, replace(SETTINGS, limit=3), lines=np.arange(9))


def test_a_pass_has_the_blocks_of_the_system_and_nothing_else(system, whole):
    rules = whole.table.take(np.flatnonzero([name.startswith("rule_id") for name in whole.table.names()])[::2])
    alone = system.with_blocks([Block("half", rules, "softramp")], rest=False)
    found = gradient_pass(alone, SETTINGS, weights=system.weights)
    assert found.settings["rest"] is False
    assert {name for name in found.table.names() if ":" in name} == set()
    assert "half" in found.table.names()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 20])
def test_parts_add_up_to_the_bits_of_one_run(system, whole, n, tmp_path):
    work = GradientPass.of(system, SETTINGS)
    parts = []
    for number in range(1, n + 1):
        part, folder = Part(number, n), tmp_path / f"part-{number}"
        with work.opened(folder, part=part) as (tree, checkpoint):
            work.run(LocalEngine(), tree, part=part, checkpoint=checkpoint)
        parts.append(folder)
    assert saved(sum_parts(parts[::-1]), tmp_path / "sum") == saved(whole, tmp_path / "whole")


@pytest.mark.parametrize("stops", [[0], [4], [1, 1, 0, 5]])
@pytest.mark.parametrize("checkpoint_s", [0, 1000])
def test_a_stopped_pass_goes_on_to_the_same_bits(system, whole, stops, checkpoint_s, tmp_path):
    run = tmp_path / "run"
    for n in stops:
        with pytest.raises(KeyboardInterrupt):
            gradient_pass(system, SETTINGS, folder=run, resume=True, engine=Stops(n), checkpoint_s=checkpoint_s)
    done = []
    found = gradient_pass(system, SETTINGS, folder=tmp_path / "run", resume=True, progress=done.append)
    assert saved(found, tmp_path / "resumed") == saved(whole, tmp_path / "whole")
    assert len(done) == N_SHARDS - sum(stops)
    assert done[-1] == N_LINES
    assert len(list((tmp_path / "run" / "sums").iterdir())) == N_SHARDS.bit_count()


KILLS = """
import os, random, signal, sys, time
from pathlib import Path
from dragoman.gradients import PassSettings, checkpoint, gradient_pass
from dragoman.system import System
checkpoint._SHARE = float("inf")  # a checkpoint after every shard
settings = PassSettings(k=5, features=("rule_id",), limit=24, lines_per_shard=1)
system, base = System.load(sys.argv[1]), Path(sys.argv[2])

def start(name):
    if not (child := os.fork()):
        gradient_pass(system, settings, folder=base / name, resume=True, checkpoint_s=0).save(base / f"{name}.vector")
        os._exit(0)
    return child

began = time.monotonic()
os.waitpid(start("whole"), 0)
lasted = time.monotonic() - began
rng = random.Random(1)
n_kills = n_whole = n_resumed = 0
while n_kills < 8 or n_whole == 0:
    child = start(f"run-{n_whole}")
    if n_kills < 8:
        n_resumed += (base / f"run-{n_whole}" / "sums.json").exists()
        time.sleep(lasted * rng.uniform(0.0, 0.7))
        os.kill(child, signal.SIGKILL)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    n_kills += killed
    if not killed:
        assert (base / f"run-{n_whole}.vector").read_bytes() == (base / "whole.vector").read_bytes()
        n_whole += 1
print(n_kills, n_whole, n_resumed)
"""


def test_kills_at_random_moments(system, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(system.folder), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    n_kills, n_whole, n_resumed = map(int, done.stdout.split())
    assert n_kills == 8
    assert n_whole > 0
    assert n_resumed > 1


def test_a_finished_pass_is_only_read(system, whole, tmp_path):
    gradient_pass(system, SETTINGS, folder=tmp_path / "run")
    again = gradient_pass(system, SETTINGS, folder=tmp_path / "run", resume=True, engine=Stops(0))
    assert saved(again, tmp_path / "a") == saved(whole, tmp_path / "b")


def test_what_is_saved_can_be_read(whole, tmp_path):
    whole.save(tmp_path / "vector")
    found = Gradient.load(tmp_path / "vector")
    assert found.sums == whole.sums
    assert found.settings == whole.settings
    assert named(found.table, "softramp") == named(whole.table, "softramp")
    weights = FeatureTable.load(tmp_path / "vector").weights("xbleu")
    assert dict(weights.items()) == {k: v for k, v in named(whole.table, "xbleu").items() if v}
    replace(whole.table, about={}).save(tmp_path / "other")
    with pytest.raises(InputError, match="not the gradient of a pass"):
        Gradient.load(tmp_path / "other")


def test_other_settings_are_named(system, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run", engine=Stops(2))
    with pytest.raises(InputError, match="`resume=True`"):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run")
    for other, name in [
        ({"k": 10}, "k"),
        ({"scale": 2}, "scale"),
        ({"losses": {"softramp": {"cost_scale": 3}}}, "losses"),
        ({"features": ()}, "features"),
        ({"limit": 40}, "limit, n_lines"),
    ]:
        with pytest.raises(InputError, match=rf"other settings \(.*{name}.*\)"):
            gradient_pass(system, replace(SETTINGS, **other), folder=tmp_path / "run", resume=True)
    weights = system.weights.copy()
    weights["lm"] += 0.1
    with pytest.raises(InputError, match=r"other settings \(weights\)"):
        gradient_pass(system, SETTINGS, weights=weights, folder=tmp_path / "run", resume=True)


def test_damaged_sums_are_named(system, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run", engine=Stops(3))
    node = tmp_path / "run" / "sums" / "01-000000"
    data = bytearray(node.read_bytes())
    data[-100] ^= 1
    node.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"01-000000.*damaged"):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run", resume=True)
    node.unlink()
    with pytest.raises(InputError, match=r"01-000000.*cannot be read"):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run", resume=True)
    (tmp_path / "run" / "sums.json").write_text('{"sums": ["03-000000"]}')
    with pytest.raises(InputError, match=r"sums.json.*checksum"):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    "names",
    [None, "00-000000", [0], ["00-1"], ["00-000001"], ["00-000000"] * 2, ["01-000000", "00-000001"], ["50-000000"]],
)
def test_sums_of_other_shards_are_named(names, system, tmp_path):
    work = GradientPass.of(system, replace(SETTINGS, limit=4))
    with work.opened(tmp_path / "run") as (tree, checkpoint):
        work.run(LocalEngine(), tree, checkpoint=checkpoint)
    write_json(tmp_path / "run" / "sums.json", seal({"sums": names}))
    with (
        pytest.raises(InputError, match=r"sums.json.*damaged; remove .*run and start anew"),
        work.opened(tmp_path / "run", resume=True),
    ):
        pass
    with pytest.raises(InputError, match=r"sums.json.*damaged"):
        sum_parts([tmp_path / "run"])


@pytest.mark.parametrize("settings", [{"lines_per_shard": 0}, {"n_lines": "x"}, {"n_lines": None}])
def test_a_record_that_lacks_numbers_of_lines_is_named(settings, tmp_path):
    (tmp_path / "part").mkdir()
    record = {"command": "gradient", "part": "1/1", "n_lines": 4, "lines_per_shard": 4, **settings}
    write_json(tmp_path / "part" / "run.json", {"settings": record})
    with pytest.raises(InputError, match=r"run.json.*damaged"):
        sum_parts([tmp_path / "part"])


def test_a_full_disk_loses_nothing(system, whole, tmp_path, monkeypatch):
    save, n_written = Gradient.save, 0

    def fill(gradient, path):
        nonlocal n_written
        n_written += 1
        if n_written > 4:
            raise FailedError(f"{path}: cannot be written: No space left on device")
        save(gradient, path)

    monkeypatch.setattr("dragoman.gradients.checkpoint._SHARE", math.inf)  # a checkpoint after every shard
    monkeypatch.setattr(Gradient, "save", fill)
    with pytest.raises(FailedError, match="No space left"):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run", checkpoint_s=0)
    monkeypatch.setattr(Gradient, "save", save)
    done = []
    found = gradient_pass(system, SETTINGS, folder=tmp_path / "run", resume=True, progress=done.append)
    assert len(done) == N_SHARDS - 4
    assert saved(found, tmp_path / "resumed") == saved(whole, tmp_path / "whole")


def test_a_system_that_changes_under_the_pass_is_noticed(system, whole, tmp_path):
    shutil.copytree(system.folder, tmp_path / "system")
    copy, file = System.load(tmp_path / "system"), tmp_path / "system" / "lm.fold-1.bin"
    before, done = file.read_bytes(), []

    def change(n_lines):
        done.append(n_lines)
        if len(done) == 4:
            file.write_bytes(before[:-1] + b"!")

    with pytest.raises(InputError, match=r"lm.fold-1.bin: has other content"):
        gradient_pass(copy, SETTINGS, folder=tmp_path / "run", progress=change)
    with pytest.raises(InputError, match=r"lm.fold-1.bin"):
        gradient_pass(copy, SETTINGS, folder=tmp_path / "run", resume=True)
    file.write_bytes(before)
    found = gradient_pass(copy, SETTINGS, folder=tmp_path / "run", resume=True, progress=done.append)
    assert len(done) == N_SHARDS
    assert saved(found, tmp_path / "resumed") == saved(whole, tmp_path / "whole")


def test_parts_that_do_not_belong_together_are_named(system, tmp_path):
    def part_of(number, n, name, *, settings=SETTINGS, engine=None):
        work, part = GradientPass.of(system, settings), Part(number, n)
        with work.opened(tmp_path / name, part=part) as (tree, checkpoint):
            work.run(engine or LocalEngine(), tree, part=part, checkpoint=checkpoint)
        return tmp_path / name

    one, two = part_of(1, 3, "one"), part_of(2, 3, "two")
    other = part_of(3, 3, "other", settings=replace(SETTINGS, k=8))
    twice = part_of(1, 2, "twice")
    with pytest.raises(KeyboardInterrupt):
        part_of(3, 3, "unfinished", engine=Stops(1))
    (tmp_path / "empty").mkdir()
    for folders, message in [
        ([], "no parts"),
        ([one, two], "5 of 13 shards are in none of the parts"),
        ([one, two, other], r"other: .*not of the same pass as .*one: other k"),
        ([one, two, tmp_path / "unfinished"], r"unfinished: part 3/3 is not finished; go on with `resume=True`"),
        ([one, two, two], r"two: part 2/3 has lines that are also in .*two"),
        ([one, two, twice], r"twice: part 1/2 has lines that are also in .*one"),
        ([one, tmp_path / "empty"], r"empty: is not a part of a gradient pass"),
    ]:
        with pytest.raises(InputError, match=message):
            sum_parts(folders)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"losses": {}}, "needs a loss"),
        ({"losses": {"mert": {}}}, "there is no loss 'mert'"),
        ({"losses": {"softramp": {"step": 2}}}, "does not depend on its setting 'step'"),
        ({"scale": 0}, "scale of the weights must be positive"),
        ({"scale": float("nan")}, "scale of the weights must be positive"),
        ({"scale": 1e101}, "at most 1e\\+100"),
        ({"k": 1}, "at least 2"),
        ({"metric": "comet"}, "comet"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        PassSettings(**values)


def test_gradients_that_are_not_finite_are_refused(system):
    weights = system.weights.copy()
    weights["lm"] = 1e300
    with pytest.raises(FailedError, match="the loss softramp is not a finite number"):
        gradient_pass(system, replace(SETTINGS, scale=1e50), weights=weights)


def test_a_pass_that_fails_at_once_leaves_nothing_to_resume(system, tmp_path):
    with pytest.raises(FailedError):
        gradient_pass(system, SETTINGS, folder=tmp_path / "run", engine=Stops(0, FailedError("no")))
    assert gradient_pass(system, replace(SETTINGS, limit=8), folder=tmp_path / "run").sums.n_lines == 8


def test_a_pass_needs_a_training_text_and_weights(system, tmp_path):
    with pytest.raises(InputError, match="zero"):
        gradient_pass(system, SETTINGS, weights=Weights(system.index))
    with pytest.raises(InputError, match="domain"):
        gradient_pass(system, replace(SETTINGS, where="news"))
