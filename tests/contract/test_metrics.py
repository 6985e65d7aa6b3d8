"""What every metric promises, on the same small corpus."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.metric import (
    Bleu,
    Chrf,
    Draws,
    External,
    Lexicon,
    Metric,
    ReferenceLength,
    Ribes,
    Smoothing,
    Ter,
    Wer,
    by_name,
)

METRICS = {
    "bleu": Bleu(),
    "bleu unsmoothed": Bleu(smoothing=Smoothing.NONE),
    "bleu floor": Bleu(smoothing=Smoothing.FLOOR, effective_order=True),
    "bleu add-k": Bleu(smoothing=Smoothing.ADD_K, smooth_value=0.5),
    "bleu average": Bleu(reference_length=ReferenceLength.AVERAGE, max_order=2, lowercase=True),
    "bleu shortest": Bleu(reference_length=ReferenceLength.SHORTEST),
    "chrf": Chrf(),
    "chrf++": Chrf(word_order=2, lowercase=True),
    "chrf words only": Chrf(char_order=0, word_order=3, beta=1),
    "ter": Ter(),
    "ter cased": Ter(case_sensitive=True),
    "wer": Wer(),
    "wer lowercased": Wer(lowercase=True),
    "ribes": Ribes(),
    "ribes lowercased": Ribes(lowercase=True, alpha=1, beta=0),
    "(ter-bleu)/2": by_name("(ter-bleu)/2"),
    "chrf and bleu": by_name("0.3*chrf++ + 0.7*bleu"),
}
WORDS = ["the", "a", "Cat", "cat", "sat", "on", "mat", ".", ",", "été", "(so)"]


def corpus(seed: int, n_sentences: int = 40, n_candidates: int = 3):
    rng = np.random.default_rng(seed)

    def line() -> str:
        return " ".join(rng.choice(WORDS, size=rng.integers(0, 15)))

    refs = [[line() for _ in range(rng.integers(1, 4))] for _ in range(n_sentences)]
    hyps = [line() for _ in range(n_sentences * n_candidates)]
    return hyps, np.repeat(np.arange(n_sentences, dtype=np.int32), n_candidates), refs


def statistics(metric: Metric, hyps, sentence, refs, n_threads=1):
    return metric.text_statistics(hyps, refs, sentence=sentence, n_threads=n_threads)


@pytest.fixture(params=METRICS, name="metric")
def each_metric(request) -> Metric:
    return METRICS[request.param]


def test_shape_and_dtype(metric):
    stats = statistics(metric, *corpus(1))
    assert stats.shape == (120, metric.n_stats)
    assert stats.dtype == np.float64
    assert np.isfinite(stats).all()


def test_threads_change_nothing(metric):
    one = statistics(metric, *corpus(2), n_threads=1)
    many = statistics(metric, *corpus(2), n_threads=5)
    assert one.tobytes() == many.tobytes()


def test_a_candidate_does_not_depend_on_the_others(metric):
    hyps, sentence, refs = corpus(3)
    together = statistics(metric, hyps, sentence, refs)
    order = np.random.default_rng(0).permutation(len(hyps))
    apart = statistics(metric, [hyps[i] for i in order], sentence[order], refs)
    assert np.array_equal(together[order], apart)


def test_order_of_references_changes_no_score(metric):
    hyps, sentence, refs = corpus(4)
    forward = statistics(metric, hyps, sentence, refs)
    backward = statistics(metric, hyps, sentence, [lines[::-1] for lines in refs])
    assert metric.score_of(forward) == pytest.approx(metric.score_of(backward), abs=1e-12)


def test_a_copy_of_the_reference_is_best(metric):
    _, _, refs = corpus(5)
    refs = [[f"{line} the cat sat on the mat" for line in lines[:1]] for lines in refs]
    perfect = metric.gain(statistics(metric, [lines[0] for lines in refs], None, refs).sum(axis=0))
    assert perfect == pytest.approx(1.0, abs=1e-12)
    worse = [lines[0].replace("cat", "dog") for lines in refs]
    assert metric.gain(statistics(metric, worse, None, refs).sum(axis=0)) < perfect


def test_gain_points_up(metric):
    totals = statistics(metric, *corpus(6))
    score, gain = metric.score_of(totals), metric.gain(totals)
    order = np.argsort(score if metric.higher_is_better else -score, kind="stable")
    assert (np.diff(gain[order]) >= -1e-12).all()


def test_score_is_vectorised(metric):
    stats = statistics(metric, *corpus(7))
    cube = stats.reshape(8, 15, metric.n_stats)
    one_by_one = [[float(metric.score_of(row)) for row in plane] for plane in cube]
    assert metric.score_of(cube) == pytest.approx(np.array(one_by_one), abs=1e-15)
    assert metric.score_of(cube).shape == metric.gain(cube).shape == (8, 15)
    assert metric.score_of(cube[0, 0]).shape == ()
    assert cube.tobytes() == stats.tobytes(), "scoring must not change its input"


def test_statistics_add_up_to_a_corpus(metric):
    hyps, sentence, refs = corpus(8)
    stats = statistics(metric, hyps, sentence, refs)
    parts = [statistics(metric, hyps[i : i + 30], sentence[i : i + 30], refs) for i in range(0, 120, 30)]
    assert np.array_equal(stats.sum(axis=0), np.sum([part.sum(axis=0) for part in parts], axis=0))


def test_an_empty_corpus_has_a_score(metric):
    stats = statistics(metric, [], None, [])
    assert stats.shape == (0, metric.n_stats)
    assert np.isfinite(metric.score_of(stats.sum(axis=0)))


def test_id_arrays_give_what_text_gives(metric):
    hyps, sentence, refs = corpus(9)
    lexicon = Lexicon()
    segments = lexicon.segments(line.split() for line in hyps)
    references = lexicon.references([line.split() for line in lines] for lines in refs)
    spelling = lexicon.spelling()
    stats = metric.statistics(segments, references, sentence=sentence, spelling=spelling)
    assert np.array_equal(stats, statistics(metric, hyps, sentence, refs))


def test_signature_names_references_and_version(metric):
    assert metric.signature(3).count("nrefs:3|") == metric.signature(3).count("|version:dragoman-") >= 1
    assert "nrefs:var|" in metric.signature(None)
    drawn = metric.signature(1, Draws(n_bootstrap=1000, n_trials=10000, seed=7))
    assert "nrefs:1|bs:1000|ar:10000|seed:7|" in drawn


def test_external_keeps_the_same_promises():
    metric = External(label="comet")
    stats = metric.from_values([0.5, 0.25, 0.75])
    assert stats.shape == (3, metric.n_stats)
    assert metric.score_of(stats.sum(axis=0)) == 0.5
    assert np.array_equal(metric.score_of(stats), [0.5, 0.25, 0.75])
    assert np.array_equal(metric.gain(stats), metric.score_of(stats))
    assert metric.score_of(np.zeros(2)) == 0.0
    assert External(higher_is_better=False).gain(stats[0]) == 0.5
    assert metric.signature(None).startswith("nrefs:var|external:comet|version:dragoman-")
