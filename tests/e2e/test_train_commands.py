"""Sparse weights learned from the training text as a user does it: one command for all steps, or the last one alone."""

from __future__ import annotations

import json
import re

import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.features import Weights, read_weights, write_weights
from dragoman.lm import EstimateConfig
from dragoman.system import System, SystemSettings, TrainConfig, train


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 300, 10, 0, seed=8)
    for name, n_folds in (("system", 3), ("plain", 1)):
        config = TrainConfig(settings=SystemSettings(n_folds=n_folds), lm=EstimateConfig(order=2))
        train(folder / "train.de", folder / "train.en", folder / name, config=config)
    domains = write_lines(folder / "domains", ["odd" if i % 2 else "even" for i in range(300)])
    config = TrainConfig(settings=SystemSettings(n_folds=3), lm=EstimateConfig(order=2))
    train(folder / "train.de", folder / "train.en", folder / "labelled", config=config, domains=domains)
    phi = {"rule_id:das,the": 0.5, "rule_id:das,that": -0.25, "reorder_local:m,f_first,das": 0.125}
    for name in ("phi.tsv", "phi.bin"):
        write_weights(Weights.from_dict(phi), folder / name)
    write_weights(Weights.from_dict({"lm": 1.0, "words": -1.0}), folder / "dense.tsv")
    write_weights(Weights.from_dict({"nonsense": 1.0}), folder / "nonsense.tsv")
    return folder


def words(made, *more, system="system", out="tuned"):
    dev = ["--source", made / "dev.de", "-r", made / "dev.en"]
    return ["tune", "--system", made / system, *dev, "--rounds", 1, "--fast", "-o", out, *more]


LEARN = ["--train", "--method", "softramp", "--set", "max_epochs=2", "--features", "rule_id", "--k", 20, "--limit", 90]
KEEP = ["--keep", "last"]  # whatever ten sentences of a development set say


def test_all_steps_by_one_command(made, inside, tmp_path):
    shown = inside(*words(made, *LEARN, *KEEP, "--json"))
    told = shown.json
    assert [(step["name"], step["n_lines"]) for step in told["steps"]] == [("theta", 10), ("lists", 90), ("model", 90)]
    assert told["steps"][2]["score_after"] > told["steps"][2]["score_before"]
    assert len(told["rounds"]) == 2
    lines = shown.err.splitlines()
    assert "theta: search on 10 lines of the development set" in lines
    assert "lists: lists of 90 lines of the training text" in lines
    assert "model: softramp on 90 lists" in lines
    assert any(
        line.startswith("note: theta: mert on the development set, because the weights of the start") for line in lines
    )
    tuned = System.load(tmp_path / "tuned")
    assert tuned.settings.features == ("rule_id",)
    assert sum(name.startswith("rule_id:") for name, _ in tuned.weights.items()) > 50
    inside("translate", "tuned", "-i", made / "dev.de", "-o", "out")
    assert "was finished before" in inside(*words(made, *LEARN, *KEEP, "--resume")).out
    # The steps' own files are those that other commands read.
    (lists,) = (tmp_path / "tuned/tune/steps").glob("lists-*/lists")
    assert inside("lists", "info", lists, "--json").json["n_lists"] == 90


def test_the_seed_is_that_of_all_steps(made, inside, tmp_path):
    for seed in (1, 2):
        inside(*words(made, *LEARN, "--seed", seed, "--quiet", out=f"tuned{seed}"))
    theta = [next((tmp_path / f"tuned{seed}/tune/steps").glob("theta-*")) for seed in (1, 2)]
    assert theta[0].name != theta[1].name


def test_lists_by_all_tables_are_told_as_such(made, inside):
    said = inside(*words(made, *LEARN, "--all-data", "--theta", "system")).err
    assert "of lines by tables that have seen them" in said


def test_a_tuned_system_is_the_baseline_as_it_is(made, inside, tmp_path):
    inside(*words(made, "--k", 20, "--set", "n_starts=2"))
    shown = inside(*words(made, *LEARN, "--json", system=tmp_path / "tuned", out="more"))
    assert [step["name"] for step in shown.json["steps"]] == ["lists", "model"]
    assert "note: theta: the weights of the start as they are" in shown.err
    shown = inside(*words(made, *LEARN, "--json", "--theta", "search", system=tmp_path / "tuned", out="other"))
    assert [step["name"] for step in shown.json["steps"]] == ["theta", "lists", "model"]


