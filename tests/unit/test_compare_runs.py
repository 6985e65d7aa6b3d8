"""Rows of runs beside one another."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest as PeerTest
from tests.kit.fake_runs import (
    count_ties_in_sacrebleu,
    fake_run,
    noisy,
    rounds,
    sentences,
    slow_bootstrap,
    start_run,
    write_cell,
    write_test_set,
    write_translations,
)

from dragoman.analysis import PairedTest, Within, compare_runs, legend, load_outputs
from dragoman.errors import InputError, MismatchError
from dragoman.run import CellKey, HeldOutLines, SetScores, load_cell, save_plan
from dragoman.view.report import TableFormat, render

FEW = {"n_bootstrap": 200, "n_trials": 300}


def row_of(comparison, optimiser, **parts):
    (row,) = [
        row
        for row in comparison.rows
        if row.key.optimiser == optimiser and all(getattr(row.key, name) == value for name, value in parts.items())
    ]
    return row


def test_mean_deviation_and_marks(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.4, "pro": 0.1, "mira": 0.11})
    comparison = compare_runs([run], **FEW)
    refs = [sentences(40)]
    for row in comparison.rows:
        assert row.seeds == (1, 2, 3)
        texts = [
            (run / "cells/toy/phrase/phrase15" / row.key.optimiser / str(seed) / "test.txt").read_text().splitlines()
            for seed in row.seeds
        ]
        expected = [sacrebleu.BLEU(tokenize="none").corpus_score(lines, refs).score for lines in texts]
        bleu = row.scores["bleu"]
        assert 100 * np.array(bleu.run_scores) == pytest.approx(expected)
        assert 100 * bleu.mean == pytest.approx(np.mean(expected))
        assert 100 * bleu.std == pytest.approx(np.std(expected, ddof=1))
        assert row.length_ratio == pytest.approx(1.0)
    marks = {row.key.optimiser: (row.scores["bleu"].best, row.scores["bleu"].not_worse) for row in comparison.rows}
    assert marks["mert"] == (False, False)
    assert sorted([marks["pro"], marks["mira"]]) == [(False, True), (True, True)]
    worst = row_of(comparison, "mert").scores
    assert worst["bleu"].p_best[PairedTest.RANDOMISATION] < 0.05
    assert worst["ter"].p_best[PairedTest.BOOTSTRAP] < 0.05
    # The higher rate of errors is the worse one, also where less is better.
    assert not worst["ter"].not_worse
    assert row_of(comparison, "pro").scores["ter"].not_worse
    assert comparison.notes == ()
    assert "|ar:300|seed:12345|" in comparison.signatures["toy"]["bleu"]


def test_one_run_each_equals_sacrebleu_but_for_ties(tmp_path, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    count_ties_in_sacrebleu(monkeypatch)
    run = fake_run(tmp_path / "run", rates={"mert": 0.27, "pro": 0.25}, seeds=(7,), n_sentences=60)
    comparison = compare_runs([run], baseline="mert", n_bootstrap=500, n_trials=1000)
    row = row_of(comparison, "pro")
    outputs = [
        (name, (run / f"cells/toy/phrase/phrase15/{name}/7/test.txt").read_text().splitlines())
        for name in ("mert", "pro")
    ]
    metrics = {
        "bleu": sacrebleu.BLEU(tokenize="none", force=True),
        "chrf": sacrebleu.CHRF(),
        "ter": sacrebleu.TER(),
    }
    _, found = PeerTest(outputs, metrics, [sentences(60)], test_type="ar", n_samples=1000)()
    for ours, theirs in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        assert row.scores[ours].p_baseline[PairedTest.RANDOMISATION] == found[theirs][1].p_value
        assert found[theirs][1].p_value > 0.001
    # sacrebleu's bootstrap is one-sided in effect, so its p-values are compared with a slow one of our own.
    _, found = PeerTest(outputs, metrics, [sentences(60)], test_type="bs", n_samples=500)()
    for ours, theirs in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        resampled, p_value = slow_bootstrap(metrics[ours], [lines for _, lines in outputs], [sentences(60)], n=500)
        assert row.scores[ours].p_baseline[PairedTest.BOOTSTRAP] == p_value > found[theirs][1].p_value
        assert 100 * row.scores[ours].interval.mean == pytest.approx(resampled[:, 1].mean())
        assert 100 * row.scores[ours].interval.mean == pytest.approx(found[theirs][1].mean, abs=1e-3)
        assert 100 * row.scores[ours].interval.half_width == pytest.approx(found[theirs][1].ci, abs=1e-3)
    assert row.scores["bleu"].std is None


def test_equal_rows_are_equally_good(tmp_path):
    run = start_run(tmp_path / "run")
    refs = sentences(30)
    write_test_set(run, "toy", refs, refs)
    for optimiser in ("mert", "pro"):
        write_cell(run, optimiser=optimiser, lines=noisy(refs, 0.2, 1))
    for row in compare_runs([run], metrics=["bleu"], **FEW).rows:
        assert row.scores["bleu"].best
        assert row.scores["bleu"].not_worse
        assert set(row.scores["bleu"].p_best.values()) <= {1.0}


def test_one_sentence_is_no_significant_difference(tmp_path):
    run = start_run(tmp_path / "run")
    refs = sentences(6)
    write_test_set(run, "toy", refs, refs)
    write_cell(run, optimiser="mert", lines=refs)
    write_cell(run, optimiser="pro", lines=["x", *refs[1:]])
    score = row_of(compare_runs([run], metrics=["bleu"], **FEW), "pro").scores["bleu"]
    assert score.p_best[PairedTest.RANDOMISATION] == 1
    assert score.not_worse


def test_each_corpus_takes_the_first_baseline_that_it_has(tmp_path):
    runs = [
        fake_run(tmp_path / "a", rates={"mert": 0.3, "fold-mert": 0.3, "pro": 0.2}, seeds=(1,)),
        fake_run(tmp_path / "b", rates={"fold-mert": 0.3, "pro": 0.2}, seeds=(1,), corpus="other"),
    ]
    comparison = compare_runs(runs, metrics=["bleu"], baseline=["mert", "fold-mert"], **FEW)
    bases = {(row.key.corpus, row.key.optimiser): row.baseline and row.baseline.optimiser for row in comparison.rows}
    assert bases == {
        ("toy", "mert"): None,
        ("toy", "fold-mert"): "mert",
        ("toy", "pro"): "mert",
        ("other", "fold-mert"): None,
        ("other", "pro"): "fold-mert",
    }
    assert comparison.baseline == "mert or fold-mert"
    with pytest.raises(InputError, match="`baseline=mira`: no such row"):
        compare_runs(runs, baseline=["mert", "mira"], **FEW)


def test_baselines(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.3, "pro": 0.2})
    refs = sentences(40)
    for seed in (1, 2):
        for optimiser in ("mert", "pro"):
            write_cell(run, system="hiero", optimiser=optimiser, seed=seed, lines=noisy(refs, 0.25, seed))
    by_optimiser = compare_runs([run], metrics=["bleu"], baseline="mert", **FEW)
    for row in by_optimiser.rows:
        if row.key.optimiser == "mert":
            assert row.baseline is None
            assert by_optimiser.p_value(row.scores["bleu"]) is None
        else:
            assert (row.baseline.system, row.baseline.optimiser) == (row.key.system, "mert")
            assert by_optimiser.p_value(row.scores["bleu"]) is not None
    write_cell(run, features="sparse", optimiser="hols", lines=noisy(refs, 0.1, 1))
    others = compare_runs([run], metrics=["bleu"], baseline="mert", **FEW)
    assert row_of(others, "hols").baseline.name == "phrase/phrase15/mert"  # the only one on its system
    write_cell(run, features="extended", optimiser="mert", lines=noisy(refs, 0.1, 1))
    assert row_of(compare_runs([run], metrics=["bleu"], baseline="mert", **FEW), "hols").baseline is None
    by_name = compare_runs([run], metrics=["bleu"], baseline="phrase/phrase15/pro", **FEW)
    assert {row.baseline.name for row in by_name.rows if row.baseline} == {"phrase/phrase15/pro"}
    assert sum(row.baseline is None for row in by_name.rows) == 1
    # Where every optimiser is alone with its features there is no best to test against, but the baseline.
    alone = compare_runs([run], metrics=["bleu"], baseline="hiero", within=Within.FEATURES, **FEW)
    assert "against the baseline hiero" in legend(alone, "*", "≈")
    with pytest.raises(InputError, match="no such row; expected one of .*mert, .*phrase/phrase15/pro"):
        compare_runs([run], baseline="mira")
    assert any("different numbers of runs" in note for note in by_name.notes)


def test_each_system_can_have_a_best_of_its_own(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.1, "pro": 0.2})
    refs = sentences(40)
    for optimiser, rate in {"mert": 0.5, "pro": 0.4}.items():
        for seed in (1, 2, 3):
            write_cell(run, system="hiero", optimiser=optimiser, seed=seed, lines=noisy(refs, rate, seed))

    def best(comparison):
        return {row.key.name for row in comparison.rows if row.scores["bleu"].best}

    whole = compare_runs([run], metrics=["bleu"], **FEW)
    assert best(whole) == {"phrase/phrase15/mert"}
    assert "best of its corpus" in legend(whole, "*", "≈")
    parts = compare_runs([run], metrics=["bleu"], within=Within.SYSTEM, **FEW)
    assert best(parts) == {"phrase/phrase15/mert", "hiero/phrase15/pro"}
    assert "best of its system on its corpus" in legend(parts, "*", "≈")
    outputs = load_outputs([run])
    for system in ("phrase", "hiero"):
        cells = {key: cell for key, cell in outputs.cells.items() if key.system == system}
        alone = compare_runs(replace(outputs, cells=cells), metrics=["bleu"], **FEW)
        assert [row.scores["bleu"] for row in alone.rows] == [
            row.scores["bleu"] for row in parts.rows if row.key.system == system
        ]
    assert best(compare_runs([run], metrics=["bleu"], within=Within.FEATURES, **FEW)) == best(parts)


def test_without_draws_there_are_scores_alone(tmp_path):
    run = fake_run(tmp_path / "run")
    comparison = compare_runs([run], n_bootstrap=0, n_trials=0)
    assert legend(comparison, "*", "≈").endswith("nothing was tested.")
    assert "not significantly worse" in legend(compare_runs([run], **FEW), "*", "≈")
    for row in comparison.rows:
        score = row.scores["bleu"]
        assert (score.interval, dict(score.p_best)) == (None, {})
        assert score.not_worse == score.best


def test_what_is_missing_is_noted(tmp_path):
    run = fake_run(tmp_path / "run")
    write_cell(run, optimiser="mira", error="the weights became infinite")
    shutil.rmtree(run / "cells/toy/phrase/phrase15/pro/3")
    (run / "cells/toy/phrase/phrase15/pro/3").mkdir()
    start = '{"event": "start", "cells": ["toy/phrase/phrase15/pro/3", "toy/phrase/phrase15/pro/4"]}\n'
    (run / "trace.jsonl").write_text(start + '{"event": "st')
    comparison = compare_runs([run], metrics=["bleu"], **FEW)
    notes = "\n".join(comparison.notes)
    assert "toy/phrase/phrase15/mira/1 failed: the weights became infinite" in notes
    assert "toy/phrase/phrase15/pro/3 is not finished" in notes
    assert "toy/phrase/phrase15/pro/4 is not finished" in notes
    assert len(comparison.notes) == 4
    assert row_of(comparison, "pro").seeds == (1, 2)
    assert len(comparison.rows) == 2


def test_several_runs(tmp_path):
    first = fake_run(tmp_path / "first", corpus="one")
    second = fake_run(tmp_path / "second", corpus="two")
    comparison = compare_runs([first, second], metrics=["bleu"], **FEW)
    assert comparison.corpora() == ["one", "two"]
    for corpus in comparison.corpora():
        assert sum(row.scores["bleu"].best for row in comparison.of_corpus(corpus)) == 1


def test_runs_of_one_row_have_the_same_settings(tmp_path):
    first, second = fake_run(tmp_path / "first", seeds=(1, 2)), fake_run(tmp_path / "second", seeds=(3,))
    plan = {"text": {}, "system": {"preset": "fast"}, "tuning": {"k": 20}, "seed": 1, "samples": 1}
    mert = CellKey(corpus="toy", system="phrase", features="phrase15", optimiser="mert", seed=1)
    save_plan(first, mert, plan)
    save_plan(second, replace(mert, seed=3), {**plan, "seed": 3, "samples": 9})
    save_plan(second, replace(mert, seed=3, optimiser="pro"), {**plan, "tuning": {"k": 30}})
    assert row_of(compare_runs([first, second], **FEW), "mert").seeds == (1, 2, 3)
    save_plan(second, replace(mert, seed=3), {**plan, "seed": 3, "tuning": {"k": 30}})
    with pytest.raises(InputError, match=r"second/cells/\S+mert/3: differs from \S+first/cells/\S+mert/1 in tuning\.k"):
        load_outputs([first, second])


def test_runs_that_do_not_fit_are_named(tmp_path):
    first, second = fake_run(tmp_path / "first"), fake_run(tmp_path / "second")
    with pytest.raises(InputError, match=r"duplicate cell toy/phrase/phrase15/mert/1: in .*first.* and in .*second"):
        compare_runs([first, second])
    write_test_set(second, "toy", ["another"] * 40, ["reference"] * 40)
    with pytest.raises(InputError, match=r"second: its corpus toy has another test set than that of .*first"):
        load_outputs([first, second])
    with pytest.raises(InputError, match="is not a run"):
        compare_runs([tmp_path])
    with pytest.raises(InputError, match="no run given; name"):
        compare_runs([])
    failed = start_run(tmp_path / "failed")
    write_cell(failed, error="out of memory")
    with pytest.raises(InputError, match="no finished cell in .*\n.*out of memory"):
        compare_runs([failed])
    (first / "cells/toy/phrase/phrase15/mert/1/test.txt").write_text("one line\n")
    with pytest.raises(MismatchError, match=r"test.txt: has 1 lines, but the test set toy has 40"):
        compare_runs([first])
    shutil.rmtree(second / "corpora")
    with pytest.raises(InputError, match="no test set toy"):
        compare_runs([second])


def test_every_test_set_is_compared_as_if_it_were_the_only_one(tmp_path):
    sets = {"old": sentences(30, seed=1), "new": sentences(20, seed=2)}
    found = SetScores(scores={"bleu": 0, "chrf": 0, "ter": 0}, length_ratio=1, precisions=(), brevity_penalty=1)
    both = start_run(tmp_path / "both")
    write_test_set(both, "toy", sets["old"], sets["old"])
    write_test_set(both, "toy/tests/new", sets["new"], sets["new"])
    alone = {name: start_run(tmp_path / name) for name in sets}
    for name, refs in sets.items():
        write_test_set(alone[name], "toy", refs, refs)
    for optimiser, rate in (("mert", 0.4), ("pro", 0.2)):
        for seed in (1, 2):
            lines = {name: noisy(refs, rate, seed) for name, refs in sets.items()}
            where = {"optimiser": optimiser, "seed": seed}
            key = write_cell(both, lines=lines["old"], tests=dict.fromkeys(sets, found), **where)
            write_translations(both, key, "new", lines["new"])
            for name, run in alone.items():
                write_cell(run, lines=lines[name], **where)
    comparison = compare_runs([both], **FEW)
    assert comparison.tests("toy") == ["old", "new"]
    assert comparison.main() == comparison.of_corpus("toy") == list(comparison.rows[:2])
    for name, run in alone.items():
        here = [replace(row, test="test") for row in comparison.of_corpus("toy", name)]
        assert here == list(compare_runs([run], **FEW).rows)
    assert list(comparison.signatures) == ["toy/old", "toy/new"]
    assert render(comparison, TableFormat.MARKDOWN).startswith("| corpus | test | system |")
    write_cell(both, optimiser="mira", lines=sets["old"])  # recorded before there were several
    assert [row.key.optimiser for row in compare_runs([both], **FEW).of_corpus("toy", "new")] == ["mert", "pro"]
    write_translations(both, key, "new", lines["new"][:-1])
    with pytest.raises(MismatchError, match="new.txt: has 19 lines, but the test set toy/new has 20"):
        compare_runs([both], **FEW)


def test_cells_without_gain_are_named(tmp_path):
    run = start_run(tmp_path / "run")
    refs = sentences(20)
    write_test_set(run, "toy", refs, refs)

    def lines(worse, kept):
        return HeldOutLines(
            n_lines=9, score_before=0.3, score_after=0.2 if worse else 0.4, length_before=None, length_after=None,
            worse=worse, kept=kept,
        )  # fmt: skip

    kinds = {
        "fell": {"rounds": rounds(2, start=0.3, end=0.2), "higher_is_better": True},
        "rose": {"rounds": rounds(2), "higher_is_better": True},
        "kept": {"rounds": rounds(2), "higher_is_better": True, "best_round": 1},
        "ter-fell": {"rounds": rounds(2, start=0.3, end=0.2), "higher_is_better": False},
        "older": {"rounds": rounds(2, start=0.3, end=0.2)},
        "lines-fell": {"rounds": rounds(2), "higher_is_better": True, "held_out_lines": lines(True, "start")},
        "lines-rose": {"rounds": rounds(2, start=0.3, end=0.2), "higher_is_better": True,
                       "held_out_lines": lines(False, "learned")},
        "first": {"rounds": rounds(1), "higher_is_better": True, "n_rounds": 1},
    }  # fmt: skip
    for name, fields in kinds.items():
        write_cell(run, optimiser=name, lines=refs, **({"n_rounds": 2} | fields))
    (note,) = compare_runs([run], n_bootstrap=0, n_trials=0).notes
    start = "toy/phrase/phrase15"
    named = ", ".join(f"{start}/{name}/1" for name in ("fell", "kept", "lines-fell"))
    assert note == f"3 of 8 cells ended at or below their start: {named}"
    cell = load_cell(run, CellKey(corpus="toy", system="phrase", features="phrase15", optimiser="lines-fell", seed=1))
    assert cell.held_out_lines == lines(True, "start")
