"""Sentence-level BLEU against hand computation and a plain twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.kit.pseudo_corpus import PseudoCorpus

from dragoman.errors import InputError
from dragoman.metric import HE_DENG, AddOne, Bleu, SentenceBleu, Smoothing

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


def he_deng(stats, *, eta, smooth_brevity, grounded, clipped):
    """The definition, one number at a time."""
    order = (len(stats) - 2) // 2
    hyp, ref = stats[0], stats[1] + smooth_brevity
    matches, possible = stats[2 : 2 + order], stats[2 + order :]
    if hyp == 0:
        return 0.0

    def precision(matches):
        p = [matches[0] / possible[0]]
        if order > 1:
            p.append(matches[1] / possible[1] if possible[1] else p[0])
        for n in range(2, order):
            prior = min(1.0, p[n - 1] * p[n - 1] / p[n - 2]) if p[n - 2] else 0.0
            p.append((matches[n] + eta * prior) / (possible[n] + eta))
        return math.prod(p) ** (1 / order)

    value = precision(matches)
    if grounded:
        value -= precision([m if n < 2 else 0 for n, m in enumerate(matches)])
    brevity = math.exp(1 - ref / hyp)
    return min(1.0, value * (min(1.0, brevity) if clipped else brevity))


def rows_of(rng, order=4):
    rows = []
    for _ in range(200):
        length = int(rng.integers(0, 12))
        possible = [max(0, length - n) for n in range(order)]
        correct = [int(rng.integers(0, p + 1)) for p in possible]
        rows.append([length, int(rng.integers(0, 12)), *correct, *possible])
    return rows


def test_he_and_deng_by_hand():
    p1, p2 = 5 / 5, 3 / 4
    p3 = (2 + 5 * p2 * p2 / p1) / (3 + 5)
    p4 = (1 + 5 * p3 * p3 / p2) / (2 + 5)
    wanted = (p1 * p2 * p3 * p4) ** 0.25 * math.exp(1 - 6 / 5)
    assert HE_DENG.score(STATS) == pytest.approx(wanted, abs=1e-12)
    # Two words too many: the penalty is above 1.
    longer = np.array([8, 6, 5, 3, 2, 1, 8, 7, 6, 5], dtype=np.float64)
    clipped = SentenceBleu(prior=5.0).score(longer)
    assert HE_DENG.score(longer) == pytest.approx(clipped * math.exp(1 - 6 / 8), abs=1e-12)
    perfect = np.array([6, 6, 6, 5, 4, 3, 6, 5, 4, 3], dtype=np.float64)
    assert HE_DENG.score(perfect) == 1
    one_word = np.array([1, 1, 1, 0, 0, 0, 1, 0, 0, 0], dtype=np.float64)
    assert HE_DENG.score(one_word) == 1
    no_bigram = np.array([5, 5, 3, 0, 0, 0, 5, 4, 3, 2], dtype=np.float64)
    assert HE_DENG.score(no_bigram) == 0


@pytest.mark.parametrize("eta", [0.5, 5.0])
@pytest.mark.parametrize("smooth_brevity", [False, True])
@pytest.mark.parametrize("grounded", [False, True])
@pytest.mark.parametrize("clipped", [False, True])
@pytest.mark.parametrize("order", [1, 2, 4, 5])
def test_a_prior_of_lower_orders_equals_plain(eta, smooth_brevity, grounded, clipped, order):
    rows = rows_of(np.random.default_rng(1), order)
    stats = np.array(rows, dtype=np.float64).reshape(10, 20, 2 + 2 * order)
    options = {"smooth_brevity": smooth_brevity, "grounded": grounded, "clipped": clipped}
    scores = SentenceBleu(prior=eta, **options).score(stats)
    expected = [he_deng(row, eta=eta, **options) for row in rows]
    assert scores.ravel() == pytest.approx(np.array(expected), abs=1e-12)
    assert (scores >= 0).all()
    assert (scores <= 1).all()


def test_brevity_without_a_limit_goes_with_adding_one():
    stats = np.array([8, 6, 5, 3, 2, 1, 8, 7, 6, 5], dtype=np.float64)
    plain = SentenceBleu().score(stats)
    assert SentenceBleu(clipped=False).score(stats) == pytest.approx(plain * math.exp(1 - 6 / 8))


def test_priors_that_make_no_sense():
    for prior in (-1.0, math.inf, math.nan):
        with pytest.raises(InputError, match="must not be negative"):
            SentenceBleu(prior=prior)
    with pytest.raises(InputError, match="leave out add_one=all"):
        SentenceBleu(prior=5.0, add_one=AddOne.ALL)


@pytest.mark.parametrize("add_one", AddOne)
@pytest.mark.parametrize("smooth_brevity", [False, True])
@pytest.mark.parametrize("grounded", [False, True])
def test_vectorised_equals_plain(add_one, smooth_brevity, grounded):
    rows = rows_of(np.random.default_rng(0))
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
    assert once.score(STATS) == Bleu(smoothing=Smoothing.NONE).score_of(0.9 * STATS + STATS)
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
