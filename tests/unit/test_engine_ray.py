"""Ray: the same results as on this machine, on a cluster of three nodes, one of which is killed."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from tests.kit.engine_jobs import Deadly, Failing, Hanging, Square, Vectors
from tests.kit.small_text import write_splits

from dragoman.errors import FailedError, InputError
from dragoman.gradients import Gradient, GradientPass, PassSettings
from dragoman.lm import EstimateConfig
from dragoman.optim import make_optimiser
from dragoman.sources.lists import ListsSettings, make_lists
from dragoman.system import SystemSettings, TrainConfig, TranslationJob, save_tuned, train
from dragoman.tuning import EngineDecoder, Keep, LearnFrom, LoopSettings, Phase, SystemDecoder, TuneConfig, tune_system
from dragoman.work.engine import LocalEngine, TreeSum, open_engine
from dragoman.work.engine.folders import references
from dragoman.work.engine.patience import Patience
from dragoman.work.engine.processes import ProcessEngine
from dragoman.work.engine.ray_engine import RayEngine

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("n_workers", [1, 3])
def test_what_an_actor_hangs_at_is_done_again_by_another(cluster, tmp_path, n_workers):
    """One alone gets a spare actor; the cluster has no free core for it where all have one."""
    said = []
    patience = Patience(times=3, least_s=1)
    with RayEngine(n_workers, 0, cluster.address, patience=patience, warn=said.append) as engine:
        assert list(engine.map(Hanging(tmp_path, at=5), range(20))) == [10 * n for n in range(20)]
    (hung,) = (mark.name for mark in tmp_path.iterdir())
    late = f"the worker on host {socket.gethostname()} (process {hung}) has been at item 5 for"
    assert any(late in one for one in said)  # others may be late as well on a busy machine
    deadline = time.monotonic() + 20
    while Path(f"/proc/{hung}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{hung}").exists()


LOSING = """
import sys, time
from pathlib import Path
from dragoman.work.engine import open_engine
from tests.kit.engine_jobs import Deadly
with open_engine("ray", address=sys.argv[1]) as engine:
    print(list(engine.map(Deadly(Path(sys.argv[2]), at=1, times=1), range(3))))
    time.sleep(2)  # Ray's own messages come from a thread
