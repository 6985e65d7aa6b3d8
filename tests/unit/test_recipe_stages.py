"""Corpora of files: limits, several references, given alignments and models, raw text, folds."""

from __future__ import annotations

import gzip
import json
import os
from functools import partial

import pytest
import sacrebleu
from tests.kit.small_text import write_lines
from tests.kit.watching import Watcher

from dragoman.align import align_files, write_pharaoh
from dragoman.errors import InputError
from dragoman.experiments import plan_cells, read_recipe, run_cells
from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate
from dragoman.run import cell_folder, load_cells, load_test_sets
from dragoman.system import System
from dragoman_synth import SynthConfig, generate_splits

RECIPE = """
title = "Files"
[corpora.plain]
train = { source = "train.de.gz", target = "train.en", limit = 250 }
dev = { source = "dev.de", references = "dev.en.*", limit = 6 }
test = { source = "test.de", references = ["test.en.0", "test.en.1"] }
[systems.small]
lm_order = 2
preset = "fast"
[features.dense]
templates = []
[features.some]
templates = ["word_pair(top=5)"]
[optimisers.mert]
k = 5
max_rounds = 1
settings = { n_starts = 1 }
[[grid]]
features = ["dense"]
seeds = [1]
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    splits = generate_splits(300, 8, 5, SynthConfig(seed=3, n_references=2))
    source = [example.source for example in splits.train]
    (folder / "train.de.gz").write_bytes(gzip.compress(("\n".join(source) + "\n").encode()))
    write_lines(folder / "train.en", [example.references[0] for example in splits.train])
    for name, examples in (("dev", splits.dev), ("test", splits.test)):
        write_lines(folder / f"{name}.de", [example.source for example in examples])
        for r in range(2):
            write_lines(folder / f"{name}.en.{r}", [example.references[r] for example in examples])
    write_pharaoh(folder / "train.align", align_files(folder / "train.de.gz", folder / "train.en").alignment)
    (folder / "r.toml").write_text(RECIPE, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def run(files, folder, *changes, recipe="r.toml", resume=False):
    plan = read_recipe(files / recipe, changes)
    cache = folder / "cache"
    results = run_cells(plan, plan.select(), folder / "run", observer=Watcher(), cache=cache, resume=resume)
    assert [result.error for result in results] == [None] * len(results)
    return results


def stages(result):
    return [stage.name for stage in result.stages][:-5]


def test_files_are_read_as_far_as_the_limits_say(files, tmp_path):
    (result,) = run(files, tmp_path)
    assert stages(result) == ["corpus", "alignment", "language model", "grammar"]
    (text,) = (path.parent for path in (tmp_path / "cache").glob("*/train.source"))
    counts = {path.name: path.read_text().count("\n") for path in text.iterdir() if path.name != "step.json"}
    assert counts == {
        "train.source": 250, "train.target": 250, "dev.source": 6, "dev.reference.0": 6, "dev.reference.1": 6,
        "test.source": 5, "test.reference.0": 5, "test.reference.1": 5,
    }  # fmt: skip
    kept = load_test_sets(tmp_path / "run")["plain"]
    assert kept.source == tuple((files / "test.de").read_text().splitlines())
    assert kept.references[1] == tuple((files / "test.en.1").read_text().splitlines())
    assert len((cell_folder(tmp_path / "run", result.key) / "test.txt").read_text().splitlines()) == 5
    assert {"bleu", "chrf", "ter", "length_ratio"} <= set(result.scores)


def test_mert_on_forests_and_settings_without_end(files, tmp_path):
    mert_on_forests = ["optimisers.mert.method='forest-mert'", "optimisers.mert.settings={n_starts=1, prune=inf}"]
    (result,) = run(files, tmp_path, *mert_on_forests)
    assert (
        json.loads((tmp_path / "run" / "recipe.json").read_text())["optimisers"]["mert"]["settings"]["prune"] == "inf"
    )
    (again,) = run(files, tmp_path, *mert_on_forests, resume=True)
    assert again.scores == result.scores


def test_what_depends_on_what(files, tmp_path):
    run(files, tmp_path)

    def cached(*changes):
        recipe = read_recipe(files / "r.toml", changes)
        (plan,) = plan_cells(recipe, recipe.select(), tmp_path / "other", tmp_path / "cache")
        return [name for name, ready in plan.stages.items() if ready]

    everything = ["corpus", "alignment", "language model", "grammar"]
    assert cached() == cached("optimisers.mert.k=7") == cached("grid.features=['some']") == everything
    assert cached("corpora.plain.dev.limit=5") == everything[1:]
    assert cached("corpora.plain.test.references=['test.en.0']") == everything[1:]
    assert cached("systems.small.lm_order=3") == ["corpus", "alignment"]
    assert cached("systems.small.symmetrize='union'") == ["corpus", "language model"]
    assert cached("systems.small.max_phrase_length=4") == cached("systems.small.model='hiero'") == everything[:3]
    assert cached("systems.small.classes=[3, 5]") == everything[:3]
    assert cached("corpora.plain.train.limit=200") == []
    os.utime(files / "train.en")
    assert cached() == everything
    before = (files / "dev.en.0").read_text()
    write_lines(files / "dev.en.0", [f"another {i}" for i in range(8)])
    try:
        assert cached() == everything[1:]
    finally:
        (files / "dev.en.0").write_text(before)


def test_a_given_alignment_and_a_given_model(files, tmp_path):
    text = TrainingText()
    text.add_file(files / "train.en")
    estimate(text, EstimateConfig(order=3)).model.save(files / "lm.bin")
    changes = ("corpora.plain.align='train.align'", "corpora.plain.lm='lm.bin'")
    (result,) = run(files, tmp_path, *changes)
    assert stages(result) == ["corpus", "language model", "grammar"]
    (system,) = (tmp_path / "cache").glob("*/system")
    assert System.load(system).manifest.about["lm_order"] == 3
    (again,) = run(files, tmp_path / "b", *changes, "systems.small.align='fast'")
    assert "alignment" in stages(again)


def test_text_for_the_model_and_folds(files, tmp_path):
    run(files, tmp_path / "a", "corpora.plain.lm_text=['train.en', 'dev.en.1']")
    (lm,) = (tmp_path / "a" / "cache").glob("*/lm.bin")
    assert LanguageModel.load(lm).order == 2
    (result,) = run(files, tmp_path / "b", "systems.small.folds=2", "optimisers.mert.fold=1")
    assert stages(result) == ["corpus", "alignment", "grammar"]
    (system,) = (tmp_path / "b" / "cache").glob("*/system")
    loaded = System.load(system)
    assert len(loaded.training) == 250
    assert loaded.training.n_folds == 2
    changes = ("systems.small.folds=2", "corpora.plain.lm_text=['dev.en.1']")
    run(files, tmp_path / "c", *changes)
    (more,) = (tmp_path / "c" / "cache").glob("*/system")
    assert [System.load(more).lm(fold).n_ngrams > loaded.lm(fold).n_ngrams for fold in (None, 0, 1)] == [True] * 3
    with pytest.raises(InputError, match=r"cannot leave out a fold; give its text as 'corpora.plain.lm_text'"):
        run(files, tmp_path / "d", "systems.small.folds=2", "corpora.plain.lm='train.en'")


def test_word_classes_reach_the_system(files, tmp_path):
    run(files, tmp_path, "systems.small.classes=[3, 5]")
    (system,) = (tmp_path / "cache").glob("*/system")
    source, target = System.load(system).classes
    assert source.sizes == target.sizes == (3, 5)


def test_raw_text_is_tokenised(files, tmp_path):
    changes = ("corpora.plain.raw=true", "corpora.plain.languages='de-en'", "corpora.plain.lowercase=true")
    write_lines(files / "raw.de", ["Das ist gut, oder?"] * 5)
    run(files, tmp_path, *changes, "corpora.plain.test.source='raw.de'")
    assert load_test_sets(tmp_path / "run")["plain"].source[0] == "das ist gut ￭, oder ￭?"
    (system,) = (tmp_path / "cache").glob("*/system")
    loaded = System.load(system)
    assert loaded.settings.text.raw
    (best,) = loaded.translate(["Das ist gut, oder?"])
    assert best[0].islower()  # as the training text
    assert "￭" not in best


def test_sparse_features_reach_the_cell(files, tmp_path):
    (result,) = run(
        files, tmp_path, "grid.features=['some']", "optimisers.mert.method='pro'", "optimisers.mert.settings={}"
    )
    assert result.method == "pro"
    weights = (cell_folder(tmp_path / "run", result.key) / "weights" / "0002.tsv").read_text()
    assert "word_pair" in weights
    assert result.rounds[1].n_active > result.rounds[0].n_active


def test_the_test_set_is_decoded_with_the_start_and_the_best_or_with_every_round(files, tmp_path):
    (result,) = run(files, tmp_path, "optimisers.mert.max_rounds=3", "optimisers.mert.keep='last'")
    tested = {entry.round for entry in result.rounds if entry.test is not None}
    assert len(result.rounds) > 2
    assert tested == {1, result.best_round}
    (result,) = run(files, tmp_path / "every", "optimisers.mert.max_rounds=3", "report.rounds_on_test=['plain/*']")
    assert all(entry.test is not None for entry in result.rounds)


TWO_TESTS = (
    "corpora.plain.dev.skip=2",
    "corpora.plain.tests={late={source='test.de', references='test.en.*', skip=2},"
    " early={source='test.de', references='test.en.1', limit=2}}",
)


@pytest.fixture
def two_tests(files):
    """A recipe whose corpus has two test sets, of three and two sentences."""
    head, tail = RECIPE.split("test = ", 1)
    (files / "two.toml").write_text(head + tail.split("\n", 1)[1], encoding="utf-8")
    return partial(run, files, recipe="two.toml")


def test_several_test_sets(two_tests, files, tmp_path):
    (result,) = two_tests(tmp_path, *TWO_TESTS, "report.metrics='(ter-bleu)/2'")
    folder = cell_folder(tmp_path / "run", result.key)
    source = (files / "test.de").read_text().splitlines()
    kept = load_test_sets(tmp_path / "run")["plain"]
    assert kept.source == tuple(source[2:])
    assert kept.others["early"].source == tuple(source[:2])
    assert kept.others["early"].references == (tuple((files / "test.en.1").read_text().splitlines()[:2]),)
    assert list(result.tests) == ["late", "early"]
    assert result.scores == {**result.tests["late"].scores, "length_ratio": result.tests["late"].length_ratio}
    system = System.load(folder / "tuned")
    (untuned,) = map(System.load, (tmp_path / "cache").glob("*/system"))
    for test, lines, refs in (
        ("test.txt", kept.source, kept.references),
        ("tests/early.txt", kept.others["early"].source, kept.others["early"].references),
    ):
        text = (folder / test).read_text().splitlines()
        assert text == list(system.translate(lines, preset="fast"))
        scores = result.tests["late" if test == "test.txt" else "early"]
        expected = sacrebleu.corpus_bleu(text, refs, tokenize="none", force=True)
        assert scores.scores["bleu"] == pytest.approx(expected.score / 100)
        assert scores.precisions == pytest.approx([precision / 100 for precision in expected.precisions])
        assert scores.brevity_penalty == pytest.approx(expected.bp)
        start = list(untuned.translate(lines, preset="fast"))
        expected = sacrebleu.corpus_bleu(start, refs, tokenize="none", force=True)
        kept = "start.txt" if test == "test.txt" else "starts/early.txt"
        assert (folder / kept).read_text().splitlines() == start
        assert result.start["late" if test == "test.txt" else "early"] == pytest.approx(expected.score / 100)
        assert scores.scores["0.5*ter - 0.5*bleu"] == pytest.approx((scores.scores["ter"] - scores.scores["bleu"]) / 2)
    dev = (files / "dev.de").read_text().splitlines()[2:8]
    refs = [(files / f"dev.en.{r}").read_text().splitlines()[2:8] for r in range(2)]
    expected = sacrebleu.corpus_bleu(list(system.translate(dev, preset="fast")), refs, tokenize="none", force=True)
    assert result.tune.scores["bleu"] == pytest.approx(expected.score / 100)
    assert result.start["late"] == result.rounds[0].test
    assert result.tune.scores["bleu"] == pytest.approx(result.best.dev)  # decoded with the weights of the round
    assert load_cells(tmp_path / "run") == [result]


def test_test_sets_of_a_resumed_run(two_tests, tmp_path):
    (whole,) = two_tests(tmp_path, *TWO_TESTS)
    folder = cell_folder(tmp_path / "run", whole.key)
    (folder / "cell.json").unlink()
    (folder / "tests/early.txt").unlink()
    (again,) = two_tests(tmp_path, *TWO_TESTS, resume=True)
    assert (again.tests, again.tune, again.scores) == (whole.tests, whole.tune, whole.scores)
    assert (folder / "tests/early.txt").exists()
    with pytest.raises(InputError, match=r"begun with another text"):
        two_tests(tmp_path, *TWO_TESTS, "corpora.plain.tests.early.limit=1", resume=True)


def test_records_of_before_have_no_scores_of_sets(files, tmp_path):
    (result,) = run(files, tmp_path)
    record = cell_folder(tmp_path / "run", result.key) / "cell.json"
    content = json.loads(record.read_text())
    for name in ("tests", "start", "tune", "units", "checksum"):
        del content[name]
    for entry in content["rounds"]:
        for name in ("n_possible", "spread", "spread_deviation", "fired"):
            del entry[name]
    record.write_text(json.dumps(content))
    (old,) = load_cells(tmp_path / "run")
    assert (old.scores, old.tests, old.tune, old.best.spread) == (result.scores, {}, None, None)


def test_wrong_test_sets(two_tests, files, tmp_path):
    with pytest.raises(InputError, match=r"'corpora.plain.test' is missing"):
        two_tests(tmp_path)
    with pytest.raises(InputError, match=r"'corpora.plain.test' does not go together with 'corpora.plain.tests'"):
        run(files, tmp_path, TWO_TESTS[1])
    with pytest.raises(InputError, match=r"\[corpora.plain.tests.NAME\] is missing"):
        two_tests(tmp_path, "corpora.plain.tests={}")
    with pytest.raises(InputError, match=r"corpora.plain.tests.late.skip = 5: .*test.de has only 5 lines"):
        two_tests(tmp_path, *TWO_TESTS, "corpora.plain.tests.late.skip=5")


@pytest.mark.realdata
def test_real_corpora_are_found(tmp_path, data):
    (tmp_path / "r.toml").write_text(
        RECIPE.replace("train.de.gz", "tatoeba-zh-en/train.zh.xz")
        .replace('"train.en"', '"tatoeba-zh-en/train.en.xz"')
        .replace('"dev.de"', '"tatoeba-zh-en/dev.zh.xz"')
        .replace("dev.en.*", "tatoeba-zh-en/dev.en.?.xz")
        .replace('"test.de"', '"tatoeba-zh-en/test.zh.xz"')
        .replace('["test.en.0", "test.en.1"]', '"tatoeba-zh-en/test.en.*"')
    )
    recipe = read_recipe(tmp_path / "r.toml", data=data)
    found = recipe.select().files["plain"]
    assert [len(part.others) for part in (found.train, found.dev, found.tests["test"])] == [1, 4, 4]
