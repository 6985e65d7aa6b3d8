"""Reports of what learned from the training text, or was tuned on parts of it, from hand-made records."""

from __future__ import annotations

from dataclasses import replace
from statistics import stdev

import pytest
from tests.kit.fake_runs import fake_run, noisy, rounds, sentences, start_run, write_cell, write_test_set

from dragoman.analysis import PairedTest, compare_runs, holm
from dragoman.cost import StageCost
from dragoman.features import SignFlips
from dragoman.run import SetScores, Update
from dragoman.view.report import load_experiment, markdown_tables, write_page
from dragoman.view.report.baseline import baseline_table
from dragoman.view.report.figures import active_charts
from dragoman.view.report.records import Records
from dragoman.view.report.results import cost_table, feature_table, overview_table, score_table
from dragoman.view.report.training import flip_table, training_charts, update_table
from dragoman.view.report.tuning_sets import tuning_sets


def texts(table):
    return [[cell.text for cell in row] for row in (table[0], *table[1])]


def on_set(bleu):
    scores = {"bleu": bleu, "chrf": 0.5, "ter": 0.5}
    return SetScores(scores=scores, length_ratio=1.0, precisions=(0.6, 0.3), brevity_penalty=1.0)


def as_dicts(table):
    header, *rows = texts(table)
    return [dict(zip(header, row, strict=True)) for row in rows]


def both_pages(run, tmp_path):
    experiment = load_experiment([run], n_trials=20)
    page = write_page(experiment, tmp_path / "page.html").read_text(encoding="utf-8")
    return page, markdown_tables(experiment, figures="figures")


@pytest.fixture
def steps():
    return (
        StageCost(name="start", wall_s=20.0, cpu_s=30.0, peak_bytes=0),
        StageCost(name="gradient-1", wall_s=50.0, cpu_s=90.0, peak_bytes=0, cached=True),
    )


def test_every_method_beside_the_baseline(tmp_path, steps):
    run = start_run(tmp_path / "run", report={"baseline": "mert", "metrics": ["bleu"]})
    refs = sentences(40)
    write_test_set(run, "toy", refs, refs)
    cells = {"mert": ("base", 0.3, 0.40, ()), "hols": ("sparse", 0.1, 0.43, steps)}
    for optimiser, (features, rate, tune, made) in cells.items():
        for seed in (1, 2):
            tests = {"test": on_set(0.3), "train1000": on_set(tune + seed / 50)}
            found = {"tests": tests, "tune": on_set(tune + seed / 100), "steps": made}
            lines = noisy(refs, rate, seed)
            write_cell(run, features=features, optimiser=optimiser, seed=seed, lines=lines, **found)
    records = Records([run])
    comparison = compare_runs([run], metrics=["bleu"], baseline="mert", n_trials=100, n_bootstrap=0)
    by_optimiser = {row.key.optimiser: row for row in comparison.rows}
    (mert, hols) = as_dicts(baseline_table(records, comparison, "toy"))
    assert (mert["p"], mert["Δ"]) == ("", "")
    assert mert["tune BLEU"] == "41.50 ± 0.71"
    assert hols["train1000 BLEU"] == f"46.00 ± {stdev([45, 47]):.2f}"
    ours, theirs = (by_optimiser[name].scores["bleu"] for name in ("hols", "mert"))
    difference = 100 * (ours.mean - theirs.mean)
    assert texts(baseline_table(records, comparison, "toy"))[2][5:9] == [
        "+3.00", f"{100 * ours.mean:.2f} ± {100 * ours.std:.2f}", f"{difference:+.2f}",
        f"{ours.p_baseline[PairedTest.RANDOMISATION]:.4f}",
    ]  # fmt: skip
    in_rounds = sum(entry.decode_cpu_s + entry.learn_cpu_s + entry.statistics_cpu_s for entry in rounds(3))
    assert (mert["CPU s"], hols["CPU s"]) == (f"{in_rounds:.0f}", f"{in_rounds + 120:.0f}")
    costs = {row["optimiser"]: row for row in as_dicts(cost_table(records, "toy"))}
    assert costs["hols"]["steps on training lines, CPU s"] == "120.0"
    assert costs["hols"]["CPU s a round"] == costs["mert"]["CPU s a round"] == f"{in_rounds / 3:.1f}"
    assert float(costs["hols"]["wall s"]) - float(costs["mert"]["wall s"]) == 70
    assert baseline_table(records, compare_runs([run], n_trials=10), "toy") is None
    for text in both_pages(run, tmp_path):
        assert "Against mert" in text


