"""Sparse weights learned from lists of the training text: steps on disk, stops, threads, and what is learned from."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.small_systems import make_systems

from dragoman.candidates import rerank
from dragoman.cost import StageCost
from dragoman.errors import InputError
from dragoman.features import Weights, read_weights
from dragoman.optim import Mert, Mira, Pro, SoftRamp, Xbleu
from dragoman.run import RunFolder
from dragoman.sources.lists import ListsFolder, StoredLists
from dragoman.system import System
from dragoman.tuning import (
    Keep,
    LastSearch,
    LearnFrom,
    LoopSettings,
    PhiBlocks,
    PhiSettings,
    Theta,
    TuneConfig,
    tune_system,
)
from dragoman.tuning.line_search import SearchResult
from dragoman.tuning.step_log import StepLog
from dragoman.work.engine import LocalEngine, open_engine
from dragoman.work.store import Made

SEARCH = Mert(n_starts=2, n_directions=1)
CONFIG = TuneConfig(
    k=20,
    loop=LoopSettings(max_rounds=1),
    features=("reorder_local(top=20)", "rule_id"),
    learn_from=LearnFrom.LISTS,
    limit=100,
    phi=PhiSettings(search=SEARCH),
)
METHOD = SoftRamp(max_epochs=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("made"), n_folds=4)


def tune(made, out, method=METHOD, *, config=CONFIG, kind="phrase", **more):
    dev = made / "dev.de", [made / "dev.en"]
    return tune_system(made / kind, *dev, out, optimiser=method, config=config, **more)


def with_phi(**settings):
    return replace(CONFIG, phi=replace(CONFIG.phi, **settings))


def kept(config):
    """What is learned stays, whatever the ten sentences of the development set say."""
    return replace(config, loop=replace(config.loop, keep=Keep.LAST))


LAST = with_phi(last=LastSearch.DEV, blocks=PhiBlocks.ORIENTATION)


def result_of(out):
    return json.loads((out / "tune/result.json").read_text(encoding="utf-8"))


def weights_file(out):
    (path,) = out.glob("weights.*")
    return path.read_bytes()


def step(out, kind):
    (found,) = (out / "tune/steps").glob(f"{kind}-*")
    return found


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "t"
    tune(made, out, config=LAST)
    return out


def test_steps_are_those_of_the_single_commands(made, whole):
    """Theta by its search, lists by theta, and the method on them, each done by hand."""
    theta = read_weights(step(whole, "theta") / "weights.tsv")
    dev = made / "dev.de", [made / "dev.en"]
    config = TuneConfig(k=20, distinct=True, loop=LoopSettings(max_rounds=1), features=())
    alone = tune_system(made / "phrase", *dev, whole.parent / "mert", optimiser=SEARCH, config=config)
    assert dict(theta.items()) == dict(alone.weights.items())
    lists = ListsFolder.load(step(whole, "lists") / "lists")
    assert dict(lists.weights().items()) == dict(theta.items())
    assert lists.settings.distinct
    system = lists.open_system(made / "phrase", features=CONFIG.features)
    pool = StoredLists(system, lists.paths()).pool(lists.settings.measure())
    learned = METHOD.optimise(pool, theta, seed=1)
    model = read_weights(step(whole, "model") / "weights.tsv")
    assert dict(model.items()) == dict(learned.weights.items())
    result = result_of(whole)
    told = {entry["name"]: entry for entry in result["steps"]}
    assert told["lists"]["score_after"] == told["model"]["score_before"] == rerank(pool, theta).score()
    assert told["model"]["score_after"] == rerank(pool, learned.weights).score()
    tuned = System.load(whole).weights
    before, after = (sum(abs(w[name]) for name in system.translator.dense()) for w in (model, tuned))
    for name, value in model.items():
        if ":" in name:
            template, first = name.split(":")[0], name.split(":")[1][0]
            block = result["blocks"]["phi_rule_id" if template == "rule_id" else f"phi_{first}"]
            assert tuned[name] == pytest.approx(after / before * block * value, rel=1e-9)


def test_lists_are_evenly_over_folds(made, whole):
    lists = ListsFolder.load(step(whole, "lists") / "lists")
    training = System.load(made / "phrase").training
    lines = np.concatenate([shard.sentence_ids for shard in stored(made, lists).shards])
    assert lines.tolist() == training.evenly(100).tolist()
    assert np.bincount(training.folds[lines]).tolist() == [25] * 4


def stored(made, lists):
    return StoredLists(lists.open_system(made / "phrase"), lists.paths()).pool()


class StoppedError(Exception):
    pass


class Stops(LocalEngine):
    """Loses its worker after so many items."""

    def __init__(self, n):
        super().__init__()
        self._n = n

    def map(self, job, items):
        for result in super().map(job, items):
            if self._n == 0:
                raise StoppedError
            self._n -= 1
            yield result


@pytest.mark.parametrize(
    "stops",
    [
        [("theta", True), ("theta", False), ("lists", True)],
        [0, ("lists", False), ("model", True)],
        [("model", False), ("last", True), "round"],
    ],
)
def test_a_stopped_tuning_goes_on_to_the_same_weights(made, whole, tmp_path, stops):
    for stop in stops:

        def on_stage(name, n_lines, record, stop=stop):
            if (name, record is None) == stop:
                raise StoppedError

        def on_round(record):
            raise StoppedError

        more = {"on_round": on_round} if stop == "round" else {"on_stage": on_stage}
        if isinstance(stop, int):
            more = {"engine": Stops(stop)}
        with pytest.raises(StoppedError):
            tune(made, tmp_path / "t", config=LAST, resume=True, **more)
    tune(made, tmp_path / "t", config=LAST, resume=True)
    assert weights_file(tmp_path / "t") == weights_file(whole)
    ours, theirs = result_of(tmp_path / "t"), result_of(whole)
    assert ours["blocks"] == theirs["blocks"]
    scores = [[(s["name"], s["score_before"], s["score_after"]) for s in one["steps"]] for one in (ours, theirs)]
    assert scores[0] == scores[1]
    assert not any(s["found"] for s in ours["steps"])


@pytest.mark.parametrize("how", ["threads", "workers"])
def test_threads_and_workers_give_the_same_bits(made, whole, tmp_path, how):
    if how == "threads":
        tune(made, tmp_path / "t", config=LAST, n_threads=2)
    else:
        with open_engine("local", n_workers=2, n_threads=1) as engine:
            tune(made, tmp_path / "t", config=LAST, engine=engine)
    assert weights_file(tmp_path / "t") == weights_file(whole)


def test_tunings_share_steps(made, whole, tmp_path):
    found = {}
    tunings = {
        "first": LAST,
        "seed": LAST,
        "none": CONFIG,
        "size": with_phi(size=80, last=LastSearch.DEV),
        "held-out": with_phi(last=LastSearch.HELD_OUT, line_search=20),
        "features": replace(LAST, features=("rule_id",)),
    }
    for name, config in tunings.items():
        seed = 2 if name in ("seed", "none") else 1
        tune(made, tmp_path / name, config=config, shared=tmp_path / "shared", seed=seed)
        found[name] = {s["name"]: s["found"] for s in result_of(tmp_path / name)["steps"]}
    assert weights_file(tmp_path / "first") == weights_file(whole)
    made_before = {"theta": True, "lists": True}
    assert found == {
        "first": {"theta": False, "lists": False, "model": False},
        "seed": made_before | {"model": True},
        "none": made_before | {"model": False},  # the last step is the seed's own
        "size": made_before | {"model": False},
        "held-out": made_before | {"model": False, "search": False},
        "features": made_before | {"model": False},
    }
    n_lists = {name: result_of(tmp_path / name)["steps"][2]["n_lines"] for name in tunings}
    assert n_lists == {"first": 100, "seed": 100, "none": 100, "size": 80, "held-out": 75, "features": 100}


def test_a_seed_of_zero_makes_all_steps_the_tunings_own(made, tmp_path):
    for seed in (1, 2):
        config = with_phi(training_seed=0, last=LastSearch.DEV)
        tune(made, tmp_path / f"t{seed}", config=config, shared=tmp_path / "shared", seed=seed)
    assert not any(s["found"] for s in result_of(tmp_path / "t2")["steps"] if s["name"] == "theta")


@pytest.mark.parametrize(
    "method", [Xbleu(gamma=30.0, step=0.001, max_epochs=2), Pro(), Mira(), Mert(n_starts=1)], ids=lambda m: m.name
)
def test_any_method_for_lists_can_learn(made, tmp_path, method):
    tuned = tune(made, tmp_path / "t", method, config=kept(with_phi(theta=Theta.SYSTEM)))
    assert [s["name"] for s in result_of(tmp_path / "t")["steps"]] == ["lists", "model"]
    start = System.load(made / "phrase").weights
    dense_kept = all(tuned.weights[name] == start[name] for name in tuned.translator.dense())
    assert dense_kept == (method.name == "xbleu")  # which freezes theta


def test_hierarchical_systems_learn_too(made, tmp_path):
    config = replace(CONFIG, features=("rule_id",))
    tuned = tune(made, tmp_path / "t", kind="hiero", config=config)
    assert any(name.startswith("rule_id:") for name, _ in tuned.weights.items())


def test_weights_of_a_first_model_take_part_in_the_second_decoding(made, tmp_path):
    first = tune(made, tmp_path / "first", config=kept(CONFIG))
    assert first.settings.features == CONFIG.features
    second = tune_system(
        tmp_path / "first",
        made / "dev.de",
        [made / "dev.en"],
        tmp_path / "second",
        optimiser=METHOD,
        config=kept(CONFIG),
    )
    lists = [ListsFolder.load(step(tmp_path / name, "lists") / "lists") for name in ("first", "second")]
    assert [bool(one.settings.features) for one in lists] == [False, True]
    assert dict(lists[1].weights().items()) == dict(first.weights.items())
    assert dict(second.weights.items()) != dict(first.weights.items())


def test_a_start_with_other_templates_is_refused_before_anything_is_made(made, tmp_path):
    tune(made, tmp_path / "first", config=kept(replace(CONFIG, features=("rule_id",))))
    dev = made / "dev.de", [made / "dev.en"]
    config = replace(CONFIG, features=("reorder_local(top=20)",))
    with pytest.raises(InputError, match="weights of features of rule_id, which `features` leaves out"):
        tune_system(tmp_path / "first", *dev, tmp_path / "t", optimiser=METHOD, config=config)
    assert not (tmp_path / "t").exists()


def test_a_start_with_classes_that_no_template_looks_at_is_refused(made, tmp_path):
    weights = Weights.from_dict({"lm": 0.5, "reorder_local:m,f_first,c9,2": 0.5})
    with pytest.raises(InputError, match=r"the start has weights of word classes of reorder_local \(c9\)"):
        tune(made, tmp_path / "t", weights=weights)
    weights = Weights.from_dict({"lm": 0.5, "reorder_local:m,f_first,c8,2": 0.5})
    with pytest.raises(InputError, match="the system has classes of 4, 9"):
        tune(made, tmp_path / "t", weights=weights, config=replace(CONFIG, features=("reorder_local(classes=1)",)))
    assert not (tmp_path / "t").exists()


def test_damaged_lists_are_told_about_and_made_again(made, whole, tmp_path):
    def stop(name, n_lines, record):
        if name == "lists" and record is not None:
            raise StoppedError

    with pytest.raises(StoppedError):
        tune(made, tmp_path / "t", config=LAST, on_stage=stop)
    shard = step(tmp_path / "t", "lists") / "lists/shard-000000"
    shard.write_bytes(shard.read_bytes()[:-1])
    said: list[str] = []
    tune(made, tmp_path / "t", config=LAST, resume=True, say=said.append)
    (told,) = said
    assert told.startswith("lists: the result in")
    assert "shard-000000" in told
    assert weights_file(tmp_path / "t") == weights_file(whole)


def test_methods_that_find_nothing_are_told_about(made, tmp_path):
    config = replace(CONFIG, features=())
    tuned = tune(made, tmp_path / "t", Mert(n_starts=2), config=config)
    assert not any(":" in name for name, _ in tuned.weights.items())
    tune(made, tmp_path / "v", Mert(n_starts=2), config=LAST)  # which tunes dense features
    assert (
        "mert learned no weight of a sparse feature, so there is no last search" in result_of(tmp_path / "v")["notes"]
    )
    with pytest.raises(InputError, match="last = dev is for weights of sparse features; name some"):
        tune(made, tmp_path / "u", Mert(n_starts=2), config=replace(LAST, features=()))


def test_a_start_that_is_given_is_theta(made, tmp_path):
    weights = Weights.from_dict({"lm": 0.5, "words": -0.25, "p_e_f": 0.125})
    tune(made, tmp_path / "t", weights=weights)
    assert [s["name"] for s in result_of(tmp_path / "t")["steps"]] == ["lists", "model"]
    lists = ListsFolder.load(step(tmp_path / "t", "lists") / "lists")
    assert dict(lists.weights().items()) == dict(weights.items())


def test_notes_of_a_search_say_their_rounds(tmp_path):
    notes = ["round 1: few", "all", "round 2: no better weights", "round 4: no better weights"]
    content = {"score_before": 0.1, "score_after": 0.2, "rounds": [], "notes": notes}
    cost = StageCost(name="theta", wall_s=0.0, cpu_s=0.0, peak_bytes=0)
    made = Made(folder=tmp_path, content=content, cost=cost)
    with RunFolder.open(tmp_path / "run", {}) as run:
        log = StepLog(run, ["lm"], None)
        log.search("theta", 5, SearchResult(made=made), ())
    assert log.notes == ["theta: round 1: few", "theta: all", "theta: rounds 2, 4: no better weights"]


def test_few_lines_leave_the_judgement_to_the_last_search(whole):
    result = result_of(whole)
    assert result["held_out_lines"] is None
    assert any("the development set judges what was learned: the last fold has too few" in n for n in result["notes"])
    assert not [text for text in result["warnings"] if "what was learned decodes" in text]
    assert result["score_after"] == max(entry["score"] for entry in result["rounds"])
