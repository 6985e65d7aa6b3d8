"""The page of an experiment holds everything, stands alone, and escapes whatever a corpus holds."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

import pytest
from tests.kit.fake_runs import explanation, fake_run, noisy, rounds, sentences, start_run, write_cell, write_test_set
from tests.kit.html_pages import HOSTILE, read

from dragoman.analysis import RowKey, compare_runs
from dragoman.errors import InputError, MismatchError
from dragoman.features.descriptions import DENSE_FEATURES
from dragoman.run import CellKey, CellResult, CellRound, SetScores, cell_folder, start_file
from dragoman.view import report
from dragoman.view.report import markdown_tables, write_report
from dragoman.view.report.chart_svg import draw_chart
from dragoman.view.report.charts import COLOURS, Dash
from dragoman.view.report.comparison import latex_text, markdown_text
from dragoman.view.report.experiment import load_experiment
from dragoman.view.report.figures import FAR, learning_charts, run_charts, weight_charts
from dragoman.view.report.glossary import GLOSSARY
from dragoman.view.report.records import Records
from dragoman.view.report.samples import Change, differences


def few(runs, out, **more):
    return write_report(runs, out, n_trials=100, **more)


def test_the_page_has_all_sections(tmp_path):
    published = [{"optimiser": "pro", "metric": "bleu", "score": 42.5, "deviation": 0.05, "source": "Table 1"}]
    run = fake_run(tmp_path / "run", rates={"mert": 0.3, "pro": 0.1}, published=published, cost="one hour")
    write_cell(run, optimiser="mira", error="no luck")
    page = read(few([run], tmp_path / "report.html", svg=tmp_path / "svg"))
    ids = {attrs.get("id") for _, attrs in page.tags}
    sections = {
        "results",
        "learning",
        "runs",
        "weights",
        "active",
        "cost",
        "errors",
        "sentences",
        "settings",
        "words",
    }
    assert sections | {"missing"} <= ids
    for link in page.named("a"):
        assert link["href"].removeprefix("#") in ids
    for text in ("A fake run", "Nobody 2011", "42.50 ± 0.05", "one hour", "mira/1 failed: no luck", "approximate rand"):
        assert text in page.text, text
    charts = [attrs["data-chart"] for attrs in page.named("figure")]
    assert len(charts) == len(set(charts)) == 6
    assert sorted(f"{name}.svg" for name in charts) == sorted(path.name for path in (tmp_path / "svg").iterdir())
    for path in (tmp_path / "svg").iterdir():
        assert ET.parse(path).getroot().tag.endswith("svg")
    series = {attrs["data-name"]: attrs for attrs in page.named("g") if "data-name" in attrs}
    assert {"mert, dev", "mert, test", "pro, dev", "pro, test", "mert, dev, seed 1"} <= set(series)
    assert series["mert, dev, seed 1"]["data-entry"] == series["mert, dev"]["data-entry"]
    dots = [attrs["data-points"].split("\n") for attrs in page.named("g") if "seed 1: " in attrs.get("data-points", "")]
    assert [len(points) for points in dots] == [3, 3]


def test_the_page_stands_alone(tmp_path):
    page = read(few([fake_run(tmp_path / "run")], tmp_path / "report.html"))
    assert not page.named("link")
    assert not page.named("img")
    for tag, attrs in page.tags:
        assert "src" not in attrs, tag
        assert not [name for name in attrs if name.startswith("on")], tag
    (policy,) = [attrs["content"] for attrs in page.named("meta") if attrs.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    ((_, text),) = page.scripts
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert (tmp_path / "report.html").stat().st_size < 150_000


def test_features_of_derivations_are_explained_on_hover(tmp_path):
    run = start_run(tmp_path / "run")
    write_test_set(run, "c", ["das haus"], ["the house"])
    shown = explanation("das haus", "the house")
    foreign = {"name": "TranslationModel0_0", "value": 1.0, "weight": 0.1, "contribution": 0.1}
    shown["features"] = [*shown["features"], foreign]
    write_cell(run, corpus="c", optimiser="mert", seed=1, lines=["the house"], derivations=[(0, shown)])
    page = read(few([run], tmp_path / "report.html"))
    explained = [attrs["title"] for attrs in page.named("abbr")]
    assert DENSE_FEATURES["lm"] in explained
    assert set(explained) <= {DENSE_FEATURES["lm"], *GLOSSARY.values()}
    assert "TranslationModel0_0" in page.text


def test_hostile_text_stays_text(tmp_path):
    corpus = "<img src=x onerror=alert(1)>'\"&"
    run = start_run(
        tmp_path / "run",
        title=HOSTILE[0],
        citation=HOSTILE[1],
        expected=HOSTILE[3],
        cost=HOSTILE[5],
        published=[{"score": 1.0, **dict.fromkeys(("corpus", "system", "source", "note"), HOSTILE[0])}],
        other={text: text for text in HOSTILE},
    )
    write_test_set(run, corpus, HOSTILE, list(reversed(HOSTILE)))
    weights = {f"{name}:x".replace("\x1b", ""): 0.5 + i for i, name in enumerate(HOSTILE)}
    broken = [explanation(text, text, tree=(text, f"  {text}")) for text in HOSTILE]
    for one, text in zip(broken, HOSTILE, strict=True):
        one["features"] = [{"name": text, "value": 1.0, "weight": 2.0, "contribution": 2.0}]
    for seed in (1, 2):
        write_cell(
            run,
            corpus=corpus,
            features="<b>f",
            optimiser="x\"onload='y'",
            seed=seed,
            lines=HOSTILE,
            weights=weights,
            derivations=list(enumerate(broken)),
        )
    write_cell(run, corpus=corpus, features="f", optimiser="o", error=HOSTILE[0])
    harmless = fake_run(tmp_path / "plain", seeds=(1, 2))
    write_cell(harmless, optimiser="mira", error="no luck")
    plain = read(few([harmless], tmp_path / "plain.html"))
    out = few([run], tmp_path / "report.html", svg=tmp_path / "svg")
    page = read(out)
    assert len(page.scripts) == len(plain.scripts) == 1
    assert page.scripts == plain.scripts
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags} | {"pre", "del"}
    for tag, attrs in page.tags:
        assert not [name for name in attrs if name.startswith("on")], (tag, attrs)
        assert "src" not in attrs
    for text in (HOSTILE[0], HOSTILE[1], HOSTILE[2], "{{ 7 * 7 }}"):
        assert text in page.text
    raw = out.read_text(encoding="utf-8")
    for char in "\u2028\u2029\u202e\x1b":
        assert char not in raw
    for attrs in page.named("g"):
        for line in attrs.get("data-points", "0 0 x").split("\n"):
            assert re.match(r"\d+ \d+ .", line)
    for path in (tmp_path / "svg").iterdir():
        root = ET.parse(path).getroot()
        assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
            "svg", "title", "path", "text", "circle", "rect", "g"
        }  # fmt: skip
    text = markdown_tables([run])
    assert "<" not in text
    assert r"\[31m" in text or "31m" not in text


def test_markdown(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.4, "pro": 0.1})
    (tmp_path / "docs").mkdir()
    page = report.write_markdown([run], tmp_path / "docs" / "result.md")
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (page.parent / target).exists(), target
    rows = [line for line in text.splitlines() if line.startswith("| phrase |")]
    assert len(rows) == 10
    assert sum("**" in line for line in rows) == 1
    assert "| system | features | optimiser | without a class | tm | wp | all |" in text
    assert "| phrase | phrase15 | mert | 1 | 1 | 1 | 3 |" in text
    # Three rounds of 5, 5.1 and 5.2 s of decoding and 1.5 s of learning.
    assert "| phrase | phrase15 | mert | 3.0 | 15.3 | 0.6 | 4.5 | 20.4 | 12.0 | 6.8 | 300 |" in text


def test_methods_side_by_side(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.4, "pro": 0.1}, report={"within": "system"})
    refs = sentences(40)
    assert "on the test set" not in markdown_tables([run])  # two rows of results say as much
    for seed in (1, 2, 3):
        write_cell(run, system="hiero", optimiser="pro", seed=seed, lines=noisy(refs, 0.3, seed))
    comparison = compare_runs([run], metrics=["bleu"])
    means = {row.key.name: f"{100 * row.scores['bleu'].mean:.2f} ± " for row in comparison.rows}
    lines = markdown_tables([run]).splitlines()
    first = lines.index("| corpus | system | features | start | pro | mert |")
    hiero, phrase = lines[first + 2 : first + 4]
    # The made-up runs begin with 19 on their test sets; marks are within a system.
    assert re.fullmatch(
        rf"\| toy \| hiero \| phrase15 \| 19.00 \| \*\*{means['hiero/phrase15/pro']}.*\*\* \|  \|", hiero
    )
    assert phrase.startswith(f"| toy | phrase | phrase15 | 19.00 | **{means['phrase/phrase15/pro']}")
    assert f"** | {means['phrase/phrase15/mert']}" in phrase
    page = write_report([run], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "BLEU on the test set, by optimiser" in page


def test_published_figures_that_fit_none_of_ours_stand_side_by_side(tmp_path):
    paper = {"corpus": "urdu", "system": "phrase", "source": "Table 1"}
    published = [
        {**paper, "optimiser": "mert", "score": 17.7, "note": "tune 20.5"},
        {**paper, "optimiser": "pro", "score": 18.2, "deviation": 0.05},
        {**paper, "optimiser": "pro", "score": 18.4, "features": "more"},
    ]
    run = fake_run(tmp_path / "run", rates={"mert": 0.4, "pro": 0.1}, published=published)
    lines = markdown_tables([run]).splitlines()
    first = lines.index("| corpus | system | features | metric | mert | pro | source |")
    assert lines[first + 2 : first + 4] == [
        "| urdu | phrase |  | BLEU | 17.70 (tune 20.5) | 18.20 ± 0.05 | Table 1 |",
        "| urdu | phrase | more | BLEU |  | 18.40 | Table 1 |",
    ]
    page = write_report([run], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Here: our row" not in page


def test_markdown_into_a_page_that_has_a_place_for_it(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.4, "pro": 0.1})
    page = tmp_path / "page.md"
    page.write_text("# Mine\n\n<!-- results -->\nstale\n<!-- end of results -->\n\nRead so.\n", encoding="utf-8")
    for _ in range(2):
        report.write_markdown([run], page)
        text = page.read_text(encoding="utf-8")
        assert text.startswith("# Mine\n\n<!-- results -->\n## Results\n")
        assert text.endswith("<!-- end of results -->\n\nRead so.\n")
        assert "stale" not in text
        assert text.count("\n## Results\n") == 1
    shown = {Path(target).name for target in re.findall(r"\]\(([^)]+)\)", text)}
    assert shown == {path.name for path in (tmp_path / "page").iterdir()}
    bad = [
        "<!-- end of results -->\n<!-- results -->\n",
        "mine\n<!-- results -->",
        "<!-- results --> \n",
        2 * "<!-- results -->\n<!-- end of results -->\n",
    ]
    for text in bad:
        page.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="expected the line <!-- results --> once"):
            report.write_markdown([run], page)
        assert page.read_text(encoding="utf-8") == text
    with pytest.raises(InputError, match="give the page a suffix"):
        report.write_markdown([run], tmp_path / "page")


def test_a_row_that_failed_leaves_room_for_the_others(tmp_path):
    rates = {"mert": 0.4, "pro": 0.1, "mira": 0.3}
    (chart,) = run_charts(compare_runs([fake_run(tmp_path / "run", rates=rates)], n_trials=10), sorted(rates))
    far = {"mert", "mira", "pro"} - set(chart.rows)
    means = [fmean(values) for values in chart.values]
    assert max(means) - min(means) <= 2 * FAR
    assert all(name in chart.x_label for name in far)
    assert far


def test_a_mean_curve_is_of_runs_that_have_every_round():
    def cell(seed, tests):
        rounds = tuple(
            CellRound(round=i, dev=0.1 * i, test=test, n_candidates=1, n_features=1, n_active=1,
                      decode_wall_s=1, decode_cpu_s=1, learn_wall_s=1, learn_cpu_s=1)
            for i, test in enumerate(tests, 1)
        )  # fmt: skip
        key = CellKey(corpus="c", system="s", features="f", optimiser="o", seed=seed)
        return CellResult(key=key, rounds=rounds)

    cells = [cell(1, (0.2, 0.3, 0.4)), cell(2, (0.2, None, 0.9))]
    (chart,) = learning_charts(SimpleNamespace(rows={RowKey.of(cells[0].key): cells}, optimisers=["o"]))
    lines = {line.name: [y for _, y in line.points] for line in chart.lines}
    assert lines["o, test"] == pytest.approx([20, 30, 40])
    assert lines["o, dev"] == pytest.approx([10, 20, 30])
    assert set(lines) == {"o, dev", "o, dev, seed 1", "o, dev, seed 2", "o, test"}


def test_a_run_with_little_in_it(tmp_path):
    """No weights, no derivations, no rounds: there is still a page."""
    run = start_run(tmp_path / "run", published="nonsense", report=None)
    write_test_set(run, "toy", ["a b", ""], ["a b", ""])
    write_cell(run, lines=["a b", ""], n_rounds=0, stages=(), scores={})
    page = read(few([run], tmp_path / "report.html"))
    assert "Sentence 1" in page.text
    with pytest.raises(InputError, match="folder does not exist"):
        few([run], tmp_path / "absent" / "report.html")
    (run / "run.json").write_text("[]")
    with pytest.raises(InputError, match="is not a JSON object; the run is damaged"):
        few([run], tmp_path / "report.html")


def test_the_recipe_says_what_to_report(tmp_path):
    text = fake_run(tmp_path / "text", report={"metrics": "ter"})
    assert load_experiment([text], n_trials=0).comparison.metrics == ("ter",)
    run = fake_run(tmp_path / "run", report={"metrics": ["chrf"], "baseline": ["mert", "fold-mert"]})
    (run / "recipe.json").write_text(json.dumps({"title": "From the recipe"}))
    page = read(few([run], tmp_path / "report.html"))
    assert "From the recipe" in page.text
    assert "against the baseline mert" in page.text
    assert "TER" not in page.text


def test_several_runs(tmp_path):
    runs = [fake_run(tmp_path / name, corpus=name) for name in ("a.b", "a-b")]
    page = read(few(runs, tmp_path / "report.html"))
    charts = [attrs["data-chart"] for attrs in page.named("figure")]
    assert len(charts) == len(set(charts)) == 12
    damaged = runs[0] / "cells/a.b/phrase/phrase15/mert/1/derivations.jsonl"
    for line in (
        '{"sentence": 0}',
        '{"sentence": 0, "explanation": {"score": 1, "pieces": [{"span": [1]}]}}',
        "[",
        "[]",
    ):
        damaged.write_text(line + "\n")
        with pytest.raises(InputError, match=r"derivations.jsonl, line 1: is not a derivation"):
            few(runs, tmp_path / "report.html")


def test_differences():
    spans = differences("the big cat slept", ["a dog ran", "the cat slept here"])
    assert [(span.change, span.text) for span in spans] == [
        (Change.SAME, "the"),
        (Change.ADDED, "big"),
        (Change.SAME, "cat slept"),
        (Change.MISSING, "here"),
    ]
    assert [span.change for span in differences("", ["a"])] == [Change.MISSING]
    assert differences("", [""]) == []
    assert [span.change for span in differences("a b", [])] == [Change.SAME]


def dense_run(folder, *, start=0.2):
    """Two optimisers on dense features that gain ten points on dev, from a start that scores `start` on test."""
    run = start_run(folder)
    refs = sentences(40)
    write_test_set(run, "toy", refs, refs)
    for optimiser, rate in (("mert", 0.3), ("pro", 0.1)):
        weights, steps = {"lm": 0.5, "words": -1.0}, rounds(3, start=start + 0.01, end=start + 0.11)
        write_cell(run, optimiser=optimiser, lines=noisy(refs, rate, 1), weights=weights, rounds=steps, metric="bleu")
    return run


def test_dense_features_are_not_counted(tmp_path):
    run = dense_run(tmp_path / "run")
    page = read(few([run], tmp_path / "report.html"))
    assert "active" not in {attrs.get("id") for _, attrs in page.tags}
    assert "ctive features" not in page.text
    assert "ctive features" not in markdown_tables([run])


def test_gains_that_do_not_carry_over_are_said(tmp_path):
    helps = load_experiment([dense_run(tmp_path / "helps")], n_trials=0)
    assert helps.remarks() == []
    tuned = {row.key.optimiser: row.scores["bleu"] for row in helps.comparison.rows}
    mert, pro = tuned["mert"], tuned["pro"]
    run = dense_run(tmp_path / "chance", start=mert.mean + 0.01)
    (said,) = load_experiment([run], n_trials=0).remarks()
    assert f"from {100 * mert.mean + 1:.2f}: mert −1.00, pro +{100 * (pro.mean - mert.mean) - 1:.2f}" in said
    assert said.endswith("the start lies outside that of pro.")
    assert f"With 40 test sentences a score's 95% confidence interval is ±{100 * mert.interval.half_width:.1f}" in said
    assert said in read(few([run], tmp_path / "report.html")).text
    assert "## Results\n\nphrase, phrase15: tuning gained" in markdown_tables([run])
    (said,) = load_experiment([dense_run(tmp_path / "better", start=pro.mean)], n_trials=0).remarks()
    assert said.endswith("the start lies outside that of mert.")


def test_gains_on_dev_are_those_of_decoding(tmp_path):
    """Not those of weights on the move, which the rounds of learners may have measured."""
    run = start_run(tmp_path / "run")
    refs = sentences(40)
    write_test_set(run, "toy", refs, refs)
    steps = rounds(3, start=0.91, end=0.95)
    tune = SetScores(scores={"bleu": 0.93}, length_ratio=1, precisions=(), brevity_penalty=1)
    write_cell(run, lines=noisy(refs, 0.3, 1), rounds=steps, metric="bleu", tune=tune)
    (said,) = load_experiment([run], n_trials=0).remarks()
    assert f"mert +{93 - 100 * steps[0].dev:.2f})" in said


def test_names_in_markdown_and_latex():
    assert markdown_text("a|b*c_d<e>`") == r"a\|b\*c\_d&lt;e&gt;\`"
    assert latex_text("50% of_a & b\\c{~^") == (
        r"50\% of\_a \& b\textbackslash{}c\{\textasciitilde{}\textasciicircum{}"
    )


def test_a_file_in_the_way_of_figures_is_named(tmp_path):
    run = fake_run(tmp_path / "run", seeds=(1,))
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(InputError, match="figures: is not a usable folder for figures"):
        write_report([run], tmp_path / "report.html", svg=tmp_path / "figures", n_trials=10)


def test_unknown_does_not_flatten_the_other_weights(tmp_path):
    run = start_run(tmp_path / "run")
    write_test_set(run, "toy", ["a b"], ["a b"])
    for optimiser, unknown in (("mert", -0.5), ("pro", -500.0)):
        write_cell(run, optimiser=optimiser, lines=["a b"], weights={"lm": 0.3, "words": -0.4, "unknown": unknown})
    (chart,) = weight_charts(Records([run]))
    last = {panel.title: [line.points[-1][1] for line in panel.lines] for panel in chart.panels}
    assert set(last) == {"lm", "words"}
    for name in ("lm", "words"):
        assert last[name][0] == pytest.approx(last[name][1])
        assert abs(last[name][0]) > 0.4


def test_one_look_has_one_meaning(tmp_path):
    """Colours are optimisers, solid lines test and dashed lines development sets; parts of bars have no colour."""
    run = fake_run(tmp_path / "run", rates={"mert": 0.3, "pro": 0.1})
    refs = sentences(40)
    write_cell(run, system="hiero", optimiser="pro", lines=noisy(refs, 0.3, 1))
    experiment = load_experiment([run], n_trials=10)
    optimisers = experiment.records.optimisers
    for topic, charts in experiment.charts.items():
        for chart in charts:
            lines = [line for panel in getattr(chart, "panels", [chart]) for line in getattr(panel, "lines", ())]
            for line in lines:
                assert optimisers[line.colour] in line.name, (topic, line.name)
                assert (line.dash is Dash.DASHED) == line.name.partition(",")[2].startswith(" dev"), line.name
    (time,) = experiment.charts["time"]
    picture = str(draw_chart(time))
    assert not [colour for colour in COLOURS if colour in picture]
    assert len({entry.shade for entry in time.legend()}) == len(time.legend()) == 3


def test_the_headline_says_what_learning_gained(tmp_path):
    run = dense_run(tmp_path / "run", start=0.2)
    (said,) = load_experiment([run], n_trials=100).headlines()
    scores = {row.key.optimiser: 100 * row.scores["bleu"].mean for row in compare_runs([run], n_trials=0).rows}
    assert said.startswith(
        f"On the test set, pro has a BLEU of {scores['pro']:.1f}; the weights it began with score 20.0"
    )
    assert said.endswith(f"so learning gains {scores['pro'] - 20:.1f} points.")
    refs = sentences(40)
    write_cell(run, optimiser="pro", features="more", lines=refs, metric="bleu", rounds=rounds(3, start=1.01, end=1.02))
    (said,) = load_experiment([run], n_trials=100).headlines()
    assert said.startswith("On the test set, pro with the features more has a BLEU of 100.0; the weights it began with")
    assert "so learning gains nothing there. The best with the features phrase15 (pro) is " in said
    assert "significant, p = 0.0" in said


def test_the_headline_says_whether_the_gain_may_be_chance(tmp_path):
    run = dense_run(tmp_path / "run", start=0.2)
    refs = sentences(40)
    key = CellKey(corpus="toy", system="phrase", features="phrase15", optimiser="pro", seed=1)
    own = (cell_folder(run, key) / "test.txt").read_text("utf-8").split("\n")[:-1]
    far = noisy(refs, 0.6, 2)
    for start, said in ((far, "significant, p = 0.0"), (own, "may be chance, p = 1.00")):
        start_file(cell_folder(run, key)).write_text("".join(f"{line}\n" for line in start), "utf-8")
        (found,) = load_experiment([run], n_trials=100).headlines()
        assert said in found.partition("learning gains")[2]
    (found,) = load_experiment([run], n_trials=0).headlines()
    assert "p =" not in found
    start_file(cell_folder(run, key)).write_text("a\n", "utf-8")
    with pytest.raises(MismatchError, match="has 1 lines"):
        load_experiment([run], n_trials=100)


def test_unknown_words_have_no_panel(tmp_path):
    run = start_run(tmp_path / "run")
    write_test_set(run, "toy", ["a b"], ["a b"])
    write_cell(run, lines=["a b"], weights={"unknown": -5.0, "lm": 0.5, "words": -1.0})
    (chart,) = load_experiment([run], n_trials=0).charts["weights"]
    assert [panel.title for panel in chart.panels] == ["words", "lm"]
    write_cell(run, lines=["a b"], weights={"unknown": -5.0})
    assert load_experiment([run], n_trials=0).charts["weights"] == []


def test_a_page_without_content_has_no_section_for_it(tmp_path):
    run = start_run(tmp_path / "run")
    write_test_set(run, "toy", ["a b"], ["a b"])
    write_cell(run, lines=["a b"], n_rounds=0, stages=())
    page = read(few([run], tmp_path / "report.html"))
    ids = {attrs.get("id") for _, attrs in page.tags}
    assert ids.isdisjoint({"learning", "weights", "active", "spread"})
    for link in page.named("a"):
        assert link["href"].removeprefix("#") in ids
