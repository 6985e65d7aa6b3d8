"""The gains of one method over all others: averages over test sets, and the test against the best other method."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest
from tests.kit.fake_runs import noisy, sentences, start_run, write_cell, write_test_set

from dragoman.analysis import PairedTest, compare_runs, holm
from dragoman.view.report import markdown_tables, write_report
from dragoman.view.report.experiment import load_experiment
from dragoman.view.report.focus import Focus, focus_of
from dragoman.view.report.records import Records

RATES = {
    ("one", "base"): {"mert": 0.5, "pro": 0.3, "rm": 0.05, "rm-more": 0.0},
    ("one", "sparse"): {"pro": 0.05, "rm": 0.4, "rm-more": 0.0},
    ("two", "base"): {"mert": 0.3, "pro": 0.3, "rm": 0.3, "rm-more": 0.0},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    report = {"focus": "rm", "against": ["mert", "pro"]}
    run = start_run(tmp_path_factory.mktemp("focus") / "run", report=report)
    refs = sentences(30)
    for corpus in ("one", "two"):
        write_test_set(run, corpus, refs, refs)
    for (corpus, features), rates in RATES.items():
        for number, (optimiser, rate) in enumerate(rates.items()):
            for seed in (1, 2):
                lines = noisy(refs, rate, 10 * seed + number)
                write_cell(run, corpus=corpus, features=features, optimiser=optimiser, seed=seed, lines=lines)
    return run


def rows_of(table):
    header, rows = table
    return [dict(zip((cell.text for cell in header), (cell.text for cell in row), strict=True)) for row in rows]


def number(text):
    return float(text.replace("−", "-"))


def test_gains_are_means_over_test_sets(run):
    focus = load_experiment([run], n_trials=200).focus
    comparison = compare_runs([run], n_trials=0, n_bootstrap=0)
    means = {
        (row.key.corpus, row.key.features, row.key.optimiser): {m: 100 * s.mean for m, s in row.scores.items()}
        for row in comparison.rows
    }
    shown = rows_of(focus.gains())
    assert [(row["features"], row["over"], row["test sets"]) for row in shown] == [
        ("base", "mert", "2"),
        ("base", "pro", "2"),
        ("sparse", "pro", "1"),
    ]
    for row in shown:
        for metric, sign in (("bleu", 1), ("ter", -1)):
            gains = [
                sign * (means[corpus, features, "rm"][metric] - means[corpus, features, row["over"]][metric])
                for corpus, features in RATES
                if features == row["features"]
            ]
            assert number(row[metric.upper()]) == pytest.approx(fmean(gains), abs=0.006)
    assert number(shown[0]["BLEU"]) > 0 < number(shown[0]["TER"])
    assert number(shown[2]["BLEU"]) < 0 > number(shown[2]["TER"])


def test_verdicts_are_those_of_the_two_alone(run):
    records = Records([run])
    focus = focus_of(records, n_trials=200, n_threads=1)
    _, rows = focus.verdicts()
    shown = {(row[0].text, row[3].text): [cell.text for cell in row] for row in rows}
    assert {key: (cells[4], cells[7]) for key, cells in shown.items()} == {
        ("one", "base"): ("pro", "better"),
        ("one", "sparse"): ("pro", "worse"),
        ("two", "base"): (shown["two", "base"][4], "no difference"),
    }
    for (corpus, features), cells in shown.items():
        p_values = {}
        for other in {*RATES[corpus, features]} & {"mert", "pro"}:
            pair = {
                key: cell
                for key, cell in records.outputs.cells.items()
                if (key.corpus, key.features) == (corpus, features) and key.optimiser in ("rm", other)
            }
            alone = compare_runs(replace(records.outputs, cells=pair), metrics=["bleu"], n_bootstrap=0, n_trials=200)
            (p_values[other],) = [
                row.scores["bleu"].p_best.get(PairedTest.RANDOMISATION, None)
                for row in alone.rows
                if not row.scores["bleu"].best
            ]
        assert cells[6] == f"{holm(p_values)[cells[4]]:.4f}"
    counted = {(row["features"], row["metric"]): row for row in rows_of(focus.counts())}
    assert [*counted] == [(features, metric) for features in ("base", "sparse") for metric in ("BLEU", "TER")]
    assert counted["base", "BLEU"] == {
        "features": "base",
        "metric": "BLEU",
        "better": "1",
        "worse": "0",
        "no difference": "1",
    }
    assert counted["sparse", "TER"]["worse"] == "1"


def test_they_are_on_the_page_and_in_markdown(run, tmp_path):
    page = write_report([run], tmp_path / "page.html", n_trials=50).read_text(encoding="utf-8")
    assert '<section id="gains">' in page
    assert "Gains of rm" in page
    assert "## Gains of rm\n" in markdown_tables([run])
    untested = load_experiment([run], n_trials=0).focus
    assert untested.counts()[1] == []
    assert isinstance(untested, Focus)


def test_all_others_count_unless_the_recipe_names_them(run, tmp_path):
    other = start_run(tmp_path / "other", report={"focus": "pro"})
    refs = sentences(5)
    write_test_set(other, "toy", refs, refs)
    for optimiser in ("mert", "pro", "rm-more"):
        write_cell(other, optimiser=optimiser, lines=refs)
    assert focus_of(Records([other]), n_trials=0, n_threads=1).others == ["mert", "rm-more"]
    absent = start_run(tmp_path / "absent", report={"focus": "mira"})
    write_test_set(absent, "toy", refs, refs)
    write_cell(absent, lines=refs)
    assert focus_of(Records([absent]), n_trials=0, n_threads=1) is None
    alone = start_run(tmp_path / "alone", report={"focus": "mert"})
    write_test_set(alone, "toy", refs, refs)
    write_cell(alone, lines=refs)
    write_cell(alone, optimiser="rm", error="no luck")
    assert focus_of(Records([alone]), n_trials=0, n_threads=1) is None
