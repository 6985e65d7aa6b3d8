"""Scores of real translations equal sacrebleu's, segment by segment."""

from __future__ import annotations

import gzip
import lzma

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest
from tests.kit.fake_runs import count_ties_in_sacrebleu, slow_bootstrap, start_run, write_cell, write_test_set

from dragoman import analysis
from dragoman.analysis import SystemOutput, compare_runs, compare_systems
from dragoman.metric import Bleu, Chrf, Ter, output_statistics, references_by_sentence, score_text

pytestmark = pytest.mark.realdata

PAIRS = {
    "bleu": (lambda: BLEU(tokenize="none", force=True), Bleu()),
    "chrf": (CHRF, Chrf()),
    "chrf++": (lambda: CHRF(word_order=2), Chrf(word_order=2)),
    "ter": (TER, Ter()),
}


def lines_of(path):
    reader = lzma.open if path.suffix == ".xz" else gzip.open
    with reader(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().removesuffix("\n").split("\n")


def load(name, data, anchors):
    if name == "bible-mref":
        # Verses of one English version as hypotheses against all four, every sixth from one version further on.
        versions = [lines_of(data / "bible-mref" / f"dev.en.{r}.xz") for r in range(4)]
        hyps = [versions[i % 4][i + 1 if i % 6 == 0 else i] for i in range(0, 1500, 25)]
        refs = [[version[i] for i in range(0, 1500, 25)] for version in versions]
        return hyps, [refs[1], refs[2], refs[3], refs[0]]
    if name == "enja":
        return lines_of(anchors / "moses-enja/phrase/test.out.gz"), [lines_of(data / "enja/test.en.xz")]
    return (
        lines_of(anchors / "moses-multi30k-de/hiero.test2016.out.gz"),
        [lines_of(data / "multi30k/test2016_flickr.en.xz")],
    )


@pytest.mark.parametrize("metric", PAIRS)
@pytest.mark.parametrize("corpus", ["enja", "multi30k", "bible-mref"])
def test_equal_to_sacrebleu(corpus, metric, data, anchors):
    hyps, refs = load(corpus, data, anchors)
    make, ours = PAIRS[metric]
    peer = make()
    theirs = peer._extract_corpus_statistics(hyps, refs)
    stats = output_statistics(ours, [hyps], references_by_sentence(refs, len(hyps)), n_threads=2)[0]
    assert np.array_equal(stats, np.array(theirs, dtype=np.float64))
    result = score_text(ours, hyps, refs)
    assert 100 * result.score == pytest.approx(peer._aggregate_and_compute(theirs).score, abs=1e-9)
    assert result.signature.startswith(str(peer.get_signature()).rpartition("|version:")[0])


def test_all_of_bible_mref_at_once(data):
    """Whole corpora of long verses in one call; copies of a reference need no edits."""
    versions = [lines_of(data / "bible-mref" / f"test.en.{r}.xz") for r in range(4)]
    assert score_text(Ter(), versions[2], versions, n_threads=2).score == 0
    assert 0.3 < score_text(Ter(), versions[0], versions[1:], n_threads=2).score < 1


def test_paired_tests_equal_sacrebleu_but_for_ties(data, anchors, monkeypatch, tmp_path):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    count_ties_in_sacrebleu(monkeypatch)
    ref = lines_of(data / "multi30k/test2016_flickr.en.xz")[:300]
    outputs = [
        (name, lines_of(anchors / f"moses-multi30k-de/{name}.test2016.out.gz")[:300]) for name in ("phrase", "hiero")
    ]
    metrics = {"bleu": BLEU(tokenize="none", force=True), "chrf": CHRF(), "ter": TER()}
    ours = compare_systems(
        [SystemOutput(name=name, runs=(lines,)) for name, lines in outputs],
        [ref],
        [Bleu(), Chrf(), Ter()],
        n_bootstrap=500,
        n_trials=2000,
    )
    _, bootstrap = PairedTest(outputs, metrics, [ref], test_type="bs", n_samples=500)()
    _, randomisation = PairedTest(outputs, metrics, [ref], test_type="ar", n_samples=2000)()
    # sacrebleu's bootstrap is one-sided in effect: its resamples are compared, and the p-value with a slow one's.
    slow = {name: slow_bootstrap(metrics[name], [lines for _, lines in outputs], [ref], n=500)[1] for name in metrics}
    for k, (ours_called, name) in enumerate([("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")]):
        for i, system in enumerate(ours):
            score = system.scores[k]
            assert 100 * score.score == pytest.approx(bootstrap[name][i].score, abs=1e-9)
            # sacrebleu resamples in single precision.
            assert 100 * score.interval.mean == pytest.approx(bootstrap[name][i].mean, abs=1e-3)
            assert 100 * score.interval.half_width == pytest.approx(bootstrap[name][i].ci, abs=1e-3)
            assert score.p_bootstrap == (slow[ours_called] if i else None)
            assert score.p_randomisation == randomisation[name][i].p_value
        assert 0 < ours[1].scores[k].p_randomisation < 1
    # The same through the cells of a run.
    run = start_run(tmp_path / "run")
    write_test_set(run, "multi30k", ref, ref)
    for name, lines in outputs:
        write_cell(run, corpus="multi30k", system=name, lines=lines)
    compared = compare_runs([run], baseline="phrase", n_bootstrap=500, n_trials=2000)
    hiero = compared.rows[0]
    assert hiero.key.system == "hiero"
    for metric, name in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        score = hiero.scores[metric]
        assert 100 * score.mean == pytest.approx(bootstrap[name][1].score, abs=1e-9)
        assert score.p_baseline[analysis.PairedTest.BOOTSTRAP] == slow[metric]
        assert score.p_baseline[analysis.PairedTest.RANDOMISATION] == randomisation[name][1].p_value
