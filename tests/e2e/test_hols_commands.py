"""Held-out line search as a user runs it: one command, and rows of a recipe."""

from __future__ import annotations

import json

import pytest
from tests.kit.small_text import write_splits

from dragoman.lm import EstimateConfig
from dragoman.system import System, SystemSettings, TrainConfig, train

SETTINGS = ["line_search=40", "gradient_k=20", "start_rounds=1", "search_rounds=1", "n_starts=1", "n_directions=1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 300, 10, 0, seed=8)
    for name, n_folds in (("system", 3), ("plain", 1)):
        config = TrainConfig(settings=SystemSettings(n_folds=n_folds), lm=EstimateConfig(order=2))
        train(folder / "train.de", folder / "train.en", folder / name, config=config)
    return folder


def words(made, *more, system="system", method="hols", settings=SETTINGS):
    sets = [word for setting in settings for word in ("--set", setting)]
    dev = ["--source", made / "dev.de", "-r", made / "dev.en"]
    common = ["--method", method, "--rounds", 1, "--k", 20, "--fast", "-o", "tuned"]
    return ["tune", "--system", made / system, *dev, *common, *sets, *more]


@pytest.mark.parametrize("method", ["hols", "hils"])
def test_a_system_is_tuned_and_every_step_told(made, inside, tmp_path, method):
    shown = inside(*words(made, "--features", "hols_sparse", "--limit", 90, "--json", method=method))
    told = shown.json
    assert [step["name"] for step in told["steps"]] == ["start", "gradient-1", "search-1"]
    assert [step["n_lines"] for step in told["steps"]] == [40, 90, 40]
    assert [update["searched"] for update in told["updates"]] == ["held-out", "dev"]
    scores = [one[key] for one in (*told["steps"], *told["updates"]) for key in ("score_before", "score_after")]
    assert 1 < min(scores) <= max(scores) <= 100  # points
    assert told["score_after"] == max(entry["score"] for entry in told["rounds"])
    assert {"metric", "score_before", "n_sentences", "n_candidates", "n_features", "cpu_s", "weights"} <= told.keys()
    lines = [line for line in shown.err.splitlines() if line]
    begun = [line.split(":")[0] for line in lines if " lines of the " in line]
    assert begun == ["start", "gradient-1", "search-1", "last"]
    assert "gradient-1: gradient over 90 lines of the training text" in lines
    assert "last: search on 10 lines of the development set" in lines
    assert "" not in shown.err.splitlines()
    assert System.load(tmp_path / "tuned").weights.is_usable()
    again = inside(*words(made, "--features", "hols_sparse", "--limit", 90, "--resume", method=method))
    assert "was finished before" in again.out


REFUSED = {
    "without folds": (["--features", "hols_sparse"], {"system": "plain"}, "train it with --folds"),
    "without features": ([], {}, "name some, such as --features hols_sparse"),
    "with too few lines": (
        ["--features", "hols_sparse"],
        {"settings": ["line_search=900"]},
        "set line_search to fewer",
    ),
    "with half an update": (
        ["--features", "hols_sparse"],
        {"settings": ["updates=3", "passes=2"]},
        "3 updates are no whole number for each of 2 passes",
    ),
    "without lines": (["--features", "hols_sparse", "--limit", 0], {}, "--limit must be at least 1"),
    "with another limit": (["--limit", 5], {"method": "mert", "settings": []}, "--limit is for lines of the training"),
    "online": (["--online"], {}, "hols cannot learn online"),
}


@pytest.mark.parametrize(("more", "changes", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_and_leaves_nothing(made, inside, tmp_path, more, changes, message):
    shown = inside(*words(made, *more, **changes), status=2)
    assert message in " ".join(shown.err.split())
    assert not (tmp_path / "tuned").exists()


def test_lists_are_not_enough(made, inside, tmp_path):
    (tmp_path / "lists").write_text("0 ||| a ||| f= 1 ||| 1\n", encoding="utf-8")
    shown = inside("tune", "--nbest", "lists", "-r", made / "dev.en", "--method", "hols", "-o", "w", status=2)
    assert "tune a system with --system" in shown.err


def test_settings_are_listed(inside):
    shown = inside("tune", "--method", "hols", "--set", "help", "--json").json["settings"]["hols"]
    assert {"passes", "updates", "blocks", "conditioning", "line_search", "last"} <= shown.keys()
    assert all(setting["meaning"] for setting in shown.values())


RECIPE = """
title = "Held-out line search"
[corpora.c]
synth = { train = 250, dev = 10, test = 10 }
[systems.phrase]
lm_order = 2
folds = 3
preset = "fast"
[features.rules]
templates = ["hols_sparse"]
[optimisers.hols]
k = 20
limit = 80
max_rounds = 1
start = { normal = 1 }
settings = { line_search = 30, gradient_k = 20, start_rounds = 1, search_rounds = 1, n_starts = 2 }
[optimisers.mert]
k = 20
max_rounds = 1
metric = "chrf"
start = { normal = 1 }
settings = { n_starts = 2 }
[[grid]]
seeds = [1, 2]
"""


def test_seeds_of_a_recipe_share_the_steps(inside, tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    plan = inside("run", "r.toml", "-o", "run", "--dry-run", "--json").json["cells"]
    steps = ["start", "gradient-1", "search-1"]
    assert [(cell.get("steps"), cell.get("steps_of")) for cell in plan] == [
        *[(steps, "c/phrase/rules/hols/1")] * 2,
        *[(None, None)] * 2,
    ]
    assert "search-1 of" in " ".join(inside("run", "r.toml", "-o", "run", "--dry-run").out.split())
    inside("run", "r.toml", "-o", "run", "--quiet")
    records = [
        json.loads((tmp_path / f"run/cells/c/phrase/rules/hols/{seed}/tuned/tune/result.json").read_text())
        for seed in (1, 2)
    ]
    assert [[step["found"] for step in record["steps"]] for record in records] == [[False] * 3, [True] * 3]
    assert records[0]["rounds"][0]["score"] == records[1]["rounds"][0]["score"]
    starts = [
        json.loads((tmp_path / f"run/cells/c/phrase/rules/{method}/{seed}/tuned/tune/run.json").read_text())
        for method in ("hols", "mert")
        for seed in (1, 2)
    ]
    drawn = [start["settings"]["start"] for start in starts]
    assert drawn[0] == drawn[1] == drawn[2] != drawn[3]  # hols by its training seed, which is 1
    assert {"lm", "words", "distortion"} <= drawn[3].keys()
    assert min(drawn[3].values()) < 0 < max(drawn[3].values())
    cell = json.loads((tmp_path / "run/cells/c/phrase/rules/hols/2/cell.json").read_text())
    assert [step["name"] for step in cell["steps"]] == steps
    assert all(step["cached"] for step in cell["steps"])


def test_a_start_of_its_own_for_every_seed(inside, tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    own = [
        "--set",
        "optimisers.hols.settings.training_seed=0",
        "--set",
        "optimisers.hols.metric='chrf'",
        "--only",
        "*/hols/*",
    ]
    plan = inside("run", "r.toml", "-o", "run", "--dry-run", "--json", *own).json["cells"]
    assert [(cell.get("steps"), cell.get("steps_of")) for cell in plan] == [(None, None)] * 2
    inside("run", "r.toml", "-o", "run", "--quiet", *own)
    folders = [tmp_path / f"run/cells/c/phrase/rules/hols/{seed}/tuned/tune" for seed in (1, 2)]
    first, second = (json.loads((folder / "run.json").read_text())["settings"]["start"] for folder in folders)
    assert first != second
    steps = json.loads((folders[1] / "result.json").read_text())["steps"]
    assert not any(step["found"] for step in steps)


WRONG = {
    "a system without folds": ("systems.phrase.folds=1", "'systems.phrase.folds' must be at least 2"),
    "features without templates": ("features.rules.templates=[]", "features.rules has no templates"),
    "too many lines": ("optimisers.hols.settings.line_search=251", "asks for 251 of 250 training lines"),
    "a loss": ("optimisers.hols.settings.loss='hinge'", "there is no loss 'hinge'"),
    "half an update": ("optimisers.hols.settings.passes=2", "1 updates are no whole number for each of 2 passes"),
    "a limit": ("optimisers.mert.limit=5", "a limit is for lines of the training text"),
    "a deviation of 0": ("optimisers.mert.start={normal=0}", "the standard deviation must be positive"),
    "a start": ("optimisers.mert.start='random'", "optimisers.mert.start = 'random': expected a table"),
    "a kind of start": ("optimisers.mert.start={uniform=1}", "'optimisers.mert.start.normal' is missing"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_recipes_are_checked_before_anything_runs(inside, tmp_path, change, message):
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    shown = inside("run", "r.toml", "-o", "run", "--set", change, status=2)
    assert message in " ".join(shown.err.split())
    assert not (tmp_path / "run").exists()
