"""Development and test sets that a recipe draws from the training text."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits
from tests.kit.watching import Watcher

from dragoman.errors import InputError
from dragoman.experiments import read_recipe, run_cells
from dragoman.experiments.drawing import DrawnPart, Where, draw_lines
from dragoman.experiments.stages import decoding
from dragoman.features import read_weights
from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate
from dragoman.run import TextSize, cell_folder, load_cells, load_sizes, load_test_sets
from dragoman.system import Preset, System, train
from dragoman.text import read_lines
from dragoman.view.report import load_experiment, markdown_tables
from dragoman.view.report.experiment import experiment_html
from dragoman.view.report.records import Records
from dragoman.view.report.sets import text_table

RECIPE = """
title = "Drawn"
[corpora.in]
train = { source = "train.de", target = "train.en" }
dev = { drawn = "in", lines = 8 }
tests = { test = { source = "test.de", references = "test.en" }, train = { drawn = "in", lines = 5, skip = 8 } }
[corpora.out]
train = { source = "train.de", target = "train.en" }
dev = { drawn = "out", lines = 8 }
tests = { test = { source = "test.de", references = "test.en" }, train = { drawn = "in", lines = 5, skip = 8 } }
[systems.small]
lm_order = 2
preset = "fast"
[features.dense]
templates = []
[optimisers.mert]
k = 5
max_rounds = 1
settings = { n_starts = 1 }
[[grid]]
seeds = [1, 2]
"""


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    write_splits(folder, 200, 2, 3, seed=4)
    for side in ("de", "en"):  # every fourth line twice
        lines = (folder / f"train.{side}").read_text().splitlines()
        write_lines(folder / f"train.{side}", [*lines, *lines[::4]])
    (folder / "r.toml").write_text(RECIPE, encoding="utf-8")
    return folder


def part(n_lines, skip=0, where=Where.IN):
    return DrawnPart(where=where, n_lines=n_lines, skip=skip)


def test_drawings_are_of_different_sentences_in_a_random_order():
    source = ["a", "b", "a", "", "c", "d", "b", "e", "f"]
    first, second = draw_lines(source, [part(3), part(2, 3)], seed=1)
    assert len({*first, *second}) == 5
    assert {*first, *second} <= {0, 1, 4, 5, 7, 8}
    both = draw_lines(source, [part(5, where=Where.OUT)], seed=1)[0]
    assert np.array_equal(both, [*first, *second])
    assert {tuple(draw_lines(source, [part(5)], seed)[0]) for seed in range(20)} != {tuple(both)}
    with pytest.raises(InputError, match="has 6 different source sentences, too few to draw 4 after 2"):
        draw_lines(source, [part(4, 2)], seed=1)


def test_lines_that_stay_in_the_training_and_lines_that_are_taken_out(files, tmp_path):
    plan = read_recipe(files / "r.toml", ["systems.small.folds=2"])
    cells = plan.select(["*/1"])
    results = run_cells(plan, cells, tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache")
    assert [result.error for result in results] == [None, None]
    texts = {(path.parent / "left-out.txt").exists(): path.parent for path in tmp_path.glob("cache/*/train.source")}
    for name in ("dev.source", "dev.reference.0", "test-train.source", "train.source"):
        assert (texts[False] / name).read_bytes() == (texts[True] / name).read_bytes()
    dev, other = ((texts[True] / f"{name}.source").read_text().splitlines() for name in ("dev", "test-train"))
    assert len({*dev, *other}) == 13
    system = {len(loaded.training): loaded for loaded in map(System.load, tmp_path.glob("cache/*/system"))}
    source = (files / "train.de").read_text().splitlines()
    kept = [line for line, sentence in enumerate(source) if sentence not in dev]
    assert sorted(system) == [len(kept), len(source)]
    without = system[len(kept)].training
    assert [without.source(line) for line in range(len(without))] == [source[line] for line in kept]
    assert len([*tmp_path.glob("cache/*/train.align.zst")]) == 1  # of the whole text


def test_what_is_taken_out_is_in_neither_grammar_nor_language_model(files, tmp_path):
    plan = read_recipe(files / "r.toml")
    (result,) = run_cells(plan, plan.select(["out/*/1"]), tmp_path / "run", observer=Watcher(), cache=tmp_path)
    (text,) = (path.parent for path in tmp_path.glob("*/left-out.txt"))
    out = {int(line) for line in (text / "left-out.txt").read_text().split()}
    (links,) = tmp_path.glob("*/train.align.zst")
    kept = []
    for path in (text / "train.source", text / "train.target", links):
        lines = [line for number, line in enumerate(read_lines(path)) if number not in out]
        kept.append(write_lines(tmp_path / f"kept-{path.name.removesuffix('.zst')}", lines))
    target = TrainingText()
    target.add_file(kept[1])
    (lm,) = (path for path in tmp_path.glob("*/lm.bin"))
    assert LanguageModel.load(lm).n_ngrams == estimate(target, EstimateConfig(order=2)).model.n_ngrams
    (made,) = map(System.load, tmp_path.glob("*/system"))
    fresh = train(kept[0], kept[1], tmp_path / "fresh", alignment=kept[2], lm=lm)
    assert made.grammar.manifest.files == fresh.grammar.manifest.files
    assert not [*tmp_path.glob("*/without")]
    assert result.error is None


def test_every_seed_draws_its_own_sets_unless_the_drawing_is_named(files, tmp_path):
    plan = read_recipe(files / "r.toml")
    cells = plan.select(["in/*"])
    results = run_cells(plan, cells, tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache")
    drawn = [(cell_folder(tmp_path / "run", result.key) / "tests/train/source.txt").read_text() for result in results]
    assert len(set(drawn)) == 2
    assert all(list(result.tests) == ["test", "train"] for result in results)
    assert list(load_test_sets(tmp_path / "run")["in"].others) == []
    assert load_cells(tmp_path / "run") == results
    again = run_cells(plan, cells, tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache", resume=True)
    assert again == results
    named = read_recipe(files / "r.toml", ["corpora.in.drawing=2"])
    fixed = run_cells(named, cells, tmp_path / "b", observer=Watcher(), cache=tmp_path / "cache")
    assert fixed[1].tests == results[1].tests
    assert load_test_sets(tmp_path / "b")["in"].others["train"].source == tuple(drawn[1].splitlines())
    with pytest.raises(InputError, match="begun with another text"):
        run_cells(named, cells, tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache", resume=True)


FOLD = "corpora.in.dev={drawn='fold', fold=1, folds=3, fold_seed=5, lines=40}"
OWN_FOLDS = ["systems.small.folds=3", "systems.small.fold_seed=5", "optimisers.mert.fold=1"]
NO_OTHER = "corpora.in.tests={test={source='test.de', references='test.en'}}"


def test_a_fold_of_the_system_is_the_development_set(files, tmp_path):
    plan = read_recipe(files / "r.toml", [FOLD, NO_OTHER, "corpora.in.drawing=7", *OWN_FOLDS])
    cells = plan.select(["in/*"])
    results = run_cells(plan, cells, tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache")
    assert [result.error for result in results] == [None, None]
    (training,) = (System.load(path).training for path in tmp_path.glob("cache/*/system"))
    lines = training.of_fold(1, 40, seed=7)
    (text,) = (path.parent for path in tmp_path.glob("cache/*/dev.source"))
    assert [*read_lines(text / "dev.source")] == [training.source(line) for line in lines]
    assert [*read_lines(text / "dev.reference.0")] == [training.target(line) for line in lines]
    everything = read_recipe(files / "r.toml", [FOLD.replace(", lines=40", ""), NO_OTHER, *OWN_FOLDS])
    run_cells(everything, everything.select(["in/*/1"]), tmp_path / "all", observer=Watcher(), cache=tmp_path / "b")
    (text,) = (path.parent for path in tmp_path.glob("b/*/dev.source"))
    assert len([*read_lines(text / "dev.source")]) == len(training.of_fold(1))


def test_scores_are_of_tables_that_have_not_seen_the_fold(files, tmp_path):
    sets = [FOLD, NO_OTHER, "corpora.in.drawing=7", *OWN_FOLDS, "grid.seeds=[1]"]
    plan = read_recipe(files / "r.toml", [*sets, "optimisers.mert.metric='chrf'"])
    cells = plan.select(["in/*"])
    (result,) = run_cells(plan, cells, tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache")
    assert result.tune is not None
    # Ties between candidates may fall otherwise; tables that have seen the fold are at 0.9.
    assert result.tune.scores["chrf"] == pytest.approx(result.best.dev, abs=0.01)
    folder = cell_folder(tmp_path / "run", result.key)
    (system,) = (System.load(path) for path in tmp_path.glob("cache/*/system"))
    weights = read_weights(folder / "weights" / f"{result.best_round:04d}.tsv")
    view = system.view(1)
    source = [*read_lines(files / "test.de")]
    told = [*view.translate(source, weights=weights.on(view.index), preset=Preset.FAST)]
    assert [*read_lines(folder / "test.txt")] == told
    # Cells that differ in the fold alone share no translations.
    keys = {
        decoding("s", print, "x", files / "test.de", [], Preset.FAST, files / "dev.de", fold).name
        for fold in (None, 0, 1)
    }
    assert len(keys) == 3


@pytest.mark.parametrize("change", ["systems.small.folds=4", "systems.small.fold_seed=6", "optimisers.mert.fold=2"])
def test_a_fold_that_tuning_does_not_leave_out(files, change):
    plan = read_recipe(files / "r.toml", [FOLD, NO_OTHER, *OWN_FOLDS, change])
    with pytest.raises(InputError, match="corpora.in.dev is fold 1 of 3, made with seed 5: 'systems.small' must have"):
        plan.select(["in/*"])


BAD = {
    "no such fold": (FOLD.replace("fold=1", "fold=3"), "corpora.in.dev.fold = 3: expected 0 to 2"),
    "a fold and others": (FOLD, "'corpora.in.tests.train' may overlap 'corpora.in.dev'"),
    "where": ("corpora.in.dev.drawn='inside'", "corpora.in.dev.drawn = 'inside': expected one of in, out, fold"),
    "no number": ("corpora.in.dev={drawn='in'}", "'corpora.in.dev.lines' is missing"),
    "files too": ("corpora.in.dev.source='train.de'", "'corpora.in.dev.source' is not a key of a recipe"),
    "an overlap": (
        "corpora.in.tests.train.skip=7",
        "'corpora.in.tests.train' overlaps 'corpora.in.dev': lines 7 to 11 and 0 to 7 of the drawing",
    ),
    "the main test set": (
        "corpora.in.tests={test={drawn='in', lines=5, skip=8}}",
        "'corpora.in.drawing' is missing: the main test set is the same for all seeds",
    ),
    "nothing drawn": (
        "corpora.in={drawing=1, train={source='train.de', target='train.en'}, "
        "dev={source='dev.de', references='dev.en'}, test={source='test.de', references='test.en'}}",
        "corpora.in.drawing = 1: no set of this corpus is drawn",
    ),
    "a finished model": ("corpora.out.lm='lm.bin'", "corpora.out.lm = 'lm.bin': lines cannot be taken out"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_wrong_drawings(files, change, message):
    with pytest.raises(InputError) as caught:
        read_recipe(files / "r.toml", [change])
    assert message in str(caught.value)


def test_too_few_lines_to_draw_from(files, tmp_path):
    plan = read_recipe(files / "r.toml", ["corpora.in.dev.lines=195", "corpora.in.tests.train.skip=195"])
    results = run_cells(plan, plan.select(["in/*/1"]), tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache")
    assert "different source sentences, too few to draw" in results[0].error


def test_sizes_of_texts_are_recorded_and_reported(files, tmp_path):
    plan = read_recipe(files / "r.toml", ["grid.seeds=[1]"])
    run_cells(plan, plan.select(["out/*"]), tmp_path / "run", observer=Watcher(), cache=tmp_path / "cache")
    sizes = load_sizes(tmp_path / "run")["out"]
    (text,) = (path.parent for path in tmp_path.glob("cache/*/dev.source"))
    out = {*read_lines(text / "dev.source")}
    pairs = [*zip(read_lines(files / "train.de"), read_lines(files / "train.en"), strict=True)]
    kept = [pair for pair in pairs if pair[0] not in out]
    assert len(kept) < len(pairs)
    n_source, n_target = (sum(len(pair[side].split()) for pair in kept) for side in (0, 1))
    assert sizes["train"] == TextSize(lines=len(kept), source_tokens=n_source, target_tokens=n_target)
    assert [(name, size.lines) for name, size in sizes.items()][1:] == [("dev", 8), ("test/test", 3), ("test/train", 5)]
    _, rows = text_table(Records([tmp_path / "run"]))
    shown = [[cell.text for cell in row] for row in rows]
    assert [row[1] for row in shown] == ["training", "development", "test", "test: train"]
    assert shown[0][2:] == [f"{len(kept):,}", f"{n_source:,}", f"{n_target:,}"]
    experiment = load_experiment([tmp_path / "run"], n_trials=10)
    assert "## Corpora" in markdown_tables(experiment, figures=None)
    assert '<section id="corpora">' in experiment_html(experiment)
