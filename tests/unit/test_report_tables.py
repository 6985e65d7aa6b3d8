"""Tables of a report: spread of model scores, active and possible features, tuning and test sets, published figures."""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from tests.kit.fake_runs import (
    fake_run,
    noisy,
    rounds,
    sentences,
    start_run,
    write_cell,
    write_test_set,
    write_translations,
)

from dragoman.analysis import Mark, compare_runs, error_profile
from dragoman.metric import TER_BLEU
from dragoman.run import SetScores, save_plan
from dragoman.view.report import markdown_tables, write_report
from dragoman.view.report.errors import error_table
from dragoman.view.report.figures import learning_charts
from dragoman.view.report.margins import spread_table, units_table
from dragoman.view.report.published import Topic, topic_of
from dragoman.view.report.records import Records
from dragoman.view.report.results import feature_table, overview_table, score_table
from dragoman.view.report.sets import breakdown_table, set_table
from dragoman.view.report.sizes import size_charts, tuning_sizes
from dragoman.view.report.tables import signed

PUBLISHED = Path(__file__).parents[2] / "recipes" / "published" / "rm.toml"

NAMES = ("base", "sparse")


def texts(table):
    return [[cell.text for cell in row] for row in (table[0], *table[1])]


def on_set(bleu, ter):
    precisions = (0.7, 0.45, 0.3, 0.2)
    return SetScores(
        scores={"bleu": bleu, "chrf": 0.5, "ter": ter}, length_ratio=0.98, precisions=precisions, brevity_penalty=0.975
    )


def margin_rounds(spreads, *, n_possible=None):
    """A round for every pass and one that only measures."""
    entries = [*rounds(len(spreads) + 1)]
    for i, (mean, deviation) in enumerate(spreads):
        fired = {"margin": 0.5, "upper": 0.25 * i, "lower": 0.0}
        entries[i] = replace(entries[i], spread=mean, spread_deviation=deviation, fired=fired, n_possible=n_possible)
    return tuple(entries)


def margin_run(folder, **settings):
    """Two methods on base and sparse features, two seeds, two test sets; one of them learns with margins."""
    run = start_run(folder, **settings)
    refs = sentences(20)
    write_test_set(run, "toy", refs, refs)
    write_test_set(run, "toy/tests/2017", refs[:8], refs[:8])
    for features, weights in (
        ("base", {"lm": 0.5, "words": 1.0}),
        ("sparse", {"lm": 0.5, "rule:a": 0.1, "rule:b": 1.0}),
    ):
        for seed in (1, 2):
            more = {
                "features": features,
                "seed": seed,
                "weights": weights,
                "tests": {"2016": on_set(0.30 + seed / 100, 0.5), "2017": on_set(0.25, 0.55)},
                "start": {"2016": 0.2, "2017": 0.1 + seed / 100},
                "tune": on_set(0.35, 0.5),
                "n_rounds": 3,
            }
            entries = margin_rounds([(2.0, 1.0), (4.0, float(seed))], n_possible=1234)
            for optimiser, rate, found in (("pro", 0.3, {}), ("rm", 0.1, {"rounds": entries})):
                key = write_cell(run, optimiser=optimiser, lines=noisy(refs, rate, seed), **more, **found)
                write_translations(run, key, "2017", noisy(refs[:8], 0.4 - rate, 10 * seed))
    return run


def test_the_start_on_every_test_set(tmp_path):
    run = margin_run(tmp_path / "run")
    header, *rows = texts(overview_table(Records([run]), compare_runs([run], n_trials=0, n_bootstrap=0)))
    found = {(row[1], row[3]): row[header.index("start")] for row in rows}
    assert found == {(test, name): score for test, score in (("2016", "19.00"), ("2017", "11.50")) for name in NAMES}


def test_bounds_have_no_columns_where_no_method_has_any(tmp_path):
    run = start_run(tmp_path / "run")
    refs = sentences(5)
    write_test_set(run, "toy", refs, refs)
    write_cell(run, optimiser="mira", lines=refs, n_rounds=2, rounds=margin_rounds([(2.0, 1.0)]))
    header, row = texts(spread_table(Records([run])))
    assert (header[-2:], row[-1]) == (["all passes", "margin"], "50.0%")