@pytest.mark.parametrize("last", ["dev", "blocks", "held-out", "held-out-blocks"])
def test_a_last_search_is_an_option(made, inside, tmp_path, last):
    shown = inside(*words(made, *LEARN, *KEEP, "--last", last, "--blocks", "one", "--json")).json
    assert shown["blocks"].keys() == {"phi"}
    names = [step["name"] for step in shown["steps"]]
    assert names == ["theta", "lists", "model", *(["search"] if "held-out" in last else [])]
    (model,) = (tmp_path / "tuned/tune/steps").glob("model-*/weights.tsv")
    learned, tuned = read_weights(model), System.load(tmp_path / "tuned").weights
    dense = System.load(tmp_path / "tuned").translator.dense()
    before, after = (sum(abs(weights[name]) for name in dense) for weights in (learned, tuned))
    for name, value in learned.items():
        if name.startswith("rule_id:"):
            assert tuned[name] == pytest.approx(after / before * shown["blocks"]["phi"] * value, rel=1e-9)
    if "held-out" in last:
        assert shown["steps"][2]["n_lines"] < 90


def test_held_out_lines_are_of_the_domain(made, inside):
    more = ["--where", "odd", "--last", "held-out-blocks", "--theta", "system", "--json"]
    told = {step["name"]: step for step in inside(*words(made, *LEARN, *more, system="labelled")).json["steps"]}
    training = System.load(made / "labelled").training
    lines = training.select(where="odd")
    assert 0 < told["search"]["n_lines"] == sum(training.folds[lines] == 2) < sum(training.folds == 2)


@pytest.mark.parametrize("name", ["phi.tsv", "phi.bin"])
@pytest.mark.parametrize("blocks", ["one", "template", "orientation", "none"])
def test_weights_that_are_given_become_blocks(made, inside, tmp_path, name, blocks):
    phi = ["--phi", made / name, "--features", "rule_id", "--features", "reorder_local", "--blocks", blocks]
    shown = inside(*words(made, *phi, "--k", 20, "--set", "n_starts=2", "--json"))
    wanted = {"one": {"phi"}, "template": {"phi_rule_id", "phi_reorder_local"}, "orientation": {"phi_rule_id", "phi_m"}}
    assert shown.json["blocks"].keys() == wanted.get(blocks, set())
    assert "last: search on 10 lines of the development set" in shown.err.splitlines()
    assert System.load(tmp_path / "tuned").weights["rule_id:das,the"] != 0
    record = json.loads((tmp_path / "tuned/system.json").read_text())["about"]["tuning"]
    assert record["blocks"] == shown.json["blocks"]


RULES = ["--features", "rule_id", "--features", "reorder_local"]
REFUSED = {
    "without folds": (LEARN, {"system": "plain"}, "train it with --folds"),
    "one candidate": ([*LEARN, "--k", 1], {}, "at least two candidates of a sentence, not 1"),
    "an unknown kind of blocks": ([*LEARN, "--blocks", "words"], {}, "words"),
    "an unknown last search": ([*LEARN, "--last", "test"], {}, "test"),
    "blocks alone without blocks": ([*LEARN, "--blocks", "none", "--last", "blocks"], {}, "without blocks there is"),
    "blocks of nothing": (
        ["--blocks", "one"],
        {},
        "--blocks is for learned sparse weights; add --train, or --phi FILE",
    ),
    "a domain of nothing": (["--where", "news"], {}, "--where belongs to --train"),
    "no such domain": ([*LEARN, "--where", "news"], {}, "train the system with --domains"),
    "what is given and learned": ([*LEARN, "--phi", "{made}/phi.tsv"], {}, "leave out one of them"),
    "online": (["--train", "--online", "--method", "mira"], {}, "leave out --online, or say --learn-from training"),
    "a fold": ([*LEARN, "--without-fold", 1], {}, "--train leaves out the fold of each line"),
    "forests": (["--train", "--method", "forest-mert"], {}, "not from lists of the training text"),
    "hols": (["--train", "--method", "hols"], {}, "hols reads the training text by itself"),
    "dense weights": (["--phi", "{made}/dense.tsv", *RULES], {}, "phi has no weight of a sparse feature"),
    "no feature of the system": (["--phi", "{made}/nonsense.tsv", *RULES], {}, "nor of a template: nonsense"),
    "no such templates": (["--phi", "{made}/phi.tsv"], {}, "which the system does not use; name the set"),
    "no such file": (["--phi", "{made}/none.tsv", *RULES], {}, "No such file"),
    "no lines": ([*LEARN[:-1], 0], {}, "--limit must be at least 1"),
    "a fold of held-out lines": (
        ["--phi", "{made}/phi.tsv", *RULES, "--last", "held-out", "--without-fold", 1],
        {},
        "--last held-out leaves out the fold of its lines; leave out --without-fold",
    ),
    "blocks of no search": ([*LEARN, "--blocks", "one"], {}, "--blocks belongs to a last search; leave it out"),
    "blocks of no search for phi": (
        ["--phi", "{made}/phi.tsv", *RULES, "--last", "none", "--blocks", "one"],
        {},
        "--blocks belongs to a last search; leave it out",
    ),
    "a block of no search": ([*LEARN, "--freeze", "phi_x"], {}, "'phi_x' cannot be frozen: there is no last search"),
    "a block that cannot be": (
        [*LEARN, "--last", "dev", "--blocks", "template", "--freeze", "phi_x"],
        {},
        "'phi_x' cannot be frozen: there are phi_rule_id",
    ),
    "a held-out fold": ([*LEARN, "--set", "held_out_fold=7"], {}, "held_out_fold=7 leaves nothing to watch"),
    "a held-out fold of the last search": (
        [*LEARN, "--last", "held-out", "--set", "held_out_fold=2"],
        {},
        "are of folds 0, 1",
    ),
}


