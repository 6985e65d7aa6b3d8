"""Recipes are read and checked whole before anything runs."""

from __future__ import annotations

from math import inf

import pytest
from tests.kit.small_text import write_lines

from dragoman.analysis import Primary
from dragoman.demo import QUICKSTART
from dragoman.errors import InputError
from dragoman.experiments import read_recipe
from dragoman.optim import Mert, OnlineMira

RECIPE = """
title = "Small"
[corpora.files]
train = { source = "train.de", target = "train.en" }
dev = { source = "dev.de", references = "dev.en.*", limit = 2 }
test = { source = "test.de", references = ["test.en.0", "test.en.1"] }
[corpora.made]
synth = { train = 100, dev = 5, test = 5 }
[systems.phrase]
reordering = "msd"
[systems.hiero]
model = "hiero"
rules = { max_symbols = 6, added = true, cut = "composed", max_added = 0.1 }
[features.dense]
templates = []
[features.extended]
templates = ["extended"]
[optimisers.mert]
k = 20
max_rounds = 2
settings = { n_starts = 3 }
[optimisers.smooth]
method = "pro"
settings = { sentence_bleu.grounded = true }
[[grid]]
corpora = ["made"]
features = ["dense"]
seeds = [1, 2]
[[grid]]
systems = ["phrase"]
optimisers = ["smooth"]
seeds = [2, 7]
[report]
baseline = "mert"
[[published]]
optimiser = "mert"
score = 25.5
source = "Table 1"
"""


@pytest.fixture
def folder(tmp_path):
    for name, n in (("train", 6), ("dev", 3), ("test", 2)):
        write_lines(tmp_path / f"{name}.de", [f"satz {i}" for i in range(n)])
        for side in ("en",) if name == "train" else ("en.0", "en.1"):
            write_lines(tmp_path / f"{name}.{side}", [f"sentence {i}" for i in range(n)])
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def read(folder, *changes, data=None):
    return read_recipe(folder / "r.toml", changes, data=data)


def test_the_grid_is_the_union_of_its_products(folder):
    recipe = read(folder)
    names = [cell.name for cell in recipe.cells]
    assert len(names) == len(set(names))
    product = {f"made/{s}/dense/{o}/{seed}" for s in ("phrase", "hiero") for o in ("mert", "smooth") for seed in (1, 2)}
    more = {f"{c}/phrase/{f}/smooth/{n}" for c in ("files", "made") for f in ("dense", "extended") for n in (2, 7)}
    assert set(names) == product | more
    assert recipe.published[0]["score"] == 25.5
    assert recipe.optimisers["smooth"].optimiser.name == "pro"
    assert recipe.optimisers["mert"].config.loop.max_rounds == 2


def test_files_are_found_when_their_cells_are_chosen(folder):
    recipe = read(folder)
    files = recipe.select(["files/*"]).files["files"]
    assert [path.name for path in files.dev.others] == ["dev.en.0", "dev.en.1"]
    assert files.dev.limit == 2
    (folder / "dev.en.0").unlink()
    (folder / "dev.en.1").unlink()
    assert len(recipe.select(["made/*/mert/*"]).cells) == 4
    with pytest.raises(InputError, match=r"corpora.files.dev.references: no file matches 'dev.en.\*'"):
        recipe.select()