def test_spread_is_that_of_the_lists_of_all_runs(tmp_path):
    table = spread_table(Records([margin_run(tmp_path / "run")]))
    assert texts(table)[0] == [
        "corpus", "system", "optimiser", "features", "best pass", "all passes", "margin", "upper", "lower",
    ]  # fmt: skip
    # Lists with these means and deviations, taken together; the kept weights are those that the second pass learned.
    rng = np.random.default_rng(0)

    def lists(mean, deviation):
        drawn = rng.normal(size=50)
        return mean + deviation * (drawn - drawn.mean()) / drawn.std()

    second = np.concatenate([lists(4, 1), lists(4, 2)])
    every = np.concatenate([lists(2, 1), lists(2, 1), second])
    best, passes = (f"{x.mean():.2f} ± {x.std():.2f}" for x in (second, every))
    assert best == f"4.00 ± {math.sqrt(2.5):.2f}"
    assert texts(table)[1:] == [
        ["toy", "phrase", "rm", name, best, passes, "50.0%", "12.5%", "0.0%"] for name in ("base", "sparse")
    ]


def test_methods_without_bounds_have_none_that_fired(tmp_path):
    run = margin_run(tmp_path / "run")
    entries = margin_rounds([(2.0, 1.0)])
    write_cell(run, optimiser="mira", method="online-mira", lines=sentences(20), rounds=entries, n_rounds=2)
    (row,) = [row for row in texts(spread_table(Records([run]))) if row[2] == "mira"]
    assert row[4:] == ["2.00 ± 1.00", "2.00 ± 1.00", "50.0%", "", ""]


def test_scores_of_other_metrics_have_a_chart_and_a_name_of_their_own(tmp_path):
    run = margin_run(tmp_path / "run")
    for optimiser in ("ter", "ter-2"):
        write_cell(run, features="base", optimiser=optimiser, lines=sentences(20), metric="ter")
    records = Records([run])
    found = {
        chart.title: (chart.y_label, {line.group or line.name for line in chart.lines})
        for chart in learning_charts(records)
    }
    assert found["toy: phrase, base, TER"] == ("TER", {"ter, dev", "ter, test", "ter-2, dev", "ter-2, test"})
    assert found["toy: phrase, base"] == ("BLEU", {"pro, dev", "pro, test", "rm, dev", "rm, test"})
    assert {row[2]: row[3] for row in texts(score_table(records, "toy"))} == {
        "optimiser": "metric", "pro": "BLEU", "rm": "BLEU", "ter": "TER", "ter-2": "TER",
    }  # fmt: skip


def test_dev_scores_are_decoded_or_marked_as_live(tmp_path):
    run = start_run(tmp_path / "run")
    write_test_set(run, "toy", sentences(20), sentences(20))
    plans = {
        "live": {"optimiser": {"measure": "live"}, "tokenizer": "none", "lowercase": False},
        "other-words": {"optimiser": {"measure": "live"}, "tokenizer": "13a", "lowercase": False},
        "decoded": {"optimiser": {"measure": "decode"}, "tokenizer": "13a", "lowercase": False},
    }
    tune = dict.fromkeys(plans, on_set(0.4, 0.5))
    for name, tuning in {**plans, "unknown": plans["live"], "start": plans["live"], "old": None}.items():
        kept = {"n_rounds": 2, "best_round": 1 if name == "start" else 2, "tune": tune.get(name)}
        measured = tuple(replace(entry, dev=0.25) for entry in rounds(2))
        key = write_cell(run, optimiser=name, lines=sentences(20), rounds=measured, **kept)
        if tuning is not None:
            save_plan(run, key, {"tuning": tuning})
    header, *rows = texts(score_table(Records([run]), "toy"))
    assert {row[2]: row[header.index("dev")] for row in rows} == {
        "live": "40.00", "other-words": "25.00 (live)", "unknown": "25.00 (live)",
        "decoded": "25.00", "start": "25.00", "old": "25.00",
    }  # fmt: skip


def test_differences_that_round_to_nothing():
    assert [signed(x) for x in (-0.004, 0.0, -0.0, 0.006, -1.5)] == ["+0.00", "+0.00", "+0.00", "+0.01", "-1.50"]