def test_what_learned_before_its_first_round_does_not_tell_the_start(tmp_path, steps):
    run = start_run(tmp_path / "run", report={"metrics": ["bleu"]})
    refs = sentences(20)
    write_test_set(run, "toy", refs, refs)
    lines = noisy(refs, 0.5, 1)
    for optimiser, made in (("mert", ()), ("hols", steps)):
        learned = 0.4 if made else 0.2
        entries = tuple(replace(entry, test=learned) for entry in rounds(3))
        write_cell(run, optimiser=optimiser, lines=lines, rounds=entries, tune=on_set(0.9), steps=made)
    header, row = texts(overview_table(Records([run]), compare_runs([run], n_trials=0, n_bootstrap=0)))
    assert row[header.index("start")] == "20.00"
    by_optimiser = {row["optimiser"]: row for row in as_dicts(score_table(Records([run]), "toy"))}
    names = ("dev, start", "test, start")
    assert [by_optimiser["hols"][name] for name in names] == ["", ""]
    assert by_optimiser["mert"]["test, start"] == "20.00" != by_optimiser["mert"]["dev, start"] != ""
    assert not any("hols" in remark for remark in load_experiment([run], n_trials=0).remarks())


def test_no_steps_no_column(tmp_path):
    run = fake_run(tmp_path / "run")
    assert not [name for name in texts(cost_table(Records([run]), "toy"))[0] if "steps" in name]


def drawn_corpora(main):
    tests = {"test": {"source": "t"}, "train1000": {"drawn": "in", "lines": 1000, "skip": 1000}}
    devs = {"toy-dev": {"source": "d", "limit": 1000}, "toy-in": {"drawn": "in"}, "toy-out": {"drawn": "out"}}
    corpora = {name: {"train": {"source": main}, "dev": dev, "tests": tests} for name, dev in devs.items()}
    return corpora | {"other": {"train": {"source": "x"}, "dev": {"drawn": "in"}, "tests": tests}}


def test_tuning_sets_against_test_sets(tmp_path):
    run = start_run(tmp_path / "run", corpora=drawn_corpora("train"), report={"metrics": ["bleu"]})
    refs = sentences(60)
    rates = {"toy-dev": 0.1, "toy-in": 0.5, "toy-out": 0.12, "other": 0.1}
    flat = start_run(tmp_path / "flat")  # the same as optimisers on one corpus
    write_test_set(flat, "toy", refs, refs)
    for corpus, rate in rates.items():
        write_test_set(run, corpus, refs, refs)
        for seed in (1, 2, 3):
            found = {"test": on_set(1 - rate), "train1000": on_set(rate + seed / 100)}
            lines = noisy(refs, rate, 10 * len(corpus) + seed)
            write_cell(run, corpus=corpus, seed=seed, lines=lines, tests=found, tune=on_set(0.25))
            write_cell(flat, optimiser=corpus, seed=seed, lines=lines)
    (sets,) = tuning_sets(Records([run]), "bleu", n_trials=200)
    assert sets.title == "toy: phrase, phrase15, mert"
    assert texts(sets.scores()) == [
        ["tuning set", "runs", "tune BLEU", "test", "train1000"],
        ["toy-dev", "3", "25.00 ± 0.00", "90.00 ± 0.00", "12.00 ± 1.00"],
        ["toy-in", "3", "25.00 ± 0.00", "50.00 ± 0.00", "52.00 ± 1.00"],
        ["toy-out", "3", "25.00 ± 0.00", "88.00 ± 0.00", "14.00 ± 1.00"],
    ]
    pairs = {(pair.first, pair.second): pair for pair in sets.compared}
    assert len(pairs) == len(sets.compared) == 3  # what seeds draw is not compared
    p_values = {}
    for first, second in pairs:
        against = compare_runs([flat], metrics=["bleu"], baseline=first, n_trials=200, n_bootstrap=0)
        theirs = {row.key.optimiser: row.scores["bleu"] for row in against.rows}
        p_values[first, second] = theirs[second].p_baseline[PairedTest.RANDOMISATION]
    for other, sign in (("toy-dev", -1), ("toy-out", 1)):
        pair = pairs["toy-in", other] if sign > 0 else pairs[other, "toy-in"]
        assert pair.difference == pytest.approx(sign * 100 * (theirs["toy-in"].mean - theirs[other].mean))
    assert {names: pair.p_value for names, pair in pairs.items()} == holm(p_values)
    assert pairs["toy-in", "toy-out"].p_value < 0.05
    for text in both_pages(run, tmp_path):
        assert "52.00 ± 1.00" in text
        assert "Any two of them" in text


def test_tuning_sets_of_another_test_set_are_not_compared(tmp_path):
    run = start_run(tmp_path / "run", corpora=drawn_corpora("train"))
    for corpus, seed in {"toy-dev": 1, "toy-in": 1, "toy-out": 2}.items():
        refs = sentences(10, seed)
        write_test_set(run, corpus, refs, refs)
        write_cell(run, corpus=corpus, lines=refs, tests={"test": on_set(0.5)})
    (sets,) = tuning_sets(Records([run]), "bleu", n_trials=10)
    assert not sets.compared
    assert texts(sets.scores())[1] == ["toy-dev", "1", "", "50.00"]


