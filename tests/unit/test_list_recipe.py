"""Recipes of lists: the cells equal the same steps done one by one, and everything is checked before."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest
from tests.kit.small_text import write_lines, write_splits
from typer.testing import CliRunner

from dragoman.analysis import load_outputs
from dragoman.candidates import mbr, oracle, read_pool, read_references, rerank, with_metric, with_mixture
from dragoman.candidates.features import add_candidate_features
from dragoman.cli import app
from dragoman.cli.board import dev_score
from dragoman.cli.run import cell_json
from dragoman.errors import FailedError, InputError
from dragoman.experiments import ListRecipe, plan_list_cells, read_recipe, run_list_cells
from dragoman.experiments.ablation import ablation_rows
from dragoman.features import Weights, read_weights
from dragoman.metric import Bleu, Smoothing
from dragoman.optim import Mira
from dragoman.run import CellKey, load_cells, start_file
from dragoman.system.manifest import MANIFEST
from dragoman.text import read_lines
from dragoman.tuning import tune_pool
from dragoman.view.report import write_report

METRIC = Bleu(smoothing=Smoothing.NONE)
RECIPE = """
kind = "lists"
title = "Small lists"
[corpora.small]
train = { source = "train.de", target = "train.en" }
dev = { source = "dev.de", references = "dev.en", limit = 20 }
test = { source = "test.de", references = "test.en" }
lists.near = { dev = "dev.near.jsonl", test = "test.near.jsonl" }
lists.far = { dev = "dev.far.jsonl", test = ["test.far.jsonl"] }
[trained.words]
reordering = "none"
max_phrase_length = 3
k = 4
tune = { method = "pro", max_rounds = 2, k = 10 }
[systems.near]
start = { model = 1 }
[systems.far]
[systems.all]
lists = ["near", "far", "words"]
start = { model = 1 }
[features.own]
[features.more]
extends = "own"
add = ["length", "system={words}"]
drop = ["noise"]
[optimisers.mira]
folds = 3
[optimisers.first]
choose = "first"
[optimisers.mbr]
choose = "mbr"
[[grid]]
systems = ["near"]
features = ["own", "more"]
optimisers = ["mira", "first", "mbr"]
seeds = [3]
[report]
baseline = "first"
"""


class Watching:
    """Keeps what a run says."""

    def __init__(self):
        self.ended = []
        self.said = []

    def say(self, text):
        self.said.append(text)

    def progress(self, what, total=None):
        from dragoman.system import Silent

        return Silent().progress(what, total)

    def begin_cell(self, key):
        pass

    def step(self, key, number, what):
        pass

    def end_round(self, key, record):
        pass

    def end_cell(self, result, *, before):
        self.ended.append((result.key.name, before))


def lists(references, rng, n_candidates, damage):
    """Candidates that lose words; a score that knows how many, and one that knows nothing."""
    rows = []
    for id_, line in enumerate(references):
        for _ in range(n_candidates):
            words = line.split()
            n = rng.randint(0, damage)
            for _ in range(n):
                words[rng.randrange(len(words))] = rng.choice(["so", "und", "such"])
            features = {"model": -n + rng.gauss(0, 1), "noise": rng.gauss(0, 1)}
            rows.append({"id": id_, "text": " ".join(words), "features": features, "scores": {"good": 1.0 - n / 9}})
    return [json.dumps(row) for row in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("lists")
    write_splits(path, 300, 25, 15, seed=5)
    rng = random.Random(4)
    for part in ("dev", "test"):
        references = list(read_lines(path / f"{part}.en"))
        write_lines(path / f"{part}.near.jsonl", lists(references, rng, 5, 3))
        write_lines(path / f"{part}.far.jsonl", lists(references, rng, 3, 6))
    (path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(folder):
    out = folder / "run"
    recipe = read_recipe(folder / "recipe.toml")
    watching = Watching()
    run_list_cells(recipe, recipe.select(), out, observer=watching, cache=folder / "cache")
    return out, watching


def cell(out, features, optimiser, system="near"):
    key = CellKey(corpus="small", system=system, features=features, optimiser=optimiser, seed=3)
    (found,) = (result for result in load_cells(out) if result.key == key)
    assert found.error is None, found.error
    return found


def pool(folder, part, n, metric=METRIC, extra=()):
    references = read_references([folder / f"{part}.en"])[:n]
    found = read_pool([folder / f"{part}.near.jsonl"])
    found = found.of_sentences(found.shards[0].sentence_ids[:n].astype("int64"))
    if extra:
        found = add_candidate_features(found, list(extra), list(read_lines(folder / f"{part}.de")))
    return with_metric(found, metric, references)


def test_a_cell_is_tuning_and_reranking(folder, run):
    out, _ = run
    dev, test = pool(folder, "dev", 20), pool(folder, "test", 15)
    record = tune_pool(dev, Mira(), Weights.from_dict({"model": 1}), seed=3)
    result = cell(out, "own", "mira")
    assert [entry.dev for entry in result.rounds] == [record.score_before, record.score_after]
    weights = read_weights(out / "cells" / result.key.name / "weights" / "0002.tsv")
    assert dict(weights.items()) == {name: value for name, value in record.weights.items() if value}
    choice = rerank(test, record.weights)
    lines = list(read_lines(out / "cells" / result.key.name / "test.txt"))
    assert lines == [text for _, text in choice.texts()]
    assert result.best.test == choice.score()
    assert result.oracle == {"test": oracle(test).score()}
    before = rerank(test, Weights.from_dict({"model": 1}))
    assert result.start == {"test": before.score()}
    assert list(read_lines(start_file(out / "cells" / result.key.name))) == [text for _, text in before.texts()]
    assert result.held_out is not None
    assert result.held_out <= result.best.dev


def test_choices_without_weights(folder, run):
    out, _ = run
    test = pool(folder, "test", 15)
    first = list(read_lines(out / "cells" / cell(out, "own", "first").key.name / "test.txt"))
    assert first == [text for _, text in rerank(test, Weights.from_dict({})).texts()]
    voted = list(read_lines(out / "cells" / cell(out, "own", "mbr").key.name / "test.txt"))
    assert voted == [text for _, text in mbr(test, Bleu()).texts()]


def test_groups_add_features_and_leave_some_out(folder, run):
    out, _ = run
    result = cell(out, "more", "mira")
    weights = dict(read_weights(out / "cells" / result.key.name / "weights" / "0002.tsv").items())
    assert "noise" not in weights
    assert {"model", "m1_e_f", "unlinked_f"} <= weights.keys()
    system = next(path for path in (folder / "cache").glob(f"*/system/{MANIFEST}")).parent
    dev = pool(folder, "dev", 20, extra=["length", f"system={system}"])
    frozen = ["noise"]
    record = tune_pool(dev, Mira(), Weights.from_dict({"model": 1}), seed=3, frozen=frozen)
    assert result.best.dev == record.score_after


def test_reports_and_comparisons_know_the_run(folder, run):
    out, _ = run
    write_report([out], folder / "page.html", n_trials=20)
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Choices from lists" in page
    assert "dev, held out" in page
    outputs = load_outputs([out])
    assert len(outputs.translations(cell(out, "own", "mira").key)) == 15


def test_a_run_goes_on_and_refuses_other_settings(folder, run):
    out, watching = run
    assert [before for _, before in watching.ended] == [False] * 6
    recipe = read_recipe(folder / "recipe.toml")
    again = Watching()
    before = load_cells(out)
    run_list_cells(recipe, recipe.select(), out, observer=again, cache=folder / "cache", resume=True)
    assert [name for name, _ in again.ended] == [name for name, _ in watching.ended]
    assert all(done for _, done in again.ended)
    assert load_cells(out) == before
    for change in ("optimisers.mira.folds=4", "systems.near.start={ model = 2 }", "features.more.drop=[]"):
        changed = read_recipe(folder / "recipe.toml", [change])
        with pytest.raises(InputError, match="begun with another"):
            plan_list_cells(changed, changed.select(), out, folder / "cache")


def test_a_killed_run_has_the_same_result(folder, run, tmp_path):
    out, _ = run
    recipe = read_recipe(folder / "recipe.toml")
    only = recipe.select(["*/own/mira/3"])

    class Stops(Watching):
        def end_cell(self, result, *, before):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_list_cells(recipe, recipe.select(["*/first/*"]), tmp_path / "run", observer=Stops(), cache=tmp_path / "c")
    run_list_cells(recipe, only, tmp_path / "run", observer=Watching(), cache=tmp_path / "c", resume=True)
    assert [replace(c, stages=(), rounds=()) for c in load_cells(tmp_path / "run") if c.key.optimiser == "mira"] == [
        replace(cell(out, "own", "mira"), stages=(), rounds=())
    ]


def test_lists_of_several_systems_are_one_pool(folder, tmp_path):
    changes = ["grid.systems=['all']", "grid.optimisers=['mira']", "grid.features=['own']", "optimisers.mira.folds=0"]
    recipe = read_recipe(folder / "recipe.toml", changes)
    assert isinstance(recipe, ListRecipe)
    (result,) = run_list_cells(recipe, recipe.select(), tmp_path / "run", observer=Watching(), cache=folder / "cache")
    assert result.error is None, result.error
    names = read_weights(tmp_path / "run" / "cells" / result.key.name / "weights" / "0002.tsv")
    assert {"from_near", "from_far", "from_words", "model", "lm"} <= {name for name, _ in names.items()}
    near = cell(folder / "run", "own", "mira")
    assert result.rounds[0].n_candidates > near.rounds[0].n_candidates
    assert result.oracle["test"] >= near.oracle["test"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("features.more.extends=words", "features.more.extends: .*own"),
        ("features.own.extends=more", "more extends own extends more|own extends more extends own"),
        ("features.more.add=['lengths']", "features.more.add.*length"),
        ("features.more.add=['lm={word}']", "no 'word' in \\[trained\\]"),
        ("features.more.drop=['nothing*']", "no feature matches 'nothing"),
        ("systems.near.lists=['nearer']", "no list 'nearer' in"),
        ("systems.near.lists=['near', 'near']", "named twice"),
        ("systems.near.start={ model = 'x' }", "weight of 'model' must be a number"),
        ("corpora.small.dev.skip=2", "'skip' does not go together"),
        ("corpora.small.lists.near={ dev = 'dev.near.jsonl' }", "'corpora.small.lists.near.test' is missing"),
        ("corpora.small.lists.near.test=none.jsonl", "none.jsonl does not exist"),
        ("corpora.small.raw=true", "does not belong to a recipe of lists"),
        ("corpora.small.synth={ train = 1 }", "does not belong to a recipe of lists"),
        ("optimisers.mira.folds=1", "expected 0 or at least 2"),
        ("optimisers.mira.method=forest-mert", "does not learn from lists"),
        ("optimisers.mira.lower_is_better=true", "external score"),
        ("optimisers.mbr.metric=blue", "blue"),
        ("optimisers.mbr.folds=2", "'optimisers.mbr.folds' is not a key"),
        ("report.baseline=nothing", "report.baseline"),
    ],
)
def test_what_is_wrong_is_said_first(folder, tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        recipe = read_recipe(folder / "recipe.toml", [change])
        selection = recipe.select()
        results = run_list_cells(recipe, selection, tmp_path / "run", observer=Watching(), cache=folder / "cache")
        raise InputError(next(result.error for result in results if result.error))


def test_lists_of_other_sentences(folder, tmp_path):
    parts = {"test": "dev", "dev": "test"}
    changes = [f"corpora.small.{a}={{ source = '{b}.de', references = '{b}.en' }}" for a, b in parts.items()]
    recipe = read_recipe(folder / "recipe.toml", changes)
    results = run_list_cells(
        recipe, recipe.select(["*/first/*"]), tmp_path / "run", observer=Watching(), cache=folder / "cache"
    )
    assert all("do they belong together" in result.error for result in results)


def test_an_external_objective(folder, tmp_path):
    changes = ["grid.optimisers=['mira']", "grid.features=['own']", "optimisers.mira.external=good"]
    recipe = read_recipe(folder / "recipe.toml", changes)
    (result,) = run_list_cells(recipe, recipe.select(), tmp_path / "run", observer=Watching(), cache=folder / "cache")
    assert result.metric == "good"
    good = [json.loads(line) for line in read_lines(folder / "test.near.jsonl")]
    best = Counter()
    for row in good:
        best[row["id"]] = max(best[row["id"]], row["scores"]["good"])
    assert result.oracle["test"] == pytest.approx(sum(best.values()) / len(best))
    assert cell_json(result)["dev"] == [entry.dev for entry in result.rounds]  # as in the file, not times 100
    assert dev_score("good", 0.7912345678) == "0.791235 good"
    assert dev_score("chrf", 0.5) == "50.00 chrF"
    page = write_report([tmp_path / "run"], tmp_path / "good.html", n_trials=100).read_text(encoding="utf-8")
    assert f"{result.oracle['test']:.6g}" in page
    assert f"{100 * result.oracle['test']:.2f}" not in page
    recipe = read_recipe(folder / "recipe.toml", [*changes[:2], "optimisers.mira.external='good + 2*chrf'"])
    (mixed,) = run_list_cells(recipe, recipe.select(), tmp_path / "m", observer=Watching(), cache=folder / "cache")
    assert mixed.metric == "1.0*good + 2.0*chrf"
    pools = with_mixture(
        read_pool([folder / "test.near.jsonl"]), "good + 2*chrf", read_references([folder / "test.en"])
    )
    assert mixed.oracle["test"] == oracle(pools).score()
    with pytest.raises(InputError, match="fill_missing.*is for an external score"):
        read_recipe(folder / "recipe.toml", [*changes[:2], "optimisers.mira.fill_missing=true"])


def test_the_command(folder, run, tmp_path):
    out, _ = run
    told = ["run", str(folder / "recipe.toml"), "--cache", str(folder / "cache")]
    dry = CliRunner().invoke(app, [*told, "-o", str(out), "--dry-run", "--json"])
    assert dry.exit_code == 0, dry.output
    assert json.loads(dry.stdout)["n_done"] == 6
    whole = CliRunner().invoke(app, [*told, "-o", str(tmp_path / "run"), "--only", "*/first/*", "--json"])
    assert whole.exit_code == 0, whole.output
    assert {found["cell"] for found in json.loads(whole.stdout)["cells"]} == {
        "small/near/own/first/3",
        "small/near/more/first/3",
    }
    engine = CliRunner().invoke(app, [*told, "-o", str(tmp_path / "other"), "--workers", "2"])
    assert engine.exit_code != 0


def test_cells_that_fail_are_told_once(run):
    results = sorted(load_cells(run[0]), key=lambda each: each.key)[:3]
    failed = [replace(result, error=error) for result, error in zip(results, ("a", "a", "b"), strict=True)]
    with pytest.raises(FailedError) as raised:
        ablation_rows(failed)
    assert [line.count(";") for line in str(raised.value).split("\n")] == [1, 0]
    with pytest.raises(FailedError, match=r"seed 3: a\Z"):
        ablation_rows([failed[0], *results[1:]])
    with pytest.raises(InputError, match=r"\Aa\Z"):
        ablation_rows(failed[:2])