def test_constants_of_relative_units(tmp_path):
    run = margin_run(tmp_path / "run")
    assert units_table(Records([run]))[1] == []
    for seed, factor in ((3, 0.5), (4, 0.25)):
        write_cell(
            run, optimiser="rm", seed=seed, lines=sentences(20), units={"score_factor": factor, "bound_step": 0.002}
        )
    table = spread_table(Records([run]))
    assert texts(table)[0][6] == "best pass, scale of the start"
    assert texts(units_table(Records([run]))) == [
        ["corpus", "system", "optimiser", "features", "scores ×", "D"],
        ["toy", "phrase", "rm", "phrase15", "0.375", "0.002"],
    ]
    assert "| toy | phrase | rm | phrase15 | 0.375 | 0.002 |" in markdown_tables([run])


def test_spread_at_the_scale_of_the_start(tmp_path):
    run = margin_run(tmp_path / "run")
    entries = margin_rounds([(0.5, 0.2)])
    for seed in (1, 2):
        more = {"rounds": entries, "n_rounds": 2, "units": {"score_factor": 0.25}}
        write_cell(run, optimiser="rm", features="other", seed=seed, lines=sentences(20), **more)
    (row,) = [row for row in texts(spread_table(Records([run]))) if row[3] == "other"]
    assert row[4:7] == ["0.50 ± 0.20", "0.50 ± 0.20", "2.00 ± 0.80"]


def test_active_and_possible_features(tmp_path):
    table = feature_table(Records([margin_run(tmp_path / "run")]))
    assert texts(table) == [
        ["corpus", "system", "features", "pro", "rm", "possible"],
        ["toy", "phrase", "sparse", "13", "13", "1,234"],
    ]


def test_tuning_and_test_sets(tmp_path):
    records = Records([margin_run(tmp_path / "run")])
    metrics = ("bleu", "ter", "(ter-bleu)/2")
    comparison = compare_runs(records.outputs, metrics=metrics, n_trials=100, n_bootstrap=0)
    assert comparison.metrics[-1] == TER_BLEU
    table = set_table(records, comparison, "toy")
    header, first, *more = texts(table)
    sizes = [len(test.source) for test in records.outputs.tests("toy").values()]
    assert sizes[0] != sizes[1]
    everything = (sizes[0] * 31.5 + sizes[1] * 25) / sum(sizes)
    assert header[3:] == [
        "tune BLEU",
        "AllTest BLEU",
        *(f"{n} BLEU|gap|TER↓|(TER-BLEU)/2↓".split("|")[i] for n in (2016, 2017) for i in range(4)),
    ]
    assert first == [
        "phrase",
        "base",
        "pro",
        "35.00",
        f"{everything:.2f}",
        "31.50",
        "+3.50",
        "50.00",
        "9.25",
        "25.00",
        "+10.00",
        "55.00",
        "15.00",
    ]
    assert len(more) == 3
    # RM makes fewer errors in the first, PRO in the second.
    marks = [[cell.mark for cell in row] for row in table[1]]
    assert [row[5] for row in marks].index(Mark.BEST) % 2 == 1
    assert [row[9] for row in marks].index(Mark.BEST) % 2 == 0
    assert [row[8] for row in marks].index(Mark.BEST) % 2 == 1
    header, first, *_ = texts(breakdown_table(records, "toy"))
    assert header[3:6] == ["tune precisions", "BP", "length"]
    assert first[3:] == 3 * ["70.0/45.0/30.0/20.0", "0.975", "0.980"]


def test_errors_are_those_of_every_run_and_test_set(tmp_path):
    records = Records([margin_run(tmp_path / "run")])
    comparison = compare_runs(records.outputs, metrics=["ter"], n_trials=0, n_bootstrap=0)
    table = texts(error_table(records, comparison, "toy"))
    assert table[0][:4] == ["test", "system", "features", "optimiser"]
    assert len(table) == 1 + 8
    terms = [row[:5] for row in table[1:] if row[:4] == ["2017", "phrase", "sparse", "rm"]]
    runs = [
        error_profile(records.outputs.translations(cell.key, "2017"), [sentences(20)[:8]])
        for key, cells in records.rows.items()
        if (key.features, key.optimiser) == ("sparse", "rm")
        for cell in cells
    ]
    assert terms == [["2017", "phrase", "sparse", "rm", f"{fmean(run['function_dropped'] for run in runs):.2f}"]]
    rows = {(row[0], *row[2:4]): float(row[-1]) for row in table[1:]}
    for row in comparison.rows:
        shown = rows[row.test, row.key.features, row.key.optimiser]
        assert shown == pytest.approx(100 * row.scores["ter"].mean, abs=0.006)


