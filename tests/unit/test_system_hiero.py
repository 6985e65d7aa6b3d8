"""Hierarchical systems: training, translation, explanation, folds, tuning, files."""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.errors import InputError
from dragoman.grammar import RuleViewConfig
from dragoman.grammar.rule_tables import read_hiero
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.optim import Mert
from dragoman.system import (
    DenseSet,
    HieroSettings,
    System,
    SystemSettings,
    TrainConfig,
    export_system,
    import_system,
    train,
)
from dragoman.text import read_lines
from dragoman.tuning import LoopSettings, TuneConfig, tune_system

HIERO = SystemSettings(model=HieroSettings())


def config(dense=DenseSet.FULL14, **changes):
    return TrainConfig(settings=SystemSettings(model=HieroSettings(dense=dense), **changes), lm=EstimateConfig(order=3))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_splits(folder, 400, 20, 12, seed=1)
    return folder


@pytest.fixture(scope="module")
def built(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("systems") / "system"
    return train(text / "train.de", text / "train.en", out, config=config(n_folds=3), n_threads=2)


@pytest.fixture(scope="module")
def sources(text):
    return (text / "test.de").read_text(encoding="utf-8").splitlines()


def test_translates_line_by_line_and_keeps_empty_lines(built, sources):
    lines = [sources[0], "", "qwertz äöü", *sources[1:]]
    one = list(built.translate(lines))
    assert len(one) == len(lines)
    assert one[1:3] == ["", "qwertz äöü"]
    assert one == list(System.load(built.folder).translate(lines, n_threads=3))
    assert System.verify(built.folder)


def test_an_explanation_is_a_tree_that_adds_up(built, sources):
    n_rules = 0
    for sentence in [*sources[:6], "qwertz"]:
        found = built.explain(sentence)
        n_words = len(sentence.split())
        assert found.text == next(built.translate([sentence]))
        assert found.score == pytest.approx(built.kbest([sentence], 1).shards[0].totals[0], abs=1e-4)
        assert sum(item.contribution for item in found.features) == pytest.approx(found.score)
        assert sum(piece.score for piece in found.pieces) == pytest.approx(found.score, abs=1e-6)
        own = [word for piece in found.pieces for word in piece.source.split() if not word.startswith("[")]
        assert sorted(own) == sorted(sentence.split())
        assert all(s < n_words and t < len(found.text.split()) for s, t in found.alignment)
        assert found.tree[0].startswith("[S] -> ")
        assert found.tree[0].endswith(f"(0:{n_words})")
        n_rules += sum("[X,1]" in line and line.strip().startswith("[X]") for line in found.tree)
        assert json.loads(json.dumps(found.to_json()))["tree"] == list(found.tree)
        assert any(found.tree[-1] in line for line in found.lines())
    assert n_rules > 0  # some rule has a nonterminal


def words_of(nodes, place, side):
    """The words that a rule of the tree and those below it derive."""
    for symbol in getattr(nodes[place], side):
        if isinstance(symbol, int):
            yield from words_of(nodes, nodes[place].children[symbol], side)
        else:
            yield symbol


def test_the_nodes_of_an_explanation_derive_both_sides(built, sources):
    for sentence in sources[:6]:
        found = built.explain(sentence)
        marks = {"<s>", "</s>"}
        assert [word for word in words_of(found.nodes, 0, "target") if word not in marks] == found.text.split()
        assert list(words_of(found.nodes, 0, "source")) == sentence.split()
        assert sum(node.score for node in found.nodes) == pytest.approx(found.score)
        assert len(found.nodes) == len(found.tree)
        for node in found.nodes:
            below = [found.nodes[child].span for child in node.children]
            assert all(node.span[0] <= begin < end <= node.span[1] for begin, end in below)
            if node.piece >= 0:
                assert found.pieces[node.piece].positions == node.positions
                assert found.pieces[node.piece].score == pytest.approx(node.score)
        assert json.loads(json.dumps(found.to_json()))["nodes"][0]["span"] == [0, len(sentence.split())]


def test_links_are_those_of_the_rules(built):
    """Every linked word pair stands in the tables of the view: compare by the rules' own text."""
    view = built.grammar.rule_view()
    sentence = "der alte lehrer liest ein buch ."
    derivation = built.decode(sentence).best(built.weights)
    links = set(built.translator.alignment(derivation))
    expected = 0
    for application in derivation.applications:
        rule = view.rule(application.rule) if application.rule >= 0 else None
        expected += len(rule.alignment) if rule else 0
    passed = sum(a.rule < 0 and a.source[1] - a.source[0] == 1 and a.label == "X" for a in derivation.applications)
    assert len(links) == expected + passed


def test_a_fold_is_left_out(built, sources):
    without = built.view(1)
    assert without.index is built.index
    assert list(without.translate(sources)) != list(built.translate(sources))


def test_decode_reads_a_live_buffer(built, sources):
    buffer = built.weights.values.copy()
    before = [len(built.decode(s, buffer).best(buffer).tokens()) for s in sources[:5]]
    buffer[built.index.find("words")] = 8.0
    after = [len(built.decode(s, buffer).best(buffer).tokens()) for s in sources[:5]]
    assert sum(after) > sum(before)


@pytest.mark.parametrize("dense", DenseSet)
def test_dense_sets_and_templates(text, sources, tmp_path, dense):
    system = train(
        text / "train.de", text / "train.en", tmp_path / "s", config=config(dense=dense, features=("rule_id",))
    )
    names = system.translator.dense()
    assert len(names) == int(dense.value.removeprefix("chiang").removeprefix("full"))
    pool = system.kbest(sources[:3], 5)
    used = pool.index.names(np.unique(pool.shards[0].feature_ids))
    assert any(name.startswith("rule_id") for name in used)
    assert set(used) - set(names)


def test_features_of_places_are_in_pools_forests_and_explanations(built, sources):
    templates = ("rule_id", "structural_distortion", "word_context(top=0,pairs=30)", "rule_shape")
    system = System.load(built.folder).with_templates(templates)
    pool = system.kbest(sources[:3], 50)
    used = {name.split(":")[0] for name in pool.index.names(np.unique(pool.shards[0].feature_ids))}
    assert used >= {"rule_id", "structural_distortion", "word_context", "rule_shape"}
    weights = np.sin(np.arange(len(system.index), dtype=np.float64)) / 4
    weights[: len(system.weights.values)] += system.weights.values
    for sentence in sources[:3]:
        forest = system.decode(sentence, weights)
        best, lists = forest.best(weights), forest.kbest(weights, 1)
        values = dict(zip(system.index.names(lists.features_of(0)[0]), lists.features_of(0)[1].tolist(), strict=True))
        assert best.features() == pytest.approx(values, abs=1e-4)
        linked = sum(value for name, value in values.items() if name.startswith("word_context"))
        passed = sum(a.rule < 0 and a.source[1] - a.source[0] == 1 and a.label == "X" for a in best.applications)
        assert linked == 2 * (len(system.translator.alignment(best)) - passed)
    found = system.explain(sources[0])
    assert sum(item.contribution for item in found.features) == pytest.approx(found.score)
    assert any(item.name.startswith("word_context:") for item in found.features)


def test_tuning_gives_a_system_of_its_own(built, text, tmp_path):
    tuned = tune_system(
        built,
        text / "dev.de",
        [text / "dev.en"],
        tmp_path / "tuned",
        optimiser=Mert(n_starts=2),
        config=TuneConfig(k=20, loop=LoopSettings(max_rounds=2)),
        seed=1,
    )
    assert tuned.settings.kind == "hiero"
    about = tuned.manifest.about["tuning"]
    assert about["score_after"] >= about["score_before"]
    assert about["rounds"][1]["change"] > 0


def test_its_files_are_read_again(built, tmp_path):
    path = export_system(built, tmp_path / "files")["grammar"]
    again = read_hiero(path, tmp_path / "grammar").rule_view(RuleViewConfig(max_targets=0))
    n_rules = 0
    for source in ("der [X,1]", "[X,1] .", "die [X,1] [X,2]", "buch"):
        ours = {(rule.target, rule.scores[:4]) for rule in built.grammar.rule_view().lookup(source)}
        theirs = {(rule.target, rule.scores[:4]) for rule in again.lookup(source)}
        assert sorted(target for target, _ in ours) == sorted(target for target, _ in theirs)
        np.testing.assert_allclose(
            [scores for _, scores in sorted(ours)], [scores for _, scores in sorted(theirs)], atol=1e-4
        )
        n_rules += len(ours)
    assert n_rules > 10
    for name in ("grammar.gz", "lm.arpa.gz", "weights"):
        assert (tmp_path / "files" / name).stat().st_size > 100


def test_exported_and_imported_it_says_the_same(built, sources, tmp_path):
    export_system(built, tmp_path / "files")
    back = import_system(tmp_path / "files", tmp_path / "back", settings=built.settings)
    assert list(back.translate(sources)) == list(built.translate(sources))
    assert back.explain(sources[0]).score == pytest.approx(built.explain(sources[0]).score, abs=1e-3)
    with pytest.raises(InputError, match="imported"):
        back.view(0)
    (tmp_path / "files" / "lm.arpa.gz").unlink()
    with pytest.raises(InputError, match="name one with `lm`"):
        import_system(tmp_path / "files", tmp_path / "none", settings=HIERO)
    (tmp_path / "files" / "grammar.gz").unlink()
    with pytest.raises(InputError, match="no rule-table"):
        import_system(tmp_path / "files", tmp_path / "none", settings=HIERO)


def test_a_grammar_with_labels_becomes_a_system(built, tmp_path):
    folder = tmp_path / "labelled"
    folder.mkdir()
    rules = [
        "[NP] ||| das haus ||| the house ||| P=0.5 ||| 0-0 1-1",
        "[NP] ||| der hund ||| the dog ||| P=1 ||| 0-0 1-1",
        "[VP] ||| sieht [NP,1] ||| sees [1] ||| P=0.25 ||| 0-0",
        "[X] ||| [NP,1] [VP,2] ||| [1] [2] ||| P=2 |||",
    ]
    write_lines(folder / "grammar", rules)
    built.lm().export_arpa(folder / "lm.arpa")
    system = import_system(
        folder, tmp_path / "system", settings=SystemSettings(model=HieroSettings(dense=DenseSet.CHIANG8))
    )
    assert system.grammar.labels == ("NP", "VP", "X")
    assert next(system.translate(["der hund sieht das haus"])) == "the dog sees the house"
    features = {item.name: item.value for item in system.explain("der hund sieht das haus").features}
    assert features["P"] == pytest.approx(3.75)
    assert features["rules"] == 4
    assert System.verify(system.folder)


@pytest.mark.realdata
def test_moses_rules_and_weights_become_a_system(anchors, data, tmp_path):
    text = TrainingText()
    text.add_file(data / "enja" / "train.en.xz")
    estimate(text, EstimateConfig(order=5)).model.save(tmp_path / "lm.bin")
    folder = anchors / "moses-enja" / "hiero"
    system = import_system(folder, tmp_path / "system", lm=tmp_path / "lm.bin", settings=HIERO)
    lines = list(islice(read_lines(data / "enja" / "test.ja.xz"), 100))
    theirs = list(islice(read_lines(folder / "test.out.gz"), 100))
    ours = list(system.translate(lines, n_threads=2))
    assert np.mean([a == b for a, b in zip(ours, theirs, strict=True)]) > 0.6