def test_curves_over_training_sentences(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.3})
    refs = sentences(40)
    for optimiser, up in (("svm", 0.0), ("svm-all", 0.5)):
        for seed in (1, 2):
            made = [
                replace(entry, dev=0.3 - i / 100, test=0.2 + seed / 100, train=0.4 + up + i / 10, n_trained=1000)
                for i, entry in enumerate(rounds(4))
            ]
            made[-1] = replace(made[-1], train=None, n_trained=0)  # only measured
            write_cell(run, optimiser=optimiser, seed=seed, lines=refs, n_rounds=4, rounds=tuple(made))
    charts = {chart.title.rpartition(" ")[2]: chart for chart in training_charts(Records([run]))}
    assert list(charts) == ["svm", "svm-all"]
    assert charts["svm"].y_reach == charts["svm-all"].y_reach == pytest.approx((21.5, 110))
    lines = {line.name: line.points for line in charts["svm"].lines}
    assert lines["dev"] == [(x, pytest.approx(30 - x / 1000)) for x in (0, 1000, 2000, 3000)]
    assert lines["test"] == [(x, pytest.approx(21.5)) for x in (0, 1000, 2000, 3000)]
    assert lines["train"] == [(x, pytest.approx(35 + x / 100)) for x in (500, 1500, 2500)]
    page, text = both_pages(run, tmp_path)
    assert "training sentences 1500: 50" in page
    assert "figures/training-toy-phrase-phrase15-svm-all.svg" in text


def updates_of(alphas, flips=True):
    groups = ("1-2", "31+", "largest 100")
    return tuple(
        Update(
            update=min(i + 1, 2),
            searched="dev" if i + 1 == len(alphas) else "held-out",
            blocks={"hols_before": 0.9, "hols_step": alpha} if i else {"hols_step_to_2_lists": alpha},
            score_before=0.3,
            score_after=0.31,
            n_lines=20_000,
            n_features=123_456,
            loss=1.5,
            factor=12.5,
            dense_scale=2.0,
            flips=tuple(SignFlips(group=name, n_features=1000, n_flipped=125, cosine=-0.5) for name in groups)
            if flips and i == 1
            else (),
        )
        for i, alpha in enumerate(alphas)
    )


def test_possible_features_are_those_of_the_gradient(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.3})
    updates = tuple(replace(update, n_seen=1000 * update.update) for update in updates_of([0.5, 0.25]))
    write_cell(run, optimiser="hols", lines=sentences(40), updates=updates)
    (row,) = as_dicts(feature_table(Records([run])))
    assert row["possible"] == "2,000"


def test_updates_and_what_oscillates(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.3})
    refs = sentences(40)
    for seed, alpha in ((1, 0.2), (2, 0.4)):
        write_cell(run, optimiser="hols", seed=seed, lines=refs, updates=updates_of([0.5, 0.25, alpha]))
    records = Records([run])
    first, second, last = as_dicts(update_table(records))
    assert (first["update"], first["searched on"], first["α to 2 lists"], first["c₁"]) == ("1", "held-out", "1", "")
    assert (second["α"], second["c₁"], second["gradient lines"]) == ("0.5", "1.8", "20,000")
    assert (last["update"], last["searched on"], last["α"], last["after"]) == ("2", "dev", "0.6", "31.00")
    flips = as_dicts(flip_table(records))
    assert [row["features in lists"] for row in flips] == ["1-2", "31+", "largest 100"]
    assert (flips[0]["update 2: flipped"], flips[0]["cosine"]) == ("12.5% of 1,000", "-0.50")
    for text in both_pages(run, tmp_path):
        assert "Updates of held-out line search" in text
        assert "12.5% of 1,000" in text


def test_nothing_of_this_in_other_runs(tmp_path):
    for text in both_pages(fake_run(tmp_path / "run"), tmp_path):
        for heading in ("Against", "Tuning sets", "Learning from the training text", "held-out"):
            assert heading not in text


def test_active_features_are_drawn_where_their_number_moves(tmp_path):
    weights = {"lm": 0.5, "rule_id:1": 0.2}
    run, refs = start_run(tmp_path / "run"), sentences(20)
    write_test_set(run, "toy", refs, refs)
    for features, n_active in (("still", None), ("moving", 3)):
        steps = [replace(entry, n_active=entry.round * n_active if n_active else 15) for entry in rounds(3)]
        write_cell(run, features=features, lines=refs, weights=weights, rounds=tuple(steps))
    (chart,) = active_charts(Records([run]))
    assert "moving" in chart.title
    assert [y for _, y in chart.lines[0].points] == [3, 6, 9]