@pytest.mark.parametrize(("more", "changes", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_and_leaves_nothing(made, inside, tmp_path, more, changes, message):
    more = [str(word).format(made=made) for word in more]
    shown = inside(*words(made, *more, **changes), status=2)
    assert message in " ".join(shown.err.split())
    assert not (tmp_path / "tuned").exists()


RECIPE = """
title = "Learning from lists"
[corpora.c]
synth = { train = 250, dev = 10, test = 10 }
[systems.phrase]
lm_order = 2
folds = 3
preset = "fast"
[features.rules]
templates = ["rule_id"]
[features.local]
templates = ["reorder_local"]
[optimisers.mert]
k = 20
distinct = true
max_rounds = 1
settings = { n_starts = 2 }
[optimisers.softramp]
learn_from = "lists"
k = 20
limit = 90
max_rounds = 1
settings = { max_epochs = 2 }
phi = { search = { settings = { n_starts = 2 } } }
[optimisers.small]
method = "softramp"
learn_from = "lists"
k = 20
limit = 90
max_rounds = 1
settings = { max_epochs = 2 }
phi = { size = 60, last = "blocks", blocks = "template", search = { settings = { n_starts = 2 } } }
[[grid]]
features = ["rules"]
optimisers = ["mert"]
seeds = [1]
[[grid]]
optimisers = ["softramp", "small"]
seeds = [1, 2]
"""


def test_rows_of_a_recipe_share_baseline_and_lists(inside, tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    plan = {cell["cell"]: cell for cell in inside("run", "r.toml", "-o", "run", "--dry-run", "--json").json["cells"]}
    steps = [plan[f"c/phrase/rules/{name}"].get("steps") for name in ("mert/1", "softramp/1", "small/2")]
    assert steps == [None, ["theta", "lists"], ["theta", "lists", "model"]]
    inside("run", "r.toml", "-o", "run", "--quiet")
    inside("run", "r.toml", "-o", "run", "--resume", "--quiet")

    def result(cell):
        folder = tmp_path / "run/cells/c/phrase" / cell
        return json.loads((folder / "tuned/tune/result.json").read_text())

    found = {
        cell: [step["found"] for step in result(cell)["steps"]]
        for features in ("rules", "local")
        for row in ("softramp", "small")
        for cell in (f"{features}/{row}/1", f"{features}/{row}/2")
    }
    assert found == {
        "rules/softramp/1": [False, False, False],
        "rules/softramp/2": [True, True, False],
        "rules/small/1": [True, True, False],
        "rules/small/2": [True, True, True],
        "local/softramp/1": [True, True, False],
        "local/softramp/2": [True, True, False],
        "local/small/1": [True, True, False],
        "local/small/2": [True, True, True],
    }
    # Theta is what the baseline's first seed found.
    theta, best = result("rules/softramp/1"), result("rules/mert/1")
    assert theta["steps"][0]["score_after"] == best["score_after"]
    assert theta["score_before"] == best["score_after"]
    cell = json.loads((tmp_path / "run/cells/c/phrase/rules/small/2/cell.json").read_text())
    assert [(step["name"], step["cached"]) for step in cell["steps"]] == [
        ("theta", True),
        ("lists", True),
        ("model", True),
    ]
    inside("report", "run", "-o", "page.html")


FILES = """
title = "Domains"
[corpora.c]
train = { source = "train.de", target = "train.en", skip = 20 }
dev = { source = "dev.de", references = "dev.en" }
test = { source = "dev.de", references = "dev.en" }
domains = "train.domain"
[systems.phrase]
lm_order = 2
folds = 3
preset = "fast"
[systems.plain]
lm_order = 2
preset = "fast"
[features.rules]
templates = ["rule_id"]
[optimisers.lists]
method = "softramp"
learn_from = "lists"
k = 20
max_rounds = 1
settings = { max_epochs = 2 }
phi = { where = "!odd", search = { settings = { n_starts = 2 } } }
[[grid]]
systems = ["phrase"]
seeds = [1]
"""


def test_a_recipe_can_learn_from_a_domain(made, inside, tmp_path):
    for name in ("train.de", "train.en", "dev.de", "dev.en"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    n_lines = len((made / "train.de").read_text(encoding="utf-8").split("\n")) - 1
    labels = ["odd" if i % 2 else "even" if i % 3 else "third" for i in range(n_lines)]
    (tmp_path / "train.domain").write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")
    (tmp_path / "r.toml").write_text(FILES, encoding="utf-8")
    inside("run", "r.toml", "-o", "run", "--quiet")
    result = json.loads((tmp_path / "run/cells/c/phrase/rules/lists/1/tuned/tune/result.json").read_text())
    wanted = sum(label != "odd" for label in labels[20:])
    assert [step["n_lines"] for step in result["steps"]] == [10, wanted, wanted]
    for status, change, message in (
        (1, "optimisers.lists.phi.where='news'", "has no domain 'news'; it has: even, odd, third"),
        (2, "corpora.c.domains='dev.de'", "corpora.c.domains: dev.de has 10 lines but train.de has 300"),
    ):
        shown = inside("run", "r.toml", "-o", f"other-{status}", "--set", change, status=status)
        assert message in " ".join(shown.err.split())
    (tmp_path / "s.toml").write_text(FILES.replace('domains = "train.domain"\n', ""), encoding="utf-8")
    assert "'corpora.c.domains' is missing" in " ".join(inside("run", "s.toml", "-o", "s", status=2).err.split())


WRONG = {
    "a system without folds": ("systems.phrase.folds=1", "'systems.phrase.folds' must be at least 2"),
    "a search without templates": ("features.rules.templates=[]", "features.rules has no templates"),
    "phi of no lists": ("optimisers.softramp.learn_from='development'", 'learn_from = "lists"'),
    "a kind of blocks": ("optimisers.small.phi.blocks='words'", "optimisers.small.phi.blocks"),
    "a key": ("optimisers.small.phi.block='one'", "'optimisers.small.phi.block' is not a key"),
    "a search": ("optimisers.small.phi.search.method='forest-mert'", "forest-mert cannot search for theta"),
    "no blocks": ("optimisers.small.phi.blocks='none'", "nothing to tune by last = blocks"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_recipes_are_checked_before_anything_runs(inside, tmp_path, change, message):
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    shown = inside("run", "r.toml", "-o", "run", "--set", change, status=2)
    assert message in " ".join(shown.err.split())
    assert not (tmp_path / "run").exists()


def test_held_out_lines_come_first_in_what_is_said(inside, tmp_path):
    """A training text that is large enough to keep lines aside; what is learned is nonsense, or nothing."""
    inside("corpus", "synth", "-n", 1300, "--dev", 20, "--test", 5, "-o", "c", "--quiet")
    inside("train", "-s", "c/train.de", "-t", "c/train.en", "--folds", 4, "-o", "system", "--quiet", "--lm-order", 2)
    learn = ["--train", "--features", "rule_id", "--k", 10, "--limit", 200, "--fast", "--theta", "system"]
    words = ["tune", "--system", "system", "--source", "c/dev.de", "-r", "c/dev.en", *learn]
    shown = inside(*words, "--method", "perceptron", "--set", "step=100", "--set", "max_epochs=1", "-o", "bad")
    assert re.search(r"judge: decoding \d\d lines of the training text that nothing was learned from", shown.err)
    assert re.search(r"round 1: score [\d.]+, .* length ratio \d\.\d\d\d\n", shown.err)
    first, second = shown.out.splitlines()[-2:]
    assert re.match(r"bleu of \d\d held-out lines: [\d.]+ -> [\d.]+; the start is kept \(", first)
    assert re.match(r"bleu of the development set: ([\d.]+) -> \1; θ was fitted", second)
    assert re.search(r"warning: what was learned decodes \d\d held-out lines .* worse than the start", shown.err)
    shown = inside(*words, "--method", "softramp", "--set", "max_epochs=1", "-o", "good", "--judge-lines", 60, "--json")
    judged = shown.json["held_out_lines"]
    assert (judged["n_lines"], judged["kept"]) == (60, "start" if judged["worse"] else "learned")
    assert 5 < judged["score_after"] < 100
    assert [step["name"] for step in shown.json["steps"]] == ["lists", "model", "judge"]
    assert all(0.5 < entry["length_ratio"] < 1.5 for entry in shown.json["rounds"])
    refused = inside(*words[:7], "--judge-lines", 60, "-o", "none", status=2)
    assert "--judge-lines judge what was learned from the training text" in " ".join(refused.err.split())
