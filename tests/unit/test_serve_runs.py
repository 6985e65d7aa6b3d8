"""Recorded runs in the explorer, and its command line."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace

import pytest
from tests.kit.fake_runs import rounds, write_test_set

from dragoman.cli import main
from dragoman.errors import InputError
from dragoman.features import Weights, write_weights
from dragoman.metric import by_name
from dragoman.run import CellKey, CellResult, cell_folder
from dragoman.system import System
from dragoman.tuning import DEVELOPMENT, TEST, BeforeAfter
from dragoman.view.serve import Explorer, read_recorded
from dragoman.view.serve.explorer import Round, Search
from dragoman.view.serve.recorded_sets import read_sets


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """A run with two tunings, one of which failed."""
    run = tmp_path_factory.mktemp("runs") / "experiment"
    key = CellKey(corpus="c", system="phrase", features="dense", optimiser="mert", seed=1)
    for number, entry in enumerate(rounds(3), start=1):
        folder = cell_folder(run, key) / "weights"
        folder.mkdir(parents=True, exist_ok=True)
        weights = {"lm": 0.5 * number, "words": -1.0} | {f"rule_id:{i}": 0.1 + i for i in range(30)}
        write_weights(Weights.from_dict(weights), folder / f"{entry.round:04d}.tsv")
    scores = {"bleu": 0.3, "chrf": 0.5, "ter": 0.6, "length_ratio": 1.0}
    CellResult(key=key, method="mert", rounds=rounds(3), best_round=2, scores=scores).save(run)
    CellResult(key=replace(key, seed=2), error="it failed").save(run)
    return run


def test_a_recorded_run_is_read(cells):
    run = read_recorded(cells)
    shown = json.loads(json.dumps(run.to_json()))
    assert (shown["name"], [tuning["name"] for tuning in shown["tunings"]]) == ("experiment", ["c/phrase/dense/mert/1"])
    tuning = shown["tunings"][0]
    assert tuning["best_round"] == 2
    assert [entry["dev"] for entry in tuning["rounds"]] == pytest.approx([100 * entry.dev for entry in rounds(3)])
    assert [entry["test"] is None for entry in tuning["rounds"]] == [entry.test is None for entry in rounds(3)]
    assert [entry["n_weights"] for entry in tuning["rounds"]] == [32, 32, 32]
    kept = tuning["rounds"][1]["weights"]
    assert (kept["lm"], kept["words"], len(kept)) == (1.0, -1.0, 22)
    assert "rule_id:29" in kept
    assert "rule_id:0" not in kept
    assert run.weights("c/phrase/dense/mert/1", 3)["lm"] == 1.5
    for tuning_name, number in (("c/phrase/dense/mert/1", 4), ("../..", 1)):
        with pytest.raises(InputError, match="the run has no round"):
            run.weights(tuning_name, number)


def test_sentences_are_decoded_with_the_weights_of_a_round(made, cells, sentence):
    explorer = Explorer.load([made / "phrase"], run=read_recorded(cells))
    search = Search(system="phrase", text=sentence, round=Round(tuning="c/phrase/dense/mert/1", number=3))
    found = explorer.explain(search, k=1)
    system = System.load(made / "phrase")
    weights = explorer.run.weights("c/phrase/dense/mert/1", 3).on(system.index)
    assert found["candidates"][0]["tokens"] == next(system.translate([sentence], weights=weights))
    assert found["weights"]["words"] == -1.0
    both = explorer.explain(replace(search, weights={"lm": 3.0}), k=1)
    assert (both["weights"]["lm"], both["weights"]["words"]) == (3.0, -1.0)


def test_weights_of_other_features_are_refused(made, cells, sentence):
    """A hierarchical system has no `distortion`; weights that both have fit both."""
    name = "c/phrase/dense/mert/1"
    both = Explorer.load([made / "phrase", made / "hiero"], run=read_recorded(cells))
    assert [system["tunings"] for system in both.about()["systems"]] == [[name], [name]]
    other = cells.parent / "other"
    shutil.copytree(cells, other)
    folder = cell_folder(other, CellKey(corpus="c", system="phrase", features="dense", optimiser="mert", seed=1))
    write_weights(Weights.from_dict({"lm": 1.0, "distortion": 0.5}), folder / "weights" / "0003.tsv")
    both = Explorer.load([made / "phrase", made / "hiero"], run=read_recorded(other))
    assert [system["tunings"] for system in both.about()["systems"]] == [[name], []]
    search = Search(system="hiero", text=sentence, round=Round(tuning=name, number=3))
    with pytest.raises(InputError, match="has features that hiero lacks; choose a system like the one that was tuned"):
        both.explain(search, k=1)
    assert both.explain(replace(search, system="phrase"), k=1)["weights"]["distortion"] == 0.5


def test_examples_are_of_the_test_set_or_of_the_training_text(made, cells):
    write_test_set(cells, "c", ["ein satz", "zwei"], ["one sentence", "two"])
    run = read_recorded(cells)
    assert run.examples == (("ein satz", "one sentence"), ("zwei", "two"))
    assert Explorer.load([made / "phrase"], run=run).examples() == [*run.examples]
    training = System.load(made / "phrase").training
    pairs = {(training.source(line), training.target(line)) for line in range(len(training))}
    found = Explorer.load([made / "phrase"]).examples()
    assert 10 < len(found) < len(training)
    assert pairs.issuperset(found)


def test_what_is_no_run_is_refused(made, tmp_path):
    with pytest.raises(InputError, match="is no run; expected a folder"):
        read_recorded(made / "phrase")
    (tmp_path / "cells").mkdir()
    with pytest.raises(InputError, match="no finished tuning yet"):
        read_recorded(tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere"),
        (["phrase", "--run", "phrase"], "is no run"),
        (["phrase", "--port", "99999"], "65535"),
        ([], "SYSTEM"),
    ],
)
def test_the_command_refuses_clearly(made, words, message, monkeypatch, capsys):
    monkeypatch.chdir(made)
    monkeypatch.setattr(sys, "argv", ["dragoman", "serve", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_extra_is_asked_for(made, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "dragoman.view.serve.server", raising=False)
    monkeypatch.setattr(sys, "argv", ["dragoman", "serve", str(made / "phrase")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "install dragoman[web]" in capsys.readouterr().err


def test_sets_before_and_after_are_read(tmp_path):
    source = [f"satz {i} ." for i in range(60)]
    reference = [f"this is sentence {i} ." for i in range(60)]
    before = [f"sentence {i} is ." for i in range(60)]
    after = [*reference[:50], *before[50:]]
    pair = BeforeAfter(source=source, references=[reference], before=before, after=after)
    pair.save(tmp_path / TEST)
    pair.save(tmp_path / DEVELOPMENT)
    (test, kept), (development, _) = read_sets(tmp_path)
    assert kept == pair
    assert (test.name, test.is_learned_from, test.n_sentences, test.n_changed) == ("test set", False, 60, 50)
    assert (development.name, development.is_learned_from) == ("development set", True)
    bleu, chrf, ter = test.scores
    assert [score.label for score in test.scores] == ["BLEU", "chrF", "TER"]
    for score, metric in ((bleu, "bleu"), (chrf, "chrf"), (ter, "ter")):
        expected = [by_name(metric).points(corpus_score(metric, lines, reference)) for lines in (before, after)]
        assert [score.before, score.after] == pytest.approx(expected)
        assert score.p_value < 0.05
    assert bleu.after > bleu.before
    assert ter.after < ter.before
    assert all(one.before != one.after == one.reference and one.change > 0 for one in test.sentences)
    assert list(read_sets(tmp_path / "nothing")) == []


def corpus_score(metric, lines, reference):
    counted = by_name(metric)
    return float(counted.score_of(counted.text_statistics(lines, [[line] for line in reference]).sum(axis=0)[None])[0])
