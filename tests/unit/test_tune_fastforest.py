"""FastForest on a small system: what is learned, stops, threads, engines, and what is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.small_systems import make_systems

from dragoman.errors import InputError
from dragoman.features import Weights, feature_arguments, read_weights
from dragoman.optim import Contest, DenseWeights, FastForest, Form, Mert, NeighbourLoss, make_optimiser
from dragoman.system import System
from dragoman.tuning import (
    LastSearch,
    LearnFrom,
    LoopSettings,
    PhiSettings,
    Theta,
    TuneConfig,
    forest_steps,
    tune_system,
)
from dragoman.work.engine import open_engine

CONFIG = TuneConfig(
    k=20,
    loop=LoopSettings(max_rounds=1),
    features=("word_context(top=0)",),
    limit=120,
    phi=PhiSettings(search=Mert(n_starts=2, n_directions=1), theta=Theta.SYSTEM, last=LastSearch.NONE),
)
METHOD = FastForest(max_epochs=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("made"), n_folds=4)


def tune(made, out, method=METHOD, *, config=CONFIG, kind="hiero", **more):
    return tune_system(made / kind, made / "dev.de", [made / "dev.en"], out, optimiser=method, config=config, **more)


def result_of(out):
    return json.loads((out / "tune/result.json").read_text(encoding="utf-8"))


def notes_of(out):
    return result_of(out)["notes"]


def weights_file(out):
    (path,) = out.glob("weights.*")
    return path.read_bytes()


def unfinished(out, kind):
    """A step as a kill leaves it, and where it will be."""
    (goal,) = (out / "tune/steps").glob(f"{kind}-*")
    part = goal.rename(goal.with_name(f"{goal.name}.part"))
    (part / "step.json").unlink()
    return part, goal


def model_of(out):
    (found,) = (out / "tune/steps").glob("model-*")
    return json.loads((found / "step.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "t"
    tune(made, out)
    return out


def test_the_reference_becomes_more_probable_and_dense_weights_stay(made, whole):
    steps = {step["name"]: step for step in result_of(whole)["steps"]}
    assert [*steps] == ["forests", "model"]
    assert steps["model"]["score_after"] > steps["model"]["score_before"]
    system, tuned = System.load(made / "hiero"), System.load(whole)
    for name in system.translator.dense():
        assert tuned.weights[name] == pytest.approx(system.weights[name], rel=1e-12)
    sparse = [name for name, _ in tuned.weights.items() if name.startswith("word_context:")]
    assert len(sparse) > 100
    notes = " ".join(result_of(whole)["notes"])
    assert "of 120 references can be derived" in notes
    assert "initial rate" in notes
    assert "calibrated" in notes


def test_threads_workers_and_a_stop_in_the_middle_change_nothing(made, whole, tmp_path):
    batch = replace(METHOD, batch=4)
    tune(made, tmp_path / "one", batch)
    tune(made, tmp_path / "three", batch, n_threads=3)
    assert weights_file(tmp_path / "one") == weights_file(tmp_path / "three")
    with open_engine(n_workers=2, n_threads=2) as engine:
        tune(made, tmp_path / "workers", engine=engine)
    assert weights_file(tmp_path / "workers") == weights_file(whole)
    # As if killed: the forests are there, of the first shard not even that, and the model is not.
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    shutil.copytree(whole / "tune", stopped / "tune")
    for name in ("result.json", "rounds"):
        path = stopped / "tune" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (model,) = (stopped / "tune/steps").glob("model-*")
    shutil.rmtree(model)
    forests, _ = unfinished(stopped, "forests")
    (forests / "forests-00000").unlink()
    tune(made, stopped, resume=True)
    assert weights_file(stopped) == weights_file(whole)


def test_a_stop_between_shards_changes_nothing(made, tmp_path, monkeypatch):
    monkeypatch.setattr(forest_steps, "_SHARD_LINES", 40)
    tune(made, tmp_path / "t")
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    shutil.copytree(tmp_path / "t/tune/steps", stopped / "tune/steps")
    for name in ("run.json", "task.json"):
        if (tmp_path / "t/tune" / name).exists():
            shutil.copy(tmp_path / "t/tune" / name, stopped / "tune" / name)
    (model,) = (stopped / "tune/steps").glob("model-*")
    shutil.rmtree(model)
    forests, goal = unfinished(stopped, "forests")
    # Of three shards the first is whole, one lacks its features, one is not there.
    assert sorted(path.name for path in forests.glob("forests-*")) == [f"forests-{i:05}" for i in range(3)]
    (forests / "features-00001").unlink()
    (forests / "forests-00002").unlink()
    kept = (forests / "forests-00000").stat().st_mtime_ns
    tune(made, stopped, resume=True)
    assert weights_file(stopped) == weights_file(tmp_path / "t")
    assert (goal / "forests-00000").stat().st_mtime_ns == kept


def test_results_do_not_depend_on_the_scale_of_the_start(made, whole, tmp_path):
    start = System.load(made / "hiero").weights
    tune(made, tmp_path / "t", weights=Weights(start.index, 4 * start.values))
    one, four = System.load(whole).weights, System.load(tmp_path / "t").weights
    names = [name for name, _ in one.items()]
    assert [four[name] for name in names] == pytest.approx([4 * one[name] for name in names], rel=1e-3, abs=1e-6)


def test_centred_weights_say_the_same_of_rules_with_one_source_side(made, tmp_path):
    config = replace(CONFIG, features=("rule_id",))
    method = replace(METHOD, contest=Contest.RULES, dense=DenseWeights.FIXED)
    tune(made, tmp_path / "centred", method, config=config)
    tune(made, tmp_path / "as-learned", replace(method, centred=False), config=config)
    assert notes_of(tmp_path / "centred") == notes_of(tmp_path / "as-learned")  # losses and probabilities among them
    one, other = System.load(tmp_path / "centred").weights, System.load(tmp_path / "as-learned").weights
    names = [name for name, _ in other.items() if name.startswith("rule_id:")]
    by_source = {}
    for name in names:
        by_source.setdefault(feature_arguments(name)[1], []).append(one[name] - other[name])
    assert sum(len(shifts) > 1 for shifts in by_source.values()) > 20
    assert all(np.ptp(shifts) < 1e-12 for shifts in by_source.values())
    assert max(abs(shifts[0]) for shifts in by_source.values()) > 1e-3


LOSSES = [(loss, contest) for loss in NeighbourLoss for contest in Contest]
LOSSES.remove((NeighbourLoss.RELATIVE_MARGIN, Contest.DERIVATIONS))  # relative margins are those of rules


@pytest.mark.parametrize(("loss", "contest"), LOSSES)
def test_every_loss_falls_on_the_sentences_held_out(made, tmp_path, loss, contest):
    # A whole fold of all 200 lines; with dense weights that are set aside the loss that is told may rise.
    method = replace(METHOD, objective=loss, contest=contest, held_out=0.25, dense=DenseWeights.FREE, centred=False)
    tune(made, tmp_path / "t", method, config=replace(CONFIG, limit=200))
    trace = model_of(tmp_path / "t")["content"]["trace"]
    assert len(trace) == 2
    assert np.isfinite([entry["watched_loss"] for entry in trace]).all()
    notes = " ".join(result_of(tmp_path / "t")["notes"])
    before, after = (float(part) for part in notes.split("mean loss ")[1].split(";")[0].split(" ")[0:3:2])
    assert after < before


def test_settings_that_change_what_is_learned_from(made, tmp_path):
    def notes(**settings):
        name = "-".join(settings) or "plain"
        phi = replace(CONFIG.phi, all_data=settings.pop("all_data", False))
        tune(made, tmp_path / name, replace(METHOD, **settings), config=replace(CONFIG, phi=phi))
        found = " ".join(result_of(tmp_path / name)["notes"])
        teach = int(found.split(" of them teach")[0].split(" ")[-1].replace(",", ""))
        return teach, float(found.split("mean probability of the reference ")[1].split(" ")[0])

    (_, share), (n_all, _) = notes(), notes(all_data=True)
    assert 0 < notes(all_data=True, holes=False)[0] < n_all
    assert notes(wide=True)[1] < share
    assert notes(dense=DenseWeights.FIXED)[1] == share
    tune(made, tmp_path / "free", replace(METHOD, dense=DenseWeights.FREE))
    assert System.load(tmp_path / "free").weights["lm"] != System.load(made / "hiero").weights["lm"]
    tune(made, tmp_path / "kept", replace(METHOD, dense=DenseWeights.FREE), config=replace(CONFIG, frozen=("lm",)))
    assert System.load(tmp_path / "kept").weights["lm"] == pytest.approx(System.load(made / "hiero").weights["lm"])


def test_the_list_of_algorithm_1_teaches_too_and_keeps_its_derivations(made, tmp_path):
    tune(made, tmp_path / "t", replace(METHOD, form=Form.LIST, batch=4))
    trace = model_of(tmp_path / "t")["content"]["trace"]
    assert trace[0]["listed"] > trace[0]["references"] > 1
    assert trace[0]["lexicalised"] + trace[0]["generalised"] > 0
    tune(made, tmp_path / "three", replace(METHOD, form=Form.LIST, batch=4), n_threads=3)
    assert weights_file(tmp_path / "t") == weights_file(tmp_path / "three")
    with pytest.raises(InputError, match="same source side"):
        FastForest(form=Form.LIST, wide=True)
    with pytest.raises(InputError, match="relative margins are those of rules"):
        FastForest(objective=NeighbourLoss.RELATIVE_MARGIN, contest=Contest.DERIVATIONS)
    with pytest.raises(InputError, match="leave out contest or form"):
        FastForest(form=Form.LIST, contest=Contest.RULES)


def test_contests_of_rules_do_not_depend_on_threads(made, tmp_path):
    for name, n_threads in (("one", 1), ("three", 3)):
        tune(made, tmp_path / name, replace(METHOD, contest=Contest.RULES, batch=4), n_threads=n_threads)
    assert weights_file(tmp_path / "one") == weights_file(tmp_path / "three")
    assert weights_file(tmp_path / "one") != weights_file(made / "hiero")


def test_unless_told_otherwise_a_last_search_weighs_the_block(made, tmp_path):
    tune(made, tmp_path / "t", config=replace(CONFIG, phi=replace(CONFIG.phi, last=None)))
    told = result_of(tmp_path / "t")
    assert [*told["blocks"]] == ["phi"]
    assert told["score_after"] >= told["score_before"]
    system, tuned = System.load(made / "hiero"), System.load(tmp_path / "t")
    for name in system.translator.dense():
        assert tuned.weights[name] == pytest.approx(system.weights[name])


def test_what_cannot_be_learned_from_is_refused(made, tmp_path):
    with pytest.raises(InputError, match="reorder_stack"):
        tune(made, tmp_path / "a", kind="phrase", config=replace(CONFIG, features=("reorder_stack(top=20)",)))
    with pytest.raises(InputError, match="phrase pairs"):
        tune(made, tmp_path / "b", replace(METHOD, wide=True), kind="phrase")
    with pytest.raises(InputError, match="`n_folds`"):
        (tmp_path / "single").mkdir()
        tune(make_systems(tmp_path / "single"), tmp_path / "d")
    with pytest.raises(InputError, match="variance must be positive"):
        make_optimiser("fastforest", {"variance": 0.0})
    with pytest.raises(InputError, match="max_epochs must be at least 1"):
        make_optimiser("fastforest", {"max_epochs": 0})
    with pytest.raises(InputError, match="cannot learn from the training text as it decodes"):
        tune(made, tmp_path / "c", config=replace(CONFIG, learn_from=LearnFrom.TRAINING))


def test_phrases_teach_too(made, tmp_path):
    tune(made, tmp_path / "t", kind="phrase")
    steps = {step["name"]: step for step in result_of(tmp_path / "t")["steps"]}
    assert steps["model"]["score_after"] > steps["model"]["score_before"]
    tuned = System.load(tmp_path / "t")
    assert sum(name.startswith("word_context:") for name, _ in tuned.weights.items()) > 100
    for name in System.load(made / "phrase").translator.dense():
        assert tuned.weights[name] == pytest.approx(System.load(made / "phrase").weights[name], rel=1e-12)


def test_a_damaged_shard_is_told_about_and_made_again(made, whole, tmp_path):
    out = tmp_path / "t"
    shutil.copytree(whole, out)
    (forests,) = (out / "tune/steps").glob("forests-*")
    path = forests / "forests-00000"
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)
    for path in (*out.glob("*.*"), out / "tune/result.json"):
        path.unlink()
    (model,) = (out / "tune/steps").glob("model-*")
    shutil.rmtree(model)
    said: list[str] = []
    tune(made, out, resume=True, say=said.append)
    (told,) = said
    assert "forests-00000" in told
    assert weights_file(out) == weights_file(whole)


def test_weights_are_stored_as_any_others(whole):
    (path,) = whole.glob("weights.*")
    assert len(read_weights(path).ids()) > 100


def test_groups_are_frozen_misspelt_names_refused_and_other_weights_kept(made, tmp_path):
    start = System.load(made / "hiero").weights.copy()
    start = Weights.from_dict({**dict(start.items()), "word_context:kirche,church,-1,tasse": 0.7})
    tune(made, tmp_path / "a", weights=start, config=replace(CONFIG, frozen=("arity",)), method=METHOD)
    assert System.load(tmp_path / "a").weights["word_context:kirche,church,-1,tasse"] == 0.7
    free = replace(METHOD, dense=DenseWeights.FREE)
    tune(made, tmp_path / "b", free, config=replace(CONFIG, frozen=("arity",)))
    before, after = System.load(made / "hiero").weights, System.load(tmp_path / "b").weights
    assert [after[f"arity_{i}"] for i in range(3)] == [before[f"arity_{i}"] for i in range(3)]
    assert after["lm"] != before["lm"]
    tune(made, tmp_path / "c", config=replace(CONFIG, frozen=("word_context",)))
    assert all(not name.startswith("word_context:") for name, _ in System.load(tmp_path / "c").weights.items())
