"""Sentence-level BLEU against hand computation and a plain twin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dragoman.errors import InputError
from dragoman.metric import AddOne, Bleu, SentenceBleu, Smoothing
from pseudo_corpus import PseudoCorpus

# Hypothesis "the cat sat on mat" (5 words) against "the cat sat on the mat" (6 words).
STATS = np.array([5, 6, 5, 3, 2, 1, 5, 4, 3, 2], dtype=np.float64)


def plain(stats, *, add_one, smooth_brevity, grounded):
    """The definition, one number at a time."""
    order = (len(stats) - 2) // 2
    hyp, ref = stats[0], stats[1] + smooth_brevity
    if hyp == 0:
        return 0.0

    def precision(correct):
        product = 1.0
        for n in range(order):
            add = 1 if add_one is AddOne.ALL or n > 0 else 0
            product *= (correct[n] + add) / (stats[2 + order + n] + add)
        return product ** (1 / order)

    value = precision(stats[2 : 2 + order])
    if grounded:
        value -= precision([0 if add_one is AddOne.ALL or n > 0 else stats[2] for n in range(order)])
    return value * (math.exp(1 - ref / hyp) if hyp < ref else 1.0)


def test_bleu_plus_one_of_lin_and_och_by_hand():
    precision = (5 / 5 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert SentenceBleu().score(STATS) == pytest.approx(precision * math.exp(1 - 6 / 5), abs=1e-12)


def test_all_orders_form_by_hand():
    precision = (6 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    score = SentenceBleu(add_one=AddOne.ALL).score(STATS)
    assert score == pytest.approx(precision * math.exp(1 - 6 / 5), abs=1e-12)


def test_brevity_smoothing_and_grounding_by_hand():
    precision = (5 / 5 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    ground = (5 / 5 * 1 / 5 * 1 / 4 * 1 / 3) ** 0.25
    score = SentenceBleu(smooth_brevity=True, grounded=True).score(STATS)
    assert score == pytest.approx((precision - ground) * math.exp(1 - 7 / 5), abs=1e-12)


@pytest.mark.parametrize("add_one", AddOne)
@pytest.mark.parametrize("smooth_brevity", [False, True])
@pytest.mark.parametrize("grounded", [False, True])
def test_vectorised_equals_plain(add_one, smooth_brevity, grounded):
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(200):
        length = int(rng.integers(0, 12))
        possible = [max(0, length - n) for n in range(4)]
        correct = [int(rng.integers(0, p + 1)) for p in possible]
        rows.append([length, int(rng.integers(0, 12)), *correct, *possible])
    stats = np.array(rows, dtype=np.float64).reshape(10, 20, 10)
    options = {"add_one": add_one, "smooth_brevity": smooth_brevity, "grounded": grounded}
    scores = SentenceBleu(**options).score(stats)
    expected = [plain(row, **options) for row in rows]
    assert scores.ravel() == pytest.approx(np.array(expected), abs=1e-12)
    assert (scores >= 0).all()
    assert (scores <= 1).all()


def test_grounded_score_of_no_match_is_zero():
    stats = np.array([6, 6, 0, 0, 0, 0, 6, 5, 4, 3], dtype=np.float64)
    assert SentenceBleu(add_one=AddOne.ALL).score(stats) > 0
    assert SentenceBleu(add_one=AddOne.ALL, grounded=True).score(stats) == pytest.approx(0, abs=1e-15)


def test_empty_hypothesis_scores_zero():
    stats = np.array([0, 5, 0, 0, 0, 0, 0, 0, 0, 0], dtype=np.float64)
    for form in AddOne:
        assert SentenceBleu(add_one=form).score(stats) == 0


def test_pseudo_corpus_by_hand():
    start = PseudoCorpus.start()
    once = start.update(STATS, 7)
    assert once.background == pytest.approx(0.9 * STATS)
    assert once.source_length == pytest.approx(6.3)
    total = 1.9 * STATS
    bleu = (5 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25 * math.exp(1 - 6 / 5)
    assert once.score(STATS) == pytest.approx(bleu, abs=1e-12)
    assert once.score(STATS) == Bleu(smoothing=Smoothing.NONE).score(0.9 * STATS + STATS)
    assert once.value(STATS, 8) == pytest.approx((6.3 + 8) * bleu, abs=1e-12)
    assert once.update(STATS, 8).background == pytest.approx(0.9 * total)
    assert start.source_length == 0, "an update leaves the old context alone"


def test_context_lets_a_good_past_forgive_a_missing_order():
    no_fourgram = np.array([5, 5, 4, 2, 1, 0, 5, 4, 3, 2], dtype=np.float64)
    assert PseudoCorpus.start().score(no_fourgram) == 0
    assert PseudoCorpus.start(pseudo_count=1).score(no_fourgram) > 0
    assert PseudoCorpus.start().update(STATS, 6).score(no_fourgram) > 0


def test_pseudo_corpus_is_vectorised():
    context = PseudoCorpus.start(pseudo_count=0.1).update(STATS, 6)
    many = np.stack([STATS, 2 * STATS, 3 * STATS])
    lengths = np.array([1.0, 2.0, 3.0])
    one_by_one = [float(context.value(row, length)) for row, length in zip(many, lengths, strict=True)]
    assert context.value(many, lengths) == pytest.approx(np.array(one_by_one))


def test_pseudo_corpus_rejects_what_does_not_fit():
    with pytest.raises(InputError, match="10 BLEU statistics"):
        PseudoCorpus(background=np.zeros(4))
    with pytest.raises(InputError, match="decay"):
        PseudoCorpus.start(decay=1.5)
