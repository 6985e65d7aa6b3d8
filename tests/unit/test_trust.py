"""Intervals of weights, and tests of methods on held-out sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.kit.pools import random_pool

from dragoman.analysis import START
from dragoman.analysis.resampling import bootstrap_weights, cross_validate, deal_sentences
from dragoman.analysis.resampling.held_out import held_out_tests
from dragoman.candidates import rerank
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.optim import Mert, Optimiser, Pro
from dragoman.optim.base import Learned


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed(Optimiser):
    """Always the same weights."""

    name = "fixed"
    values: tuple[float, ...] = ()

    def learn(self, problem):
        return Learned(values=np.array(self.values), trace=[])


class Broken(Optimiser):
    name = "broken"

    def optimise(self, pool, start, **options):
        raise FailedError("nothing to learn")


def start_of(pool):
    return Weights.from_dict({"f0": 1.0}, pool.index)


def test_held_out_scores_are_those_of_all_sentences():
    pool = random_pool(4, n_sentences=30, bleu=True)
    rows = cross_validate(pool, {"mert": Mert(n_starts=2), "pro": Pro()}, start_of(pool), seed=2, n_folds=3)
    tests = {test.method: test for test in held_out_tests(pool, rows, fold_seed=2)}
    assert set(tests) == {START, "mert", "pro"}
    assert tests[START].score == pytest.approx(rerank(pool, start_of(pool)).score())
    total = 0.0
    for fold in deal_sentences(pool, 3, seed=2):
        others = np.setdiff1d(np.arange(30), fold)
        weights = Mert(n_starts=2).optimise(pool.of_sentences(others), start_of(pool), seed=2).weights
        total = total + rerank(pool.of_sentences(fold), weights).total()
    assert tests["mert"].score == pytest.approx(float(pool.metric.score_of(total)))
    for test in tests.values():
        assert test.interval.low <= test.score <= test.interval.high
    (best,) = [test for test in tests.values() if test.p_best is None]
    assert best.method == max(rows[1:], key=lambda row: row.gain).method
    learned = rows[1].train_gain - rows[0].train_gain
    assert tests["mert"].holds == pytest.approx((tests["mert"].score - tests[START].score) / learned)


def test_equal_methods_do_not_differ():
    pool = random_pool(5, n_sentences=20, bleu=True)
    n = len(pool.index)
    same = Fixed(values=tuple(np.linspace(1, 2, n)))
    rows = cross_validate(pool, {"one": same, "two": same}, start_of(pool), seed=1, n_folds=4)
    one, two = held_out_tests(pool, rows, fold_seed=1)[1:]
    assert one.score == two.score
    assert {one.p_best, two.p_best} == {None, 1.0}


def test_methods_that_failed_are_not_tested():
    pool = random_pool(6, n_sentences=20, bleu=True)
    rows = cross_validate(pool, {"broken": Broken(), "pro": Pro()}, start_of(pool), seed=1, n_folds=4)
    assert [test.method for test in held_out_tests(pool, rows, fold_seed=1)] == [START, "pro"]


def test_weights_of_resamples():
    pool = random_pool(7, n_sentences=25, bleu=True)
    found = bootstrap_weights(pool, Pro(), start_of(pool), seed=3, n_resamples=6)
    assert [weight.name for weight in found.weights] == pool.dense_names()
    assert found.n_resamples == len(found.left_out) == 6
    for weight in found.weights:
        assert -1 <= weight.low <= weight.median <= weight.high <= 1
        assert 0 < weight.same_sign <= 1
    assert found == bootstrap_weights(pool, Pro(), start_of(pool), seed=3, n_resamples=6, n_threads=3)
    mean, low, high = found.interval()
    assert low <= mean <= high


def test_weights_that_do_not_depend_on_sentences_have_no_interval():
    pool = random_pool(8, n_sentences=20, bleu=True)
    values = np.arange(1.0, len(pool.index) + 1)
    found = bootstrap_weights(pool, Fixed(values=tuple(values)), start_of(pool), seed=1, n_resamples=3)
    shares = values[sorted(pool.dense)] / values[sorted(pool.dense)].sum()
    assert [weight.low for weight in found.weights] == pytest.approx(shares.tolist())
    assert [weight.high for weight in found.weights] == pytest.approx(shares.tolist())


def test_what_cannot_be_bootstrapped():
    pool = random_pool(9, n_sentences=20, bleu=True)
    with pytest.raises(InputError, match="at least 2 resamples"):
        bootstrap_weights(pool, Pro(), start_of(pool), seed=1, n_resamples=1)
    with pytest.raises(FailedError, match="no weights on 3 of 3 resamples"):
        bootstrap_weights(pool, Broken(), start_of(pool), seed=1, n_resamples=3)
