"""Comparison of systems."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.analysis import (
    SystemOutput,
    compare_systems,
    confidence_interval,
    paired_bootstrap,
    paired_randomisation,
    resampled_totals,
    shuffled_totals,
    significance,
)
from dragoman.errors import InputError, MismatchError
from dragoman.metric import Bleu, Chrf, Ter, by_name, score_text

REF = [f"the cat number {i} sat on the mat ." for i in range(50)]
GOOD = [line.replace("cat", "dog") if i % 5 == 0 else line for i, line in enumerate(REF)]
BAD = [line.replace("sat on", "sits upon") if i % 2 else line for i, line in enumerate(REF)]
FEW = {"n_bootstrap": 100, "n_trials": 100}


def system(name, *runs):
    return SystemOutput(name=name, runs=runs)


def test_scores_are_those_of_the_metrics():
    metrics = [Bleu(), Chrf(), Ter(), by_name("(ter-bleu)/2")]
    good, bad = compare_systems([system("good", GOOD), system("bad", BAD)], [REF], metrics, **FEW)
    assert (good.name, bad.name) == ("good", "bad")
    for result, lines in ((good, GOOD), (bad, BAD)):
        for score, metric in zip(result.scores, metrics, strict=True):
            assert score.metric == metric.name
            assert score.score == pytest.approx(score_text(metric, lines, [REF]).score, abs=1e-15)
            assert score.interval.low <= score.score <= score.interval.high
            assert score.std is None
            assert "|bs:100|ar:100|seed:12345|" in score.signature
    assert good.length_ratio == 1
    assert all(score.p_bootstrap is score.p_randomisation is None for score in good.scores)
    assert all(score.p_randomisation < 0.05 for score in bad.scores)


def test_a_system_is_not_better_than_itself():
    _, same = compare_systems([system("a", GOOD), system("b", GOOD)], [REF], [Bleu(), Ter()], **FEW)
    assert all(score.p_bootstrap == score.p_randomisation == 1 for score in same.scores)


def test_one_sentence_of_many_is_no_significant_difference():
    lines = [f"the cat number {i} sat on the mat ." for i in range(500)]
    one = [*lines[:9], "x", *lines[10:]]
    metrics = [Bleu(), Chrf(), Ter()]
    for first, second in ((lines, one), (one, lines)):
        _, other = compare_systems([system("a", first), system("b", second)], [lines], metrics, **FEW)
        for score in other.scores:
            # Swapping one sentence leaves the difference as it is, in every trial.
            assert score.p_randomisation == 1
            assert score.p_bootstrap > 0.1


def test_runs_have_mean_and_deviation():
    runs = [GOOD, BAD, REF]
    (result,) = compare_systems([system("s", *runs)], [REF], [Bleu()], **FEW)
    expected = [score_text(Bleu(), run, [REF]).score for run in runs]
    (score,) = result.scores
    assert score.run_scores == pytest.approx(tuple(expected))
    assert score.score == pytest.approx(np.mean(expected))
    assert score.std == pytest.approx(np.std(expected, ddof=1))
    assert "|ar:" not in score.signature


@pytest.mark.parametrize("copies", [(3, 3), (5, 5), (3, 1), (2, 5)])
def test_a_system_given_several_times_has_the_p_values_of_the_system_given_once(copies):
    metrics = [Bleu(), Chrf(), Ter()]
    fine = [line.replace("mat", "rug") if i % 7 == 0 else line for i, line in enumerate(REF)]
    once = compare_systems([system("a", GOOD), system("b", fine)], [REF], metrics, **FEW)
    runs = [system(name, *[lines] * n) for name, lines, n in zip(("a", "b"), (GOOD, fine), copies, strict=True)]
    again = compare_systems(runs, [REF], metrics, **FEW)
    for a, b in zip(once, again, strict=True):
        for x, y in zip(a.scores, b.scores, strict=True):
            assert x.p_randomisation == y.p_randomisation
            assert x.p_bootstrap == y.p_bootstrap
            assert x.interval.half_width == pytest.approx(y.interval.half_width)
    assert all(0.02 < score.p_randomisation < 1 for score in once[1].scores), "p-values that say something"


def test_tests_can_be_left_out():
    (result, _) = compare_systems([system("a", GOOD), system("b", BAD)], [REF], [Bleu()], n_bootstrap=0, n_trials=0)
    (score,) = result.scores
    assert score.interval is score.p_bootstrap is score.p_randomisation is None
    assert score.signature == Bleu().signature(1)


def test_a_seed_is_a_result():
    def run(seed):
        return compare_systems([system("a", GOOD), system("b", BAD)], [REF], [Bleu()], seed=seed, **FEW)

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_an_empty_test_set_has_scores_but_no_tests():
    for result in compare_systems([system("a", []), system("b", [])], [[]], [Bleu(), Chrf(), Ter()]):
        assert result.length_ratio == 0
        assert all(score.score == 0 and score.interval is None for score in result.scores)


def test_what_does_not_fit_is_named():
    with pytest.raises(MismatchError, match="b has 49 lines but a has 50"):
        compare_systems([system("a", GOOD), system("b", BAD[:-1])], [REF], [Bleu()])
    with pytest.raises(MismatchError, match="reference 1 has 49"):
        compare_systems([system("a", GOOD)], [REF[:-1]], [Bleu()])
    with pytest.raises(InputError, match="no system given"):
        compare_systems([], [REF], [Bleu()])
    with pytest.raises(InputError, match="no metric given"):
        compare_systems([system("a", GOOD)], [REF], [])
    with pytest.raises(InputError, match="no sentences"):
        resampled_totals(np.zeros((2, 0, 3)), 10, 1)
    with pytest.raises(InputError, match="must be at least 1"):
        shuffled_totals(np.zeros((5, 3)), np.zeros((1, 5, 3)), 0, 1)


def test_blocks_do_not_change_the_draws(monkeypatch):
    stats = np.random.default_rng(0).integers(0, 9, size=(3, 37, 4)).astype(np.float64)

    def draw():
        return (
            resampled_totals(stats, 100, 5),
            *shuffled_totals(stats[0], stats[1:], 100, 5),
        )

    whole = draw()
    monkeypatch.setattr(significance, "_BLOCK_DRAWS", 1)
    for a, b in zip(whole, draw(), strict=True):
        assert np.array_equal(a, b)


def test_totals_by_hand():
    """The same draws, one resample at a time."""
    stats = np.random.default_rng(1).integers(0, 9, size=(3, 20, 4)).astype(np.float64)
    drawn = np.random.default_rng(9).choice(20, size=(30, 20), replace=True)
    totals = resampled_totals(stats, 30, 9)
    for k in range(30):
        assert np.array_equal(totals[k], stats[:, drawn[k]].sum(axis=1))
    stays = np.random.default_rng(9).integers(2, size=(30, 20), dtype=bool)
    first, second = shuffled_totals(stats[0], stats[1:], 30, 9)
    for k in range(30):
        mask = stays[k][:, None]
        for other in (1, 2):
            assert np.array_equal(first[k, other - 1], np.where(mask, stats[0], stats[other]).sum(axis=0))
            assert np.array_equal(second[k, other - 1], np.where(mask, stats[other], stats[0]).sum(axis=0))


def test_p_values_by_hand():
    zero = np.zeros(4)
    assert paired_randomisation(np.array([0.1, -0.3, 0.2, 0.4]), zero, 0.2) == 4 / 5
    # Of differences with the mean 0.1 the second and the last are at least 0.3 from it, one on either side.
    assert paired_bootstrap(np.array([0.1, -0.3, 0.2, 0.4]), zero, 0.3) == 3 / 5


def test_interval_cuts_a_fortieth():
    interval = confidence_interval(np.arange(1000, dtype=np.float64)[::-1])
    assert (interval.low, interval.high, interval.mean, interval.half_width) == (25, 974, 499.5, 474.5)
