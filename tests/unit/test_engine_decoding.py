"""Decoding by workers: the same translations, pools and tuned weights as in this process."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from tests.kit.small_text import write_splits

from dragoman.features import FeatureIndex
from dragoman.lm import EstimateConfig
from dragoman.system import ListsJob, System, TrainConfig, TranslationJob, kbest_by_engine, train
from dragoman.tuning import EngineDecoder, LoopSettings, TuneConfig, tune_system
from dragoman.work.engine import LocalEngine
from dragoman.work.engine.processes import ProcessEngine

FEATURES = ("extended",)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 300, 150, 0, seed=1)
    config = TrainConfig(lm=EstimateConfig(order=3))
    train(folder / "train.de", folder / "train.en", folder / "system", config=config)
    return folder


@pytest.fixture(scope="module")
def processes():
    with ProcessEngine(2) as engine:
        yield engine


def sentences(made):
    lines = (made / "dev.de").read_text(encoding="utf-8").splitlines()
    return [*lines[:70], "", "völligunbekannt", *lines[70:], "nochunbekannter völligunbekannt"]


def same_pools(one, other):
    assert one.index.lines(0, len(one.index)) == other.index.lines(0, len(other.index))
    assert [one.words.word(i) for i in range(len(one.words))] == [other.words.word(i) for i in range(len(other.words))]
    assert one.dense == other.dense
    (a,), (b,) = one.shards, other.shards
    for name in a.__slots__:
        if isinstance(x := getattr(a, name), np.ndarray):
            y = getattr(b, name)
            assert (x.dtype, x.shape) == (y.dtype, y.shape), name
            assert np.array_equal(x, y), name


def test_translations_are_the_same(made, processes):
    system = System.load(made / "system")
    lines = sentences(made)
    expected = list(system.translate(lines))
    job = TranslationJob(view=system, weights=system.weights)
    blocks = [lines[i : i + 20] for i in range(0, len(lines), 20)]
    assert [line for block in processes.map(job, blocks) for line in block] == expected


@pytest.mark.parametrize("engine", ["local", "processes"])
def test_pools_are_the_same_for_any_workers(made, processes, engine):
    engine = LocalEngine(2) if engine == "local" else processes
    lines = sentences(made)
    here, there = (System.load(made / "system").with_templates(FEATURES) for _ in range(2))
    job = ListsJob(view=there, weights=there.weights, k=10)
    same_pools(here.kbest(lines, 10), kbest_by_engine(engine, job, lines))
    weights = here.weights.copy()
    weights.values[:] += np.linspace(-0.1, 0.1, len(weights.values))
    job = ListsJob(view=there, weights=weights.on(FeatureIndex()), k=20)
    same_pools(here.kbest(lines[:90], 20, weights=weights), kbest_by_engine(engine, job, lines[:90]))


@pytest.mark.parametrize("features", [(), FEATURES])
def test_tuning_ends_at_the_same_weights(made, processes, tmp_path, features):
    config = TuneConfig(k=20, loop=LoopSettings(max_rounds=3), features=features)
    files = made / "system", made / "dev.de", [made / "dev.en"]
    here = tune_system(*files, tmp_path / "here", optimiser="pro", config=config)
    there = tune_system(
        *files, tmp_path / "there", optimiser="pro", config=config, decoder_factory=partial(EngineDecoder, processes)
    )
    assert list(there.weights.items()) == list(here.weights.items())
    rounds = [system.manifest.about["tuning"]["rounds"] for system in (here, there)]
    for one, other in zip(*rounds, strict=True):
        assert {k: v for k, v in one.items() if k in ("score", "n_new", "n_features", "change")} == {
            k: v for k, v in other.items() if k in ("score", "n_new", "n_features", "change")
        }
