"""The sentences that the report shows: which, in what order, and with what."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from tests.kit.fake_runs import noisy, sentences, start_run, write_cell, write_test_set
from tests.kit.html_pages import read

from dragoman.view.report import write_report
from dragoman.view.report.records import Records
from dragoman.view.report.samples import choose_sentences, samples, sentence_scores


def few(runs, out, **more):
    return write_report(runs, out, n_trials=100, **more)


def test_sentences_without_derivations_come_from_all_over(tmp_path):
    run = start_run(tmp_path / "run")
    refs = sentences(50)
    write_test_set(run, "toy", refs, refs, list(reversed(refs)))
    write_cell(run, lines=refs)
    page = read(few([run], tmp_path / "report.html"))
    assert page.text.count("Sentence ") == 50
    assert "reference 2" in page.text


def test_sentences_are_the_most_different_the_worst_and_the_longest():
    scores = np.array([[0.9, 0.5, 0.2, 0.9, 0.8, 0.7], [0.9, 0.9, 0.1, 0.8, 0.8, 0.7]])
    lengths = [5, 5, 5, 5, 9, 5]
    assert choose_sentences(scores, lengths, [], 1) == [1]  # systems differ most
    assert choose_sentences(scores, lengths, [], 2) == [1, 2]  # the worst
    assert choose_sentences(scores, lengths, [], 3) == [1, 2, 4]  # the longest
    assert choose_sentences(scores, lengths, [5], 3) == [1, 2, 5]
    assert choose_sentences(scores, lengths, [], 99) == [0, 1, 2, 3, 4, 5]


def test_scores_of_sentences_are_those_of_sacrebleu(tmp_path):
    references, systems = sentences(8), [noisy(sentences(8), 0.4, 1), sentences(8, seed=3)]
    ours = sentence_scores(systems, [references])
    chrf = sacrebleu.CHRF()
    theirs = [
        [chrf.sentence_score(line, [ref]).score / 100 for line, ref in zip(system, references, strict=True)]
        for system in systems
    ]
    assert ours == pytest.approx(np.array(theirs))


def test_every_sentence_has_what_sorting_needs(tmp_path):
    run = start_run(tmp_path / "run")
    refs = sentences(9)
    write_test_set(run, "toy", refs, refs)
    for optimiser, rate in (("mert", 0.0), ("pro", 0.5)):
        write_cell(run, optimiser=optimiser, lines=noisy(refs, rate, 1))
    page = read(few([run], tmp_path / "report.html"))
    shown = page.named("article")
    assert [int(attrs["data-number"]) for attrs in shown] == [*range(1, 10)]
    scores = sentence_scores([noisy(refs, 0.5, 1)], [refs])[0]
    for attrs, score, ref in zip(shown, scores, refs, strict=True):
        assert float(attrs["data-best"]) == 1
        assert float(attrs["data-worst"]) == pytest.approx(score, abs=1e-4)
        assert float(attrs["data-difference"]) == pytest.approx(1 - score, abs=1e-4)
        assert int(attrs["data-length"]) == len(ref.split())
    (form,) = page.named("form")
    assert "hidden" in form  # the script shows it
    assert form["data-tools"] in {attrs.get("id") for _, attrs in page.tags}
    assert "greatest difference" in page.text


def test_systems_that_agree_on_a_sentence_stand_together(tmp_path):
    run = start_run(tmp_path / "run")
    write_test_set(run, "toy", ["eins"], ["one two three four"])
    for optimiser, line in (("mert", "one two three"), ("pro", "one two three"), ("mira", "four")):
        write_cell(run, optimiser=optimiser, lines=[line])
    (sample,) = samples(Records([run]), "toy")
    assert [[name.main for name in shown.names] for shown in sample.translations] == [["mert", "pro"], ["mira"]]
    assert [shown.best for shown in sample.translations] == [True, False]