def test_all_are_on_the_page_and_in_markdown(tmp_path):
    published = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["published"]
    run = margin_run(tmp_path / "run", published=published)
    page = write_report([run], tmp_path / "page.html", n_trials=10).read_text(encoding="utf-8")
    text = markdown_tables([run])
    for heading in ("Spread of model scores", "Tuning and test sets", "Active features", "Errors"):
        assert f"## {heading}" in text
        assert heading in page
    for figure in ("14.00 ± 31.10", "3,400,000", "70.0/45.0/30.0/20.0", "2016 BLEU"):
        assert figure in text
        assert figure in page
    assert "| Chinese-English | MT03 | hiero | sparse | TER |  | 60.60 | 56.10 | 57.70 | 54.60 | Table 3 |" in text


def test_records_of_before_have_none_of_these(tmp_path):
    run = fake_run(tmp_path / "run", seeds=(1,))
    page = write_report([run], tmp_path / "page.html", n_trials=10).read_text(encoding="utf-8")
    text = markdown_tables([run])
    for heading in ("Spread of model scores", "Tuning and test sets"):
        assert heading not in page + text
    assert "| toy | phrase | phrase15 | 13 | 13 |  |" in text


def test_scores_by_the_number_of_tuning_sentences(tmp_path):
    def part(limit):
        return {"train": {"source": "t"}, "dev": {"source": "d", "limit": limit}}

    sizes = {"toy-500": 500, "toy-5000": 5000, "toy-1000": 1000}
    corpora = {name: part(limit) for name, limit in sizes.items()} | {"other": {"dev": {"source": "d", "limit": 1}}}
    run = start_run(tmp_path / "run", corpora=corpora)
    refs = sentences(20)
    for name in corpora:
        write_test_set(run, name, refs, refs)
        for optimiser, more in (("pro", 0.0), ("rm", 0.02)):
            for seed in (1, 2):
                scores = on_set(0.2 + more + sizes.get(name, 0) / 1e5 + seed / 100, 0.5)
                found = {"tests": {"dev": scores, "test": scores}, "tune": on_set(0.4, 0.5)}
                write_cell(run, corpus=name, optimiser=optimiser, seed=seed, lines=refs, **found)
    write_cell(run, corpus="toy-500", system="hiero", lines=refs, tests={"test": on_set(0.3, 0.5)})  # of one size alone
    records = Records([run])
    assert tuning_sizes(records) == {"toy": sizes}
    charts = [*size_charts(records, "bleu")]
    assert [chart.title for chart in charts] == [f"toy: phrase, phrase15, {test}" for test in ("dev", "test")]
    lines = {line.name: line.points for line in charts[0].lines}
    assert [x for x, _ in lines["rm, test"]] == [500, 1000, 5000]
    assert [y for _, y in lines["rm, test"]] == pytest.approx([24, 24.5, 28.5])
    assert [y for _, y in lines["pro, tune"]] == pytest.approx([40, 40, 40])
    page = write_report([run], tmp_path / "page.html", n_trials=10).read_text(encoding="utf-8")
    assert page.count("tuning sentences 1000: 24.50") == 2
    assert "sizes-toy-phrase-phrase15-test.svg" in markdown_tables([run], figures="figures")


def test_published_gains_are_those_of_the_published_scores():
    """Table 5 of Eidelman et al. 2013 from Tables 3 and 4: what we typed is what they printed."""
    entries = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["published"]
    scores = defaultdict(dict)
    for entry in entries:
        if topic_of(entry) is Topic.RESULTS and entry["test"] != "tune":
            group = (entry["features"], entry["metric"])
            scores[group, entry["optimiser"]][entry["corpus"], entry["test"]] = entry["score"]
    gains = [entry for entry in entries if topic_of(entry) is Topic.GAINS]
    assert len(gains) == 14
    for entry in gains:
        metric = entry["metric"].rpartition(" ")[2]
        rm, other = scores[(entry["features"], metric), "rm"], scores[(entry["features"], metric), entry["optimiser"]]
        assert len(other) == 4
        gain = fmean(rm[name] - other[name] for name in rm) * (-1 if metric == "ter" else 1)
        assert entry["score"] == pytest.approx(gain, abs=0.1)  # of rounded scores
    topics = [topic_of(entry) for entry in entries]
    assert {topic: topics.count(topic) for topic in Topic} == {"results": 90, "spread": 9, "features": 10, "gains": 14}
