"""What a comparison says beside p-values: corrections, distinct runs, the start, all test sets together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kit.fake_runs import fake_run, noisy, sentences, start_run, write_cell, write_test_set, write_translations

from dragoman.analysis import (
    LEVEL,
    PairedTest,
    Primary,
    SystemOutput,
    Within,
    compare_runs,
    compare_systems,
    comparison_header,
    comparison_html,
    comparison_rows,
    holm,
    legend,
    load_outputs,
    pooled_rows,
    primary_sentence,
)
from dragoman.cost import StageCost
from dragoman.metric import Bleu, by_name, output_statistics, references_by_sentence
from dragoman.run import SetScores, cell_folder, save_plan, start_file
from dragoman.view.report import TableFormat, load_experiment, markdown_tables, render
from dragoman.view.report.baseline import baseline_table
from dragoman.view.report.results import overview_table

FEW = {"n_bootstrap": 200, "n_trials": 400}
REFS = sentences(40)
RANDOMISATION, BOOTSTRAP = PairedTest.RANDOMISATION, PairedTest.BOOTSTRAP
ON_SET = SetScores(scores={"bleu": 0.3, "chrf": 0.4, "ter": 0.5}, length_ratio=1, precisions=(), brevity_penalty=1)


def row_of(rows, optimiser, **parts):
    (row,) = [
        row
        for row in rows
        if row.key.optimiser == optimiser and all(getattr(row.key, name) == value for name, value in parts.items())
    ]
    return row


def write_start(run, key, lines, other=None):
    path = start_file(cell_folder(run, key), other)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def with_start(run, *, systems=("phrase",), seeds=(1, 2), rates=None, features="base", **more):
    """Rows of some systems whose cells keep what the initial weights translate to."""
    for system in systems:
        begin = noisy(REFS, 0.3, 99)
        for number, (optimiser, rate) in enumerate((rates or {"mert": 0.25, "pro": 0.15}).items()):
            for seed in seeds:
                lines = noisy(REFS, rate, 10 * seed + number)
                where = {"system": system, "optimiser": optimiser, "seed": seed, "features": features}
                write_start(run, write_cell(run, lines=lines, **where, **more), begin)
    return run


@pytest.fixture
def run(tmp_path):
    run = start_run(tmp_path / "run")
    write_test_set(run, "toy", REFS, REFS)
    return run


def test_holm_by_hand():
    assert holm({"a": 0.03, "b": 0.01, "c": 0.04, "d": 0.9}) == pytest.approx(
        {"a": 0.09, "b": 0.04, "c": 0.09, "d": 0.9}
    )
    assert list(holm({"b": 0.5, "a": 0.1})) == ["b", "a"]
    assert holm({"a": 0.7, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({"a": 0.04}) == {"a": 0.04}
    assert holm({}) == {}


@pytest.mark.parametrize("against", ["best", "baseline"])
def test_p_values_against_the_same_row_are_corrected_together(tmp_path, against):
    rates = {"one": 0.15, "two": 0.2, "three": 0.21, "four": 0.23, "five": 0.3}
    run = fake_run(tmp_path / "run", rates=rates, seeds=(1, 2))
    comparison = compare_runs([run], baseline="three" if against == "baseline" else None, **FEW)
    for name in ("bleu", "ter"):
        for test in PairedTest:
            found = {row.key: getattr(row.scores[name], f"p_{against}").get(test) for row in comparison.rows}
            raw = {key: p_value for key, p_value in found.items() if p_value is not None}
            assert len(raw) == len(rates) - 1
            corrected = {
                row.key: getattr(row.scores[name], f"holm_{against}").get(test)
                for row in comparison.rows
                if row.key in raw
            }
            assert corrected == holm(raw)
    scores = [row.scores["bleu"] for row in comparison.rows]
    shown = [row[6].text for row in comparison_rows(comparison)]
    assert shown == ["" if (p := comparison.p_holm(score)) is None else f"{p:.4f}" for score in scores]
    assert "Holm's correction" in legend(comparison, "*", "≈")
    marked = [(score.p_best[RANDOMISATION], score.holm_best[RANDOMISATION]) for score in scores if not score.best]
    assert [score.not_worse for score in scores if not score.best] == [holm_p >= LEVEL for _, holm_p in marked]
    assert any(raw_p < LEVEL <= holm_p for raw_p, holm_p in marked), "a mark that the correction decides"


def test_groups_with_bests_of_their_own_are_corrected_apart(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.1, "pro": 0.2, "mira": 0.21}, seeds=(1,))
    for optimiser, rate in {"mert": 0.3, "pro": 0.1}.items():
        write_cell(run, system="hiero", optimiser=optimiser, lines=noisy(REFS, rate, 5))
    comparison = compare_runs([run], metrics=["bleu"], within=Within.SYSTEM, **FEW)
    alone = row_of(comparison.rows, "mert", system="hiero").scores["bleu"]
    assert alone.holm_best == alone.p_best
    assert row_of(comparison.rows, "pro", system="phrase").scores["bleu"].holm_best.keys() == {*PairedTest}


def test_runs_that_gave_one_output_are_told_apart(run):
    for seed in (1, 2, 3):
        write_cell(run, optimiser="hols", seed=seed, lines=noisy(REFS, 0.1, 1))
        write_cell(run, optimiser="pro", seed=seed, lines=noisy(REFS, 0.2, 1 + seed // 3))
        write_cell(run, optimiser="mert", seed=seed, lines=noisy(REFS, 0.3, seed))
    comparison = compare_runs([run], metrics=["bleu"], **FEW)
    assert {row.key.optimiser: row.n_distinct for row in comparison.rows} == {"hols": 1, "pro": 2, "mert": 3}
    place = [cell.text for cell in comparison_header(comparison)].index("runs")
    shown = {cells[3].text: cells[place].text for cells in comparison_rows(comparison)}
    assert shown == {"hols": "1 of 3", "pro": "2 of 3", "mert": "3"}
    assert "Runs 1 of 3: three runs gave one output." in legend(comparison, "*", "≈")


def test_the_start_of_each_system_is_a_row(run):
    with_start(run, systems=("phrase", "hiero"))
    comparison = compare_runs([run], metrics=["bleu"], **FEW)
    assert [(row.key.system, row.key.optimiser) for row in comparison.rows] == [
        (system, optimiser) for system in ("hiero", "phrase") for optimiser in ("start", "mert", "pro")
    ]
    assert comparison.notes == ()
    start = row_of(comparison.rows, "start", system="phrase")
    assert (start.key.is_start, start.key.name, start.n_distinct, start.seeds) == (True, "phrase/start", 1, (1,))
    best = row_of(comparison.rows, "pro", system="phrase")
    runs = [noisy(REFS, 0.15, 10 * seed + 1) for seed in (1, 2)]
    systems = [SystemOutput(name="pro", runs=runs), SystemOutput(name="start", runs=[noisy(REFS, 0.3, 99)])]
    _, alone = compare_systems(systems, [REFS], [Bleu()], **FEW)
    assert best.scores["bleu"].best
    assert start.scores["bleu"].mean == alone.scores[0].score
    assert start.scores["bleu"].p_best[RANDOMISATION] == alone.scores[0].p_randomisation
    assert start.scores["bleu"].p_best[BOOTSTRAP] == alone.scores[0].p_bootstrap
    assert "start: the untuned weights" in legend(comparison, "*", "≈")
    by_start = compare_runs([run], metrics=["bleu"], baseline="start", **FEW)
    assert {row.baseline.name for row in by_start.rows if not row.key.is_start} == {"phrase/start", "hiero/start"}


def test_the_headline_has_the_corrected_p_value_of_the_start(run):
    rates = {"mert": 0.27, "pro": 0.24, "mira": 0.25}
    experiment = load_experiment([with_start(run, rates=rates)], n_trials=300)
    start = row_of(experiment.comparison.rows, "start").scores["bleu"]
    assert start.p_best[RANDOMISATION] < start.holm_best[RANDOMISATION]
    (said,) = experiment.headlines()
    p_value = start.holm_best[RANDOMISATION]
    assert f"p = {p_value:.{4 if p_value < LEVEL else 2}f}" in said.partition("learning gains")[2]


def test_the_start_competes_within_all_feature_sets_of_its_system(run):
    with_start(run, rates={"mert": 0.4, "pro": 0.45})
    with_start(run, rates={"mert": 0.05, "pro": 0.06}, features="sparse")
    rows = compare_runs([run], metrics=["bleu"], within=Within.FEATURES, **FEW).rows
    assert not any(row.scores["bleu"].best for row in rows if row.key.features == "base")
    assert [row.key.optimiser for row in rows if row.scores["bleu"].best] == ["mert"]
    start, worse = row_of(rows, "start"), row_of(rows, "mert", features="base")
    assert start.scores["bleu"].p_best  # against the best of the system
    assert worse.scores["bleu"].p_best[RANDOMISATION] < LEVEL
    assert (
        row_of(compare_runs([run], metrics=["bleu"], baseline="mert", **FEW).rows, "start").baseline.features == "base"
    )


def test_what_began_with_other_weights_is_no_start(run):
    with_start(
        run, seeds=(1,), rates={"mert": 0.2}, steps=(StageCost(name="lists", wall_s=1.0, cpu_s=1.0, peak_bytes=1),)
    )
    assert "start" not in {row.key.optimiser for row in compare_runs([run], **FEW).rows}
    key = write_cell(run, optimiser="random", lines=noisy(REFS, 0.2, 1))
    write_start(run, key, noisy(REFS, 0.9, 1))
    save_plan(run, key, {"text": {}, "system": {}, "tuning": {"start": {"normal": 1.0}}, "seed": 1})
    assert "start" not in {row.key.optimiser for row in compare_runs([run], **FEW).rows}
    key = write_cell(run, optimiser="pro", lines=noisy(REFS, 0.2, 1))
    write_start(run, key, noisy(REFS, 0.3, 1))
    assert row_of(compare_runs([run], **FEW).rows, "start").scores["bleu"].mean > 0.2


def test_starts_that_differ_by_seed_are_runs(run):
    for seed in (1, 2, 3):
        key = write_cell(run, optimiser="pro", seed=seed, lines=noisy(REFS, 0.2, seed))
        write_start(run, key, noisy(REFS, 0.3, seed // 2))
    start = row_of(compare_runs([run], **FEW).rows, "start")
    assert (start.seeds, start.n_distinct) == ((1, 2, 3), 2)


def two_tests(run):
    """One corpus with two test sets, whose cells keep the start of both."""
    write_test_set(run, "toy/tests/new", REFS[:25], REFS[:25])
    for optimiser, rate in {"mert": 0.3, "pro": 0.1}.items():
        for seed in (1, 2):
            lines = noisy(REFS, rate, seed)
            key = write_cell(run, optimiser=optimiser, seed=seed, lines=lines, tests={"old": ON_SET, "new": ON_SET})
            write_translations(run, key, "new", noisy(REFS[:25], rate, 10 + seed))
            write_start(run, key, noisy(REFS, 0.2, 3))
            write_start(run, key, noisy(REFS[:25], 0.2, 3), "new")
    return run


def test_every_test_set_has_its_start(run):
    comparison = compare_runs([two_tests(run)], metrics=["bleu"], baseline="mert", **FEW)
    names = [(row.test, row.key.optimiser) for row in comparison.rows]
    assert names == [(test, name) for test in ("old", "new") for name in ("start", "mert", "pro")]
    experiment = load_experiment([run], n_trials=50)
    starts = [f"{100 * row.scores['bleu'].mean:.2f}" for row in comparison.rows if row.key.is_start]
    assert [row[4].text for row in overview_table(experiment.records, comparison)[1]] == starts
    header, body = baseline_table(experiment.records, comparison, "toy")
    assert [row[2].text for row in body] == ["start", "mert", "pro"]
    start = dict(zip((cell.text for cell in header), (cell.text for cell in body[0]), strict=False))
    assert (start["runs"], start["CPU s"]) == ("1", "")
    assert start["old BLEU"] == f"{100 * comparison.rows[0].scores['bleu'].mean:.2f}"


def corpora_run(folder, sets, rates=None, seeds=(1, 2)):
    """Two methods, by default, on corpora with test sets of their own."""
    run = start_run(folder)
    for number, (corpus, refs) in enumerate(sets.items()):
        write_test_set(run, corpus, refs, refs)
        for place, (optimiser, rate) in enumerate((rates or {"mert": 0.25, "pro": 0.2}).items()):
            for seed in seeds:
                lines = noisy(refs, rate, 1000 * number + 10 * seed + place)
                write_cell(run, corpus=corpus, optimiser=optimiser, seed=seed, lines=lines)
    return run


def mean_statistics(run, corpus, optimiser, refs):
    """Of BLEU, over the runs."""
    texts = [
        (run / "cells" / corpus / "phrase/phrase15" / optimiser / seed / "test.txt").read_text().splitlines()
        for seed in ("1", "2")
    ]
    return output_statistics(Bleu(), texts, references_by_sentence([refs], len(refs)), n_threads=1).mean(axis=0)


@pytest.fixture
def three_corpora(tmp_path):
    sets = {name: sentences(n, seed=n) for name, n in (("a", 30), ("b", 50), ("c", 40))}
    return corpora_run(tmp_path / "corpora", sets), sets


def test_all_test_sets_together_by_hand(three_corpora):
    """The mean difference, with coins of its own for the sentences of each test set."""
    run, sets = three_corpora
    comparison = compare_runs([run], metrics=["bleu"], baseline="mert", **FEW)
    assert comparison.pooled_over == ("a/test", "b/test", "c/test")
    score = Bleu().score_of
    observed, shuffled, drawn = [], [], []
    for stream, (corpus, refs) in enumerate(sets.items()):
        base, ours = (mean_statistics(run, corpus, name, refs) for name in ("mert", "pro"))
        observed.append(score(ours.sum(axis=0)) - score(base.sum(axis=0)))
        seed = 12345 if stream == 0 else (12345, stream)
        stays = np.random.default_rng(seed).integers(2, size=(400, len(refs)), dtype=bool)[..., None]
        swapped = score(np.where(stays, ours, base).sum(axis=1)) - score(np.where(stays, base, ours).sum(axis=1))
        shuffled.append(swapped)
        chosen = np.random.default_rng(seed).choice(len(refs), size=(200, len(refs)), replace=True)
        drawn.append(score(ours[chosen].sum(axis=1)) - score(base[chosen].sum(axis=1)))
    difference = abs(np.mean(observed)) - 1e-12
    sampled = np.mean(drawn, axis=0)
    pooled = row_of(comparison.pooled, "pro").scores["bleu"]
    at_least = int((np.abs(np.mean(shuffled, axis=0)) >= difference).sum())
    assert pooled.p_baseline[RANDOMISATION] == (at_least + 1) / 401
    as_far = int((np.abs(sampled - sampled.mean()) >= difference).sum())
    assert pooled.p_baseline[BOOTSTRAP] == (as_far + 1) / 201
    assert 0.01 < pooled.p_baseline[RANDOMISATION] < 0.9, "a p-value that says something"
    rows = [row_of(comparison.rows, "pro", corpus=corpus).scores["bleu"] for corpus in sets]
    assert pooled.mean == pytest.approx(np.mean([row.mean for row in rows]))
    assert pooled.run_scores == pytest.approx(np.mean([row.run_scores for row in rows], axis=0))
    assert (pooled.holm_baseline, row_of(comparison.pooled, "mert").baseline) == (pooled.p_baseline, None)


def test_test_sets_of_a_corpus_share_its_weight(tmp_path):
    run = corpora_run(tmp_path / "run", {"toy": REFS, "other": sentences(30, seed=3)}, {"mert": 0.3, "pro": 0.1})
    two_tests(run)
    comparison = compare_runs([run], metrics=["bleu"], **FEW)
    means = {
        (row.key.corpus, row.test): row.scores["bleu"].mean for row in comparison.rows if row.key.optimiser == "pro"
    }
    expected = (np.mean([means["toy", "old"], means["toy", "new"]]) + means["other", "test"]) / 2
    assert row_of(comparison.pooled, "pro", features="phrase15").scores["bleu"].mean == pytest.approx(expected)
    assert "start" not in {row.key.optimiser for row in comparison.pooled}  # `other` keeps none


def test_the_same_sentences_in_two_corpora_are_no_further_evidence(tmp_path):
    """Corpora that differ in their training text often share their test set."""
    once = corpora_run(tmp_path / "once", {"a": REFS})
    lines = {
        (name, seed): (once / "cells/a/phrase/phrase15" / name / seed / "test.txt").read_text().splitlines()
        for name in ("mert", "pro")
        for seed in ("1", "2")
    }
    write_test_set(once, "b", REFS, REFS)
    for (name, seed), text in lines.items():
        write_cell(once, corpus="b", optimiser=name, seed=int(seed), lines=text)
    comparison = compare_runs([once], metrics=["bleu"], **FEW)
    alone = [row.scores["bleu"].p_best for row in comparison.of_corpus("a")]
    assert [row.scores["bleu"].p_best for row in comparison.pooled] == alone


def test_rows_that_a_corpus_lacks_are_not_pooled(three_corpora, tmp_path):
    run, sets = three_corpora
    write_cell(run, corpus="a", optimiser="mira", lines=noisy(sets["a"], 0.1, 1))
    comparison = compare_runs([run], metrics=["bleu", "ter"], **FEW)
    assert [row.key.optimiser for row in comparison.pooled] == ["mert", "pro"]
    assert compare_runs([fake_run(tmp_path / "one")], **FEW).pooled == ()
    for form in (TableFormat.MARKDOWN, TableFormat.HTML, TableFormat.LATEX):
        assert "mean difference" in render(comparison, form)
    assert render(comparison, TableFormat.CSV).count("\n,,phrase,phrase15,") == 2
    assert [cells[2].text for cells in pooled_rows(comparison)] == ["mert", "pro"]
    assert "All test sets together" in markdown_tables([run])


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_the_primary_comparison_is_pooled_and_not_corrected(three_corpora, metric):
    run, sets = three_corpora
    for number, (corpus, refs) in enumerate(sets.items()):
        for seed in (1, 2):
            write_cell(run, corpus=corpus, optimiser="mira", seed=seed, lines=noisy(refs, 0.22, 77 + seed + number))
    outputs = load_outputs([run])
    primary = Primary(rows=("pro",), baseline="mert", metric=metric)
    named = replace(outputs, primary={primary: frozenset(sets)})
    comparison = compare_runs(named, metrics=["bleu", "ter"], baseline="mert", **FEW)
    (result,) = comparison.primary
    pooled = {row.key.optimiser: row.scores[metric] for row in comparison.pooled}
    assert result.p_value == pooled["pro"].p_baseline[RANDOMISATION]
    assert (result.score, result.baseline_score) == pytest.approx((pooled["pro"].mean, pooled["mert"].mean))
    assert result.gain > 0
    assert result.tests == ("a/test", "b/test", "c/test")
    assert result.rows == ("phrase/phrase15/pro",)
    said = primary_sentence(comparison, result)
    assert f"p = {result.p_value:.4f}" in said
    assert "not corrected" in said
    assert said in " ".join(comparison_html(comparison).unescape().split())
    # On one test set alone it is the test of that table, before its correction.
    few = replace(outputs, primary={replace(primary, tests=("b/test",)): frozenset(sets)})
    (one,) = compare_runs(few, metrics=[metric], **FEW).primary
    by_table = row_of(compare_runs([run], metrics=[metric], baseline="mert", **FEW).rows, "pro", corpus="b")
    assert one.p_value == by_table.scores[metric].p_baseline[RANDOMISATION]
    # A recipe speaks of the corpora of its own runs.
    own = replace(outputs, primary={primary: frozenset({"b"})})
    assert compare_runs(own, metrics=[metric], **FEW).primary[0].tests == ("b/test",)


def test_the_primary_comparison_of_a_recipe(tmp_path):
    report = {"focus": "pro", "metrics": ["(ter-bleu)/2", "bleu"], "primary": {"baseline": "mert"}}
    run = fake_run(tmp_path / "run", report=report)
    (primary,) = load_outputs([run]).primary
    assert primary == Primary(rows=("pro",), baseline="mert", metric=by_name("(ter-bleu)/2").name)
    experiment = load_experiment([run], n_trials=200)
    (result,) = experiment.comparison.primary
    assert result.gain > 0
    assert experiment.headlines()[0] == primary_sentence(experiment.comparison, result)
    assert "significantly better" in experiment.headlines()[0]
    absent = compare_runs([run], metrics=["bleu"], **FEW)
    assert (absent.primary, len(absent.notes)) == ((), 1)
    assert "pro against mert by 0.5*ter - 0.5*bleu" in absent.notes[0]
    assert compare_runs([run], n_trials=0, n_bootstrap=0, metrics=["(ter-bleu)/2"]).primary[0].p_value is None


def test_what_a_primary_comparison_names():
    one = Primary(rows=("rm", "phrase/*/mira"), baseline="mert", metric="bleu", tests=("swh", "deu/2016"))
    assert one.has_row("hiero/base/rm")
    assert one.has_row("phrase/base/mira")
    assert not one.has_row("hiero/base/mira")
    assert one.has_test("swh", "test")
    assert one.has_test("deu", "2016")
    assert not one.has_test("deu", "2017")
    assert Primary(rows=("rm",), baseline="mert", metric="bleu").has_test("any", "test")