"""


def test_messages_of_ray_stay_out_of_the_output(cluster, tmp_path):
    command = [sys.executable, "-c", LOSING, cluster.address, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert (ended.stdout, ended.stderr) == ("[0, 10, 20]\n", "")


@pytest.fixture(scope="module")
def ray(cluster):
    with open_engine("ray", address=cluster.address) as engine:
        yield engine
    assert not any(copy.exists() for copy in COPIES)


COPIES: list[Path] = []
"""Folders of systems that were sent, which go with the engine."""


def test_results_are_those_of_this_machine(ray):
    assert ray.n_workers == 3
    found = list(ray.map(Square(0.02), range(25)))
    assert [square for square, _, _ in found] == [n * n for n in range(25)]
    assert os.getpid() not in {pid for _, pid, _ in found}
    local = list(LocalEngine().map(Vectors(1000), range(6)))
    assert [one.tobytes() for one in ray.map(Vectors(1000), range(6))] == [one.tobytes() for one in local]
    with pytest.raises(InputError, match="is wrong") as caught:
        list(ray.map(Failing("input"), range(9)))
    assert (caught.value.path, caught.value.line) == ("dev.de", 7)


def test_lost_actors_are_replaced(ray, tmp_path):
    assert list(ray.map(Deadly(tmp_path, at=4, times=2), range(9))) == [10 * n for n in range(9)]
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(FailedError, match="3 workers were lost"):
        list(ray.map(Deadly(tmp_path, at=4, times=99), range(9)))


def test_a_killed_node_changes_nothing(ray, cluster):
    results = ray.map(Square(0.2), range(40))
    first = [next(results) for _ in range(3)]
    killer = threading.Thread(target=cluster.kill_node)
    killer.start()
    found = [square for square, _, _ in [*first, *results]]
    killer.join()
    cluster.mend()
    assert found == [n * n for n in range(40)]


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """A system with folds."""
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 60, 70, 1, seed=6)
    config = TrainConfig(settings=SystemSettings(n_folds=2), lm=EstimateConfig(order=2))
    return train(folder / "train.de", folder / "train.en", folder / "system", config=config)


def test_lists_are_those_of_this_machine(ray, cluster, system, tmp_path):
    """Twice: with all nodes, and with one that is killed while they are made."""
    settings = ListsSettings(k=20, features=("rule_id",), lines_per_shard=2)
    killer = threading.Thread(target=cluster.kill_node)
    files = {}
    for name, engine in [("local", LocalEngine(2)), ("ray", ray), ("killed", ray)]:
        begin = killer.start if name == "killed" else lambda: None
        made = make_lists(
            system,
            tmp_path / name,
            settings,
            engine=engine,
            progress=lambda n_lines, begin=begin: begin() if n_lines == 6 else None,
        )
        files[name] = {path.name: path.read_bytes() for path in made.base.iterdir() if path.name != "lock"}
    killer.join()
    cluster.mend()
    assert files["ray"] == files["local"]
    assert files["killed"] == files["local"]


def test_gradient_passes_are_those_of_this_machine(ray, cluster, system, tmp_path):
    """Twice: with all nodes, and with one that is killed during the pass."""
    work = GradientPass.of(system, PassSettings(k=20, features=("rule_id",), lines_per_shard=2))
    killer = threading.Thread(target=cluster.kill_node)
    files = {}
    for name, engine in [("local", LocalEngine(2)), ("ray", ray), ("killed", ray)]:
        tree = TreeSum(Gradient.add)
        begin = killer.start if name == "killed" else lambda: None
        work.run(engine, tree, progress=lambda n_lines, begin=begin: begin() if n_lines == 6 else None)
        work.total(tree).save(tmp_path / name)
        files[name] = (tmp_path / name).read_bytes()
    killer.join()
    cluster.mend()
    assert files["ray"] == files["local"]
    assert files["killed"] == files["local"]


def test_tuning_is_that_of_this_machine(ray, system, tmp_path):
    config = TuneConfig(k=10, loop=LoopSettings(max_rounds=2), features=("extended",))
    tuned = {}
    with ProcessEngine(2) as processes:
        for name, engine in [("local", LocalEngine()), ("processes", processes), ("ray", ray)]:
            tuned[name] = tune_system(
                system,
                system.folder.parent / "dev.de",
                [system.folder.parent / "dev.en"],
                tmp_path / name,
                optimiser="pro",
                config=config,
                decoder_factory=SystemDecoder if name == "local" else partial(EngineDecoder, engine),
            )
    for name in ("processes", "ray"):
        assert list(tuned[name].weights.items()) == list(tuned["local"].weights.items())


@pytest.mark.parametrize("learn_from", [LearnFrom.DEVELOPMENT, LearnFrom.TRAINING])
def test_learning_online_is_that_of_this_machine(ray, system, tmp_path, learn_from):
    """An actor is killed in the second pass."""
    loop = LoopSettings(max_rounds=2, keep=Keep.LAST)
    config = TuneConfig(k=10, loop=loop, features=("extended",), learn_from=learn_from)
    method = make_optimiser("online-rm", {"measure": "live" if learn_from is LearnFrom.DEVELOPMENT else "decode"})
    files = system, system.folder.parent / "dev.de", [system.folder.parent / "dev.en"]

    def kill(number, step):
        if (number, step) == (2, Phase.LEARN):
            ray.ray.kill(next(iter(ray._workers))._actor)

    tune_system(*files, tmp_path / "local", optimiser=method, config=config, n_threads=2)
    tune_system(*files, tmp_path / "ray", optimiser=method, config=config, engine=ray, on_step=kill)
    assert (tmp_path / "ray" / "weights.tsv").read_bytes() == (tmp_path / "local" / "weights.tsv").read_bytes()


def test_a_system_that_a_host_lacks_is_sent_to_it(ray, system, tmp_path):
    lines = (system.folder.parent / "dev.de").read_text(encoding="utf-8").splitlines()
    tuned = save_tuned(system, tmp_path / "tuned", system.weights)
    expected = list(tuned.translate(lines))
    with references() as found:
        job = TranslationJob(view=pickle.loads(pickle.dumps(tuned)), weights=tuned.weights)
    ray.folder_data(found[0])
    (tmp_path / "tuned").rename(tmp_path / "hidden")
    translated = ray.map(job, [lines[i : i + 10] for i in range(0, len(lines), 10)])
    assert [line for block in translated for line in block] == expected
    COPIES.extend(Path(tempfile.gettempdir()).glob(f"dragoman-{os.getuid()}-*"))
    assert COPIES


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:1", ":6379", "host:x"])
def test_wrong_addresses_are_refused_at_once(address):
    began = time.monotonic()
    with pytest.raises(InputError, match="HOST:PORT|nothing answers"):
        open_engine("ray", address=address)
    assert time.monotonic() - began < 10


def test_one_process_has_one_cluster(ray, cluster):
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(InputError, match="already"):
        open_engine("ray", address=f"127.0.0.1:{other.getsockname()[1]}")
    with open_engine("ray", address=cluster.address) as engine:
        assert engine.n_workers == 3
    assert [square for square, _, _ in ray.map(Square(), [4])] == [16]


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"install dragoman\[ray\]"):
        open_engine("ray")
