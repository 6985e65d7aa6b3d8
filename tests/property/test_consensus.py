"""Minimum Bayes risk equals a loop over sacrebleu's sentence scores, for lists of any texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.mbr_twin import PEERS, expected_by_hand

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric import Bleu, Chrf, External, Lexicon, Ter, Wer, WordMetric, by_name

WORDS = ["the", "The", "a", "cat", "cat,", "(sat", "on", "mat.", "été", "日本"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
lists_of_texts = st.lists(st.lists(texts, max_size=6), min_size=1, max_size=4)


def flat(lists):
    return [text for each in lists for text in each], np.cumsum([0, *map(len, lists)], dtype=np.int64)


@pytest.mark.parametrize("name", PEERS)
@given(lists=lists_of_texts, seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_expected_gains_are_the_loop(name, lists, seed):
    ours, peer = PEERS[name]
    candidates, offsets = flat(lists)
    mass = np.random.default_rng(seed).random(len(candidates))
    got = ours.expected_text_gains(candidates, offsets, mass)
    assert got == pytest.approx(expected_by_hand(peer, candidates, offsets, mass), abs=1e-9)


@given(lists=lists_of_texts)
@settings(max_examples=40, deadline=None)
def test_expected_matches_are_clipped_counts(lists):
    candidates, offsets = flat(lists)
    mass = np.linspace(0.5, 1, len(candidates))
    lexicon = Lexicon()
    segments = lexicon.segments(text.split() for text in candidates)
    got = _core.expected_matches(segments.offsets, segments.ids, offsets, mass, order=4, n_threads=1)
    list_of = np.repeat(np.arange(len(lists)), np.diff(offsets)).astype(np.int32)
    for h, text in enumerate(candidates):
        others = [r for r in range(len(candidates)) if list_of[r] == list_of[h]]
        stats = Bleu().text_statistics([text] * len(others), [[candidates[r]] for r in others])
        assert got[h] == pytest.approx(mass[others] @ stats[:, 2:6], abs=1e-9)


def many(n_lists=7, seed=3):
    rng = np.random.default_rng(seed)
    lists = [
        [" ".join(rng.choice(WORDS, size=rng.integers(0, 15))) for _ in range(rng.integers(1, 40))]
        for _ in range(n_lists)
    ]
    candidates, offsets = flat(lists)
    return candidates, offsets, rng.random(len(candidates))


@pytest.mark.parametrize("metric", [Bleu(), Chrf(word_order=2), Ter(), by_name("(ter-bleu)/2")], ids=lambda m: m.name)
def test_threads_change_nothing(metric):
    candidates, offsets, mass = many()
    one = metric.expected_text_gains(candidates, offsets, mass, n_threads=1)
    assert one.tobytes() == metric.expected_text_gains(candidates, offsets, mass, n_threads=4).tobytes()


def test_a_mix_is_the_mean_of_its_terms():
    candidates, offsets, mass = many()
    mixed = by_name("0.3*chrf + 0.1*bleu").expected_text_gains(candidates, offsets, mass)
    parts = [metric.expected_text_gains(candidates, offsets, mass) for metric in (Chrf(), Bleu())]
    assert mixed == pytest.approx(0.75 * parts[0] + 0.25 * parts[1])


def test_repeated_texts_are_one_with_their_mass():
    candidates, offsets, mass = ["a b", "a c", "a b", "a b"], np.array([0, 4]), np.full(4, 0.25)
    twice = Bleu().expected_text_gains(candidates, offsets, mass)
    once = Bleu().expected_text_gains(["a b", "a c"], np.array([0, 2]), np.array([0.75, 0.25]))
    assert twice == pytest.approx(once[[0, 1, 0, 0]])


def test_texts_of_more_than_65535_units():
    """The counts of a pair do not fit into 16 bits."""
    long = " ".join(["ab"] * 40_000)
    gains = Chrf(char_order=2).expected_text_gains([long, long + " a"], np.array([0, 2]), np.array([0.0, 1.0]))
    assert gains[0] == pytest.approx(1, abs=1e-4)
    assert gains[0] < gains[1] == 1


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="cannot compare candidates with each other"):
        External(label="q").expected_text_gains(["a"], np.array([0, 1]), np.ones(1))
    with pytest.raises(InputError, match="at most 8"):
        Chrf(char_order=9).expected_text_gains(["a"], np.array([0, 1]), np.ones(1))
    with pytest.raises(ValueError, match="not negative"):
        Bleu().expected_text_gains(["a"], np.array([0, 1]), -np.ones(1))
    with pytest.raises(ValueError, match="lists must"):
        Bleu().expected_text_gains(["a"], np.array([0, 2]), np.ones(1))


class SlowWer(Wer):
    """Without a kernel, as a metric of one's own."""

    _expected = WordMetric._expected


@pytest.mark.parametrize("lowercase", [False, True])
def test_a_metric_without_a_kernel_takes_one_candidate_after_another_as_reference(lowercase):
    texts = ["Der Hund", "der hund bellt", "", "ein Hund bellt", "das Haus", "Das Haus"]
    lists, mass = np.array([0, 4, 4, 6]), np.array([0.5, 0.25, 0, 0.25, 0.75, 0.25])
    slow, fast = (
        metric(lowercase=lowercase).expected_text_gains(texts, lists, mass, n_threads=2) for metric in (SlowWer, Wer)
    )
    np.testing.assert_allclose(slow, fast, rtol=0, atol=1e-12)
    assert len(set(fast.tolist())) > 3
