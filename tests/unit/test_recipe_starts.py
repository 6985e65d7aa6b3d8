"""Cells of a recipe that begin with the weights of another cell."""

from __future__ import annotations

import json
import os

import pytest
from tests.kit.watching import Watcher

from dragoman.errors import InputError
from dragoman.experiments import read_recipe, run_cells
from dragoman.features import read_weights
from dragoman.run import cell_folder
from dragoman.work.engine import open_engine

RECIPE = """
title = "Starts"
[corpora.c]
synth = { train = 60, dev = 6, test = 4 }
[systems.small]
lm_order = 2
preset = "fast"
[features.pairs]
templates = ["rule_id"]
[features.dense]
templates = []
[optimisers.pro]
k = 5
max_rounds = 1
metric = "chrf"
start = { optimiser = "mert", features = "dense" }
[optimisers.again]
method = "pro"
k = 5
max_rounds = 1
metric = "chrf"
start = { optimiser = "pro" }
[optimisers.mert]
k = 5
max_rounds = 1
metric = "chrf"
start = { normal = 1 }
settings = { n_starts = 1 }
[[grid]]
features = ["pairs"]
optimisers = ["pro", "again"]
seeds = [1, 2]
[[grid]]
features = ["dense"]
optimisers = ["mert"]
seeds = [1, 2]
"""


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path / "r.toml"


def kept(run, result):
    return dict(read_weights(cell_folder(run, result.key) / "weights" / f"{result.best_round:04d}.tsv").items())


def begun(run, result):
    record = json.loads((cell_folder(run, result.key) / "tuned/tune/run.json").read_text(encoding="utf-8"))
    return record["settings"]["start"]


@pytest.mark.parametrize("side_by_side", [False, True])
def test_a_cell_begins_with_the_dense_weights_of_another(recipe, tmp_path, side_by_side):
    plan = read_recipe(recipe)
    names = ["dense/mert/1", "dense/mert/2", "pairs/pro/1", "pairs/pro/2", "pairs/again/1", "pairs/again/2"]
    assert [cell.name.removeprefix("c/small/") for cell in plan.cells] == names
    if not side_by_side:
        assert [cell.name.removeprefix("c/small/") for cell in plan.select(["*/again/2"]).cells] == names[1::2]
    run, where = tmp_path / "run", {"observer": Watcher(), "cache": tmp_path / "cache"}
    if side_by_side:
        with open_engine("local", n_workers=2, n_threads=1) as engine:
            results = run_cells(plan, plan.select(), run, engine=engine, **where)
    else:
        results = run_cells(plan, plan.select(), run, **where)
    assert [result.error for result in results] == [None] * 6
    of = {result.key.name.removeprefix("c/small/"): result for result in results}
    for seed in (1, 2):
        before = kept(run, of[f"dense/mert/{seed}"])
        found = begun(run, of[f"pairs/pro/{seed}"])
        assert {name: value for name, value in found.items() if value} == pytest.approx(before)
        dense = {name: value for name, value in kept(run, of[f"pairs/pro/{seed}"]).items() if ":" not in name}
        found = begun(run, of[f"pairs/again/{seed}"])
        assert {name: value for name, value in found.items() if value} == pytest.approx(dense)
    assert begun(run, of["pairs/pro/1"]) != begun(run, of["pairs/pro/2"])


def test_a_cell_whose_start_has_other_settings_cannot_go_on(recipe, tmp_path):
    plan, where = read_recipe(recipe), {"observer": Watcher(), "cache": tmp_path / "cache"}
    first = run_cells(plan, plan.select(["*/pro/1"]), tmp_path / "run", **where)
    assert run_cells(plan, plan.select(["*/pro/1"]), tmp_path / "run", resume=True, **where) == first
    other = read_recipe(recipe, ["optimisers.mert.k=6"])
    with pytest.raises(InputError, match="begun with another"):
        run_cells(other, other.select(["*/pro/1"]), tmp_path / "run", resume=True, **where)


def test_a_failed_start_fails_what_begins_with_it(recipe, tmp_path):
    plan = read_recipe(recipe, ["optimisers.mert.frozen=['nothing']", "grid.seeds=[1]"])
    where = {"observer": Watcher(), "cache": tmp_path / "cache"}
    mert, pro, again = run_cells(plan, plan.select(), tmp_path / "run", **where)
    assert mert.error
    assert pro.error == "the cell c/small/dense/mert/1, whose weights are the start, failed"
    assert "c/small/pairs/pro/1" in again.error


WRONG = {
    "an optimiser": (["optimisers.pro.start.optimiser='mart'"], "optimisers.pro.start.optimiser = 'mart': there is no"),
    "features": (["optimisers.pro.start.features='dens'"], "optimisers.pro.start.features = 'dens': there are no"),
    "a circle": (
        ["optimisers.pro.start={optimiser='again'}"],
        "c/small/pairs/pro/1 from c/small/pairs/again/1 from c/small/pairs/pro/1",
    ),
    "itself": (["optimisers.again.start={optimiser='again'}"], "cells would start from themselves"),
    "not in the grid": (
        ["optimisers.pro.start={optimiser='mert'}"],
        "c/small/pairs/pro/1 starts from c/small/pairs/mert/1, which is not in the grid",
    ),
    "another seed": (["grid.1.seeds=[1]"], "starts from c/small/dense/mert/2, which is not in the grid"),
    "two kinds": (["optimisers.pro.start.normal=1"], "'optimisers.pro.start.normal' is not a key"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_wrong_starts(recipe, changes, message):
    with pytest.raises(InputError) as caught:
        read_recipe(recipe, changes)
    assert message in str(caught.value)


LEARNED = """
title = "Sparse weights as a start"
[corpora.c]
synth = { train = 80, dev = 8, test = 4 }
[systems.small]
model = "hiero"
lm_order = 2
preset = "fast"
folds = 2
[features.contexts]
templates = ["word_context(top=0)"]
[optimisers.forests]
method = "fastforest"
settings = { max_epochs = 1 }
phi = { last = "none", theta = "system" }
[optimisers.xbleu]
learn_from = "lists"
k = 5
start = { optimiser = "forests", sparse = true }
[optimisers.hols]
k = 5
max_rounds = 1
start = { optimiser = "forests", sparse = true }
metric = "chrf"
settings = { start = "system", line_search = 20, n_starts = 1, n_directions = 1 }
[[grid]]
features = ["contexts"]
optimisers = ["forests", "xbleu", "hols"]
seeds = [1]
"""


def test_sparse_weights_of_fastforest_are_where_other_methods_begin(tmp_path):
    (tmp_path / "r.toml").write_text(LEARNED, encoding="utf-8")
    plan, run = read_recipe(tmp_path / "r.toml"), tmp_path / "run"
    results = run_cells(plan, plan.select(), run, observer=Watcher(), cache=tmp_path / "cache")
    assert [result.error for result in results] == [None] * 3
    of = {result.key.optimiser: result for result in results}
    learned = {name: value for name, value in kept(run, of["forests"]).items() if value}
    assert sum(name.startswith("word_context:") for name in learned) > 50
    for name in ("xbleu", "hols"):
        found = {feature: value for feature, value in begun(run, of[name]).items() if value}
        assert found == pytest.approx(learned)
