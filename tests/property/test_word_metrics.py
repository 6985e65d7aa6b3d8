"""WER and RIBES equal their definitions, as metrics and as utilities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import word_metric_twin as twin

from dragoman.errors import InputError
from dragoman.metric import Ribes, Wer, by_name, metric_label

texts = st.lists(st.sampled_from(["a", "A", "b", "c", "d"]), max_size=9)
sentences = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=5)


def joined(rows):
    return [" ".join(words) for words in rows]


@given(rows=sentences, alpha=st.sampled_from([0.0, 0.25, 1.0]), beta=st.sampled_from([0.1, 2.0]))
@settings(max_examples=200, deadline=None)
def test_statistics_are_those_of_the_definition(rows, alpha, beta):
    hyps, refs = joined(words for words, _ in rows), [joined(several) for _, several in rows]
    assert Wer().text_statistics(hyps, refs) == pytest.approx(np.array([twin.wer(*row) for row in rows], dtype=float))
    got = Ribes(alpha=alpha, beta=beta).text_statistics(hyps, refs)
    assert got[:, 0] == pytest.approx(np.array([twin.ribes(*row, alpha, beta) for row in rows]), abs=1e-9)
    assert (got[:, 1] == 1).all()


@given(rows=st.lists(st.lists(texts, max_size=5), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_expected_gains_are_a_loop_over_pairs(rows, seed):
    candidates, lists = [words for each in rows for words in each], np.cumsum([0, *map(len, rows)], dtype=np.int64)
    mass = np.random.default_rng(seed).random(len(candidates))
    for metric in (Wer(), Ribes()):
        expected = np.zeros(len(candidates))
        for begin, end in pairwise(lists.tolist()):
            for h in range(begin, end):
                for r in range(begin, end):
                    stats = metric.text_statistics(joined([candidates[h]]), [joined([candidates[r]])])
                    expected[h] += mass[r] * metric.segment_gains(stats)[0]
        for n_threads in (1, 3):
            got = metric.expected_text_gains(joined(candidates), lists, mass, n_threads=n_threads)
            assert got == pytest.approx(expected, abs=1e-8)


def test_by_hand():
    """Two clauses in the other order; the second `he` is found by `because he`, the first by `he got`."""
    reference = "he caught a cold because he got soaked in the rain"
    assert Ribes().text_statistics([reference], [[reference]])[0, 0] == 1
    turned = "he got soaked in the rain because he caught a cold"
    places = [5, 6, 7, 8, 9, 10, 4, 5, 1, 2, 3]
    ascending = sum(a < b for i, a in enumerate(places) for b in places[i + 1 :])
    for precision in (0, 1):
        found = Ribes(alpha=precision, beta=1).text_statistics([turned], [["nothing", reference]])
        assert found[0, 0] == pytest.approx(ascending / 55, abs=1e-9)
    assert Wer().text_statistics(["a b c d"], [["a c d e", "b c d"]]).tolist() == [[1, 3.5]]


def test_case_and_names():
    assert by_name("wer", lowercase=True) == Wer(lowercase=True)
    assert Wer(lowercase=True).text_statistics(["A b"], [["a B"]])[0, 0] == 0
    assert Ribes(lowercase=True).text_statistics(["A b"], [["a B"]])[0, 0] == 1
    assert Wer().text_statistics(["A b"], [["a B"]])[0, 0] == 2
    assert by_name("(wer - ribes)/2").name == "0.5*wer - 0.5*ribes"
    assert [metric_label(name) for name in ("wer", "ribes")] == ["WER", "RIBES"]
    assert Ribes().signature(2).startswith("nrefs:2|case:mixed|alpha:0.25|beta:0.1|version:")


def test_exponents_are_checked():
    with pytest.raises(InputError, match="at least 0, not -1"):
        Ribes(alpha=-1)
    with pytest.raises(InputError, match="at least 0"):
        Ribes(beta=float("nan"))


def test_long_texts_of_one_word():
    """All n-grams occur everywhere: no place is certain but the ends, and time is that of the product of lengths."""
    long = " ".join(["a"] * 3000)
    assert Ribes(alpha=0, beta=0).text_statistics([long], [[long]])[0, 0] == 1
    assert Wer().text_statistics([long], [[long + " b a"]]).tolist() == [[2, 3002]]