def test_files_can_be_elsewhere(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("recipes")
    (folder / "r.toml").rename(other / "r.toml")
    with pytest.raises(InputError, match="paths are relative to the recipe, or to `data`"):
        read(other).select()
    assert read(other, data=folder).select().files["files"].train.source == folder / "train.de"


def test_changes(folder):
    online = read(folder, "optimisers.m={method='mira', online=true, settings={passes=2}}").optimisers["m"]
    assert online.optimiser == OnlineMira(passes=2)
    bounded = read(folder, "optimisers.mert.settings.bounds.lm=[0, inf]", "optimisers.mert.settings.features=lm,words")
    assert bounded.optimisers["mert"].optimiser == Mert(n_starts=3, bounds={"lm": (0.0, inf)}, features=("lm", "words"))
    assert read(folder, "optimisers.mert.k=30").optimisers["mert"].config.k == 30
    assert {cell.seed for cell in read(folder, "grid.seeds=[9]").cells} == {9}
    assert {cell.seed for cell in read(folder, "grid.1.seeds=[9]").cells} == {1, 2, 9}
    assert read(folder, "systems.hiero={model='hiero', max_span=9}").systems["hiero"].train.settings.model.max_span == 9


def test_a_recipe_names_its_primary_comparison(folder):
    assert read(folder).report.primary is None
    plain = read(folder, "report={focus='smooth', primary={baseline='start'}}")
    assert plain.report.primary == Primary(rows=("smooth",), baseline="start", metric="bleu")
    whole = "{rows=['phrase/*/smooth', 'mert'], baseline='mert', metric='(ter-bleu)/2', tests=['made', 'files/new']}"
    more = read(folder, f"report={{metrics=['bleu', '(ter-bleu)/2'], primary={whole}}}")
    for recipe in (plain, more):
        assert Primary.of_report(recipe.content["report"]) == recipe.report.primary
    assert more.report.primary.tests == ("made", "files/new")


def test_cells_whose_every_round_is_tested(folder):
    assert not read(folder, "report.rounds_on_test='*/7'", "grid.seeds=[1]").report.follows(read(folder).cells[0])
    for value, expected in (
        ("true", {1, 2, 7}),
        ("false", set()),
        ("'made/*/1'", {1}),
        ("['*/2', '*/7']", {2, 7}),
        ("'*/[12]'", {1, 2}),
    ):
        recipe = read(folder, f"report.rounds_on_test={value}")
        assert {cell.seed for cell in recipe.cells if recipe.report.follows(cell)} == expected


BAD = {
    "not a file": ("corpora.files.test.source='absent'", "corpora.files.test.source: ", "absent does not exist"),
    "an empty pattern": ("corpora.files.test.references='no*'", "corpora.files.test.references: no file matches 'no*'"),
    "several sources": ("corpora.files.dev.source='*.de'", "dev.source: one file was expected, but '*.de' matches 3"),
    "line counts": ("corpora.files.dev.references='train.en'", "has 6 lines but", "dev.de has 3; they must be line-al"),
    "no references": ("corpora.files.dev={source='dev.de'}", "'corpora.files.dev.references' is missing"),
    "no training text": ("corpora.files={dev={}}", "'corpora.files.train' is missing; expected a table"),
    "an alignment that does not fit": ("corpora.files.align='dev.de'", "corpora.files.align:", "has 3 lines"),
    "a missing alignment": ("systems.phrase.align='given'", "'corpora.files.align' is missing"),
    "synth and files": (
        "corpora.files.synth={train=1,dev=1,test=1}",
        "'corpora.files.train' does not go together with",
    ),
    "raw without languages": ("corpora.files.raw=true", "'corpora.files.languages' is missing"),
    "languages": ("corpora.files.languages='german'", "corpora.files.languages = 'german': expected two codes such"),
    "a size that is too great": (
        "corpora.made.synth.train=9223372036854775808",
        "synth.train = 9223372036854775808: e",
    ),
    "a size": ("corpora.made.synth.train=0", "corpora.made.synth.train = 0: expected at least 1"),
    "a misspelt key": (
        "systems.phrase.reorderin='msd'",
        "'systems.phrase.reorderin' is not",
        "did you mean reordering?",
    ),
    "a misspelt value": ("systems.phrase.reordering='mds'", "systems.phrase.reordering = 'mds': did you mean msd?"),
    "an unknown model": ("systems.phrase.model='neural'", "expected one of phrase, hiero"),
    "a key of the other model": ("systems.hiero.reordering='msd'", "'systems.hiero.reordering' does not belong to"),
    "an aligner": ("systems.phrase.align='giza'", "expected one of given, fast"),
    "an order": ("systems.phrase.lm_order=50", "systems.phrase.lm_order = 50: expected 1 to 10"),
    "a limit of rules": ("systems.hiero.rules.max_symbol=3", "'systems.hiero.rules.max_symbol' is not", "max_symbols"),
    "a value of a limit": ("systems.hiero.rules.max_nonterminals=3", "systems.hiero.rules: rules with 0 to 2 nontermi"),
    "a cut of rules": ("systems.hiero.rules.cut='minimal'", "systems.hiero.rules.cut = 'minimal': expected one of all"),
    "a share of words": ("systems.hiero.rules.max_added=2", "systems.hiero.rules: max_added is a share of the words"),
    "a template": ("features.extended.templates=['word_pear']", "features.extended: unknown template 'word_pear'"),
    "templates of no model": (
        "features.dense.templates={tree=[]}",
        "'features.dense.templates.tree' is not a key of a recipe: expected",
    ),
    "no templates of a model in the grid": (
        "features.dense.templates={hiero=[]}",
        "features.dense.templates: systems.phrase needs 'phrase'",
    ),
    "templates of another model": (
        "features.dense.templates={phrase=['rm_sparse'], hiero=[]}",
        "features.dense of ",
        "/phrase/dense/",
        "which a phrase-based system lacks; leave it out, or take rm_phrase instead of rm_sparse",
    ),
    "a number of classes": (
        "systems.phrase.classes=[20, 0]",
        "systems.phrase.classes = [20, 0]: expected a list of whole",
    ),
    "classes twice": ("systems.phrase.classes=[20, 20]", "systems.phrase.classes = [20, 20]: duplicate number"),
    "too many classes": (
        "systems.phrase.classes=[5000]",
        "systems.phrase: the number of classes must be from 1 to 2048",
    ),
    "no templates": ("features.dense={}", "'features.dense.templates' is missing"),
    "a method": ("optimisers.smooth.method='magic'", "optimisers.smooth: there is no method 'magic'"),
    "a setting": ("optimisers.mert.settings.n_start=3", "optimisers.mert: mert has no setting 'n_start'"),
    "a value of a setting": ("optimisers.mert.settings.n_starts=0", "optimisers.mert: mert needs at least one start"),
    "a kind of setting": (
        "optimisers.mert.settings.n_starts=[1]",
        "optimisers.mert: n_starts = [1]: expected a whole number",
    ),
    "a metric": ("optimisers.mert.metric='blue'", "optimisers.mert: 'blue' is not a metric"),
    "a list size": ("optimisers.mert.k=1", "optimisers.mert.k = 1: expected at least 2"),
    "rounds": ("optimisers.mert.max_rounds=0", "optimisers.mert: tuning needs at least one round, not 0"),
    "a fold": ("optimisers.mert.fold=1", "optimisers.mert.fold = 1: 'systems.phrase.folds' is 1"),
    "a context of other passes": (
        "optimisers.smooth={method='rm', settings={context='previous'}}",
        "optimisers.smooth: fixed lists have no previous pass; learn online",
    ),
    "learners without a sentence": (
        "optimisers.smooth={method='mira', online=true, settings={learners=3}}",
        "optimisers.smooth of files/phrase/dense/smooth/2: 3 learners for 2 sentences; each needs one at least",
    ),
    "learners without a made sentence": (
        "optimisers.mert={method='rm', online=true, settings={learners=6}}",
        "optimisers.mert of made/phrase/dense/mert/1: 6 learners for 5 sentences",
    ),
    "folds that are measured live": (
        "optimisers.smooth={method='rm', online=true, learn_from='training', settings={measure='live'}}",
        "optimisers.smooth: the training text is learned from, the development set measured: measure by decoding",
    ),
    "folds for a method of lists": (
        "optimisers.smooth.learn_from='training'",
        "optimisers.smooth: pro cannot learn from the training text as it decodes; online mira, rm, svm, softramp can",
    ),
    "online": (
        "optimisers.smooth.online=true",
        "optimisers.smooth: pro cannot learn online; there are: mira, rm, svm, softramp",
    ),
    "a setting online": ("optimisers.m={method='mira', online=true, settings={pass=1}}", "online-mira has no setting"),
    "keep": ("optimisers.mert.keep='first'", "optimisers.mert.keep = 'first': expected one of best, last"),
    "a name in the grid": (
        "grid.optimisers=['merd']",
        "grid.0.optimisers = ['merd']: there is no 'merd'",
        "mean mert?",
    ),
    "no seeds": ("grid.seeds=[]", "grid.0.seeds = []: expected a list of whole numbers"),
    "seeds": ("grid.seeds=[1, -1]", "expected a list of whole numbers of at least 0"),
    "a seed twice": ("grid.seeds=[1, 1]", "grid.0.seeds = [1, 1]: duplicate number"),
    "a seed that is no number": ("grid.seeds='1'", "grid.0.seeds = '1': expected a list"),
    "no grid": ("grid=[]", "[[grid]] is missing"),
    "a name that is no folder": ("systems.'../up'={}", "the name '../up' may only hold letters, digits"),
    "a baseline": ("report.baseline='mort'", "report.baseline = 'mort': did you mean mert?"),
    "one of two baselines": ("report.baseline=['mert', 'mort']", "did you mean mert?"),
    "a focus": ("report.focus='mort'", "report.focus = 'mort': did you mean mert?"),
    "a focus against nobody": ("report.against=['mert']", "report.against = ['mert']: expected other optimisers than"),
    "a focus against itself": ("report={focus='mert', against=['mert']}", "expected other optimisers than 'report.foc"),
    "one of the others": ("report={focus='mert', against='smoth'}", "report.against = 'smoth': did you mean smooth?"),
    "a primary comparison of nothing": ("report.primary={baseline='mert'}", "'report.primary.rows' is missing"),
    "a primary comparison with nothing": ("report.primary={rows='smooth'}", "'report.primary.baseline' is missing"),
    "its rows": ("report.primary={rows='smoth', baseline='mert'}", "report.primary.rows = 'smoth': no row matches"),
    "its baseline": (
        "report.primary={rows='smooth', baseline='mort'}",
        "primary.baseline = 'mort': did you mean mert?",
    ),
    "its metric": ("report.primary={rows='smooth', baseline='mert', metric='wer'}", "report.primary.metric = 'wer': "),
    "its test sets": (
        "report.primary={rows='smooth', baseline='mert', tests='mode'}",
        "tests = 'mode': no corpus matches",
    ),
    "what it lacks": ("report.primary={rows='smooth', baseline='mert', p=1}", "'report.primary.p' is not a key"),
    "a group": ("report.within='sytem'", "report.within = 'sytem': "),
    "samples": ("report.samples=-1", "report.samples = -1: expected 0 to 200"),
    "a flag": ("report.rounds_on_test=1", "report.rounds_on_test = 1: expected true or false"),
    "a pattern without a seed": ("report.rounds_on_test='*prro*'", "no cell matches *prro*"),
    "a pattern of cells": ("report.rounds_on_test='x/*'", "no cell matches x/*; cells are named like "),
    "a reported metric": ("report.metrics=['rouge']", "report: 'rouge' is not a metric"),
    "a published row": ("published.score='high'", "published.0.score = 'high': expected"),
    "a published figure": ("published.score=nan", "published.0.score = nan: expected a number of less than 64 bits"),
    "a published deviation": (
        "published.deviation=inf",
        "published.0.deviation = inf: expected a number of less than 64 bits",
    ),
    "a seed that is too great": ("grid.seeds=[9223372036854775808]", "grid.0.seeds = ", "of less than 64 bits"),
    "a kind": ("kind='else'", "kind = 'else': expected one of systems, lists, synthetic"),
    "no title": ("title=''", "'title' is missing; expected text"),
    "a top-level key": ("titel='x'", "'titel' is not a key of a recipe: did you mean title?"),
    "a table that is none": ("systems.phrase=1", "systems.phrase = 1: expected a table"),
    "no systems": ("systems={}", "[systems.NAME] is missing"),
    "a value that is no TOML": ("grid.seeds=[1", "=[1: this is not TOML"),
    "a comment": ("#title='x'", "--set #title='x': '#title' is not a key"),
    "no value": ("title", "--set title: expected KEY=VALUE"),
    "a change of no table": ("title.x=1", "--set title.x=1: what holds 'x' is not a table"),
    "a table that is not there": ("grid.7.seeds=[1]", "there is no table 7; the last is 1"),
    "a command": ("optimisers.mert.decoder='moses'", "'optimisers.mert.decoder' is not a key"),
}


@pytest.mark.parametrize(("change", "parts"), [(bad[0], bad[1:]) for bad in BAD.values()], ids=BAD)
def test_bad_recipes_are_told_what_is_wrong(folder, change, parts):
    with pytest.raises(InputError) as caught:
        read(folder, change).select()
    for part in parts:
        assert part in str(caught.value)


def test_learners_of_sentences_and_folds(folder):
    online = "optimisers.smooth={method='mira', online=true, settings={learners=2}}"
    assert read(folder, online).select(["files/*"])
    folds = online.replace("online=true", "online=true, learn_from='training'")
    with pytest.raises(InputError, match=r"smooth.learn_from: 'systems.phrase.folds' must be at least 2"):
        read(folder, folds).select(["files/*"])
    with pytest.raises(InputError, match=r"smooth of files/.*/2: each of 3 folds has a learner; leave out learners=2"):
        read(folder, folds, "systems.phrase.folds=3").select(["files/*"])
    for change in ("systems.phrase.folds=2", "optimisers.smooth.limit=2"):
        assert read(folder, folds, "systems.phrase.folds=3", change).select(["files/*"])


def test_other_mistakes(folder):
    (folder / "r.toml").write_text("title = ", encoding="utf-8")
    with pytest.raises(InputError, match=r"r.toml: is not TOML"):
        read(folder)
    with pytest.raises(InputError, match="cannot be read"):
        read_recipe(folder / "absent.toml")
    (folder / "r.toml").write_text(RECIPE, encoding="utf-8")
    with pytest.raises(InputError, match=r"no cell matches enja/\*; cells are named like files/phrase/dense/smooth/2"):
        read(folder).select(["enja/*"])


def test_published_figures_in_a_file_of_their_own(folder):
    inside, listed = RECIPE.split("[[published]]")
    recipe = folder / "r.toml"
    recipe.write_text('published = "paper.toml"' + inside, encoding="utf-8")
    with pytest.raises(InputError, match=r"r.toml: published = 'paper.toml': there is no file .*paper.toml; expected"):
        read(folder)
    paper = folder / "paper.toml"
    paper.write_text("[[published]]" + listed, encoding="utf-8")
    recipe.rename(folder / "named.toml")
    recipe.write_text(RECIPE, encoding="utf-8")
    named, whole = read_recipe(folder / "named.toml"), read(folder)
    assert named.published == whole.published
    assert named.content == whole.content
    assert read_recipe(folder / "named.toml", ["published.score=1"]).published[0]["score"] == 1.0
    for text, message in (("", "not nothing"), ("title = 'x'\n[[published]]\n", "not title, published"), ("x", "no")):
        paper.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=rf"paper.toml: .*{message}"):
            read_recipe(folder / "named.toml")


def test_recipes_of_the_repository_are_good(request):
    recipes = sorted((request.config.rootpath / "recipes").glob("*.toml"))
    assert {path.stem for path in recipes} >= {"compare-optimisers", "pro-synthetic", "quickstart"}
    for path in recipes:
        read_recipe(path)
    assert (request.config.rootpath / "recipes" / "quickstart.toml").samefile(QUICKSTART)
    quickstart = read_recipe(QUICKSTART)
    assert len(quickstart.select().cells) == 3


def test_templates_by_model(folder):
    by_model = "features.extended.templates={phrase=['extended'], hiero=['extended_rules', 'rule_id']}"
    recipe = read(folder, by_model, "grid.1.systems=['phrase', 'hiero']")
    found = {cell.system: recipe.templates(cell) for cell in recipe.cells if cell.features == "extended"}
    assert found == {"phrase": ("extended",), "hiero": ("extended_rules", "rule_id")}
    assert {recipe.templates(cell) for cell in recipe.cells if cell.features == "dense"} == {()}
