"""PRO beyond the contract of all optimisers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman import _core
from dragoman.candidates import oracle, read_nbest, rerank, synthetic_pool, with_metric
from dragoman.candidates.synthetic import cosine
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import AddOne, Bleu, SentenceBleu
from dragoman.optim import Acceptance, Prior, Pro, Scaling

FIGURE_1 = [
    [({"x1": 2, "x2": 4}, 0.28), ({"x1": 3, "x2": 8}, 0.42), ({"x1": 6, "x2": 1}, 0.12)],
    [({"x1": -3, "x2": -3}, 0.15), ({"x1": 1, "x2": -5}, 0.18), ({"x1": -5, "x2": -3}, 0.34)],
]


def sample(pool, *, n_draws=5000, n_kept=50, threshold=0.05, logistic=False, seed=1, round_number=0, n_threads=1):
    shard = pool.shards[0]
    gains = pool.metric.segment_gains(shard.stats)
    return _core.sample_pairs(
        shard.sentences, shard.sentence_ids, gains, n_draws, n_kept, threshold, logistic, seed, round_number, n_threads
    )


def test_the_example_candidate_space_of_figure_1():
    pool = pool_of(FIGURE_1)
    weights = Weights.from_dict({"x1": -2.0, "x2": 1.0}, pool.index)
    scores = _core.model_scores(*pool.shards[0].candidates, weights.values)
    assert scores.tolist() == [0, 2, -11, 3, -7, 7]
    # p1 is the best policy by H_w, with H_w(p1) = 9; p2 = {1 -> 3, 2 -> 1} has -8.
    assert rerank(pool, weights).candidates[0].tolist() == [1, 5]
    assert scores[[1, 5]].sum() == 9
    assert scores[[2, 3]].sum() == -8
    # g(1, 1) > g(1, 3) gives the positive instance [-4, 3].
    shard = pool.shards[0]
    rows, ids, values = _core.difference_rows(*shard.candidates, np.array([0]), np.array([2]))
    assert (rows.tolist(), ids.tolist(), values.tolist()) == ([0, 2], [0, 1], [-4.0, 3.0])
    result = Pro().optimise(pool, weights, seed=1)
    assert result.gain_after == oracle(pool).gain() == pytest.approx((0.42 + 0.34) / 2)


def test_the_sampler_keeps_the_greatest_differentials():
    pool = random_pool(1, n_sentences=8, n_candidates=12)
    better, worse = sample(pool, n_draws=2000, n_kept=20)
    gains = pool.shards[0].stats[:, 0]
    sentence = pool.shards[0].sentence_of_each()
    assert (sentence[better] == sentence[worse]).all()
    assert np.bincount(sentence[better]).tolist() == [20] * 8
    for s in range(8):
        kept = (gains[better] - gains[worse])[sentence[better] == s]
        assert (np.diff(kept) <= 0).all()
        every = np.abs(np.subtract.outer(gains[sentence == s], gains[sentence == s]))
        # 2000 draws of 144 pairs see all of them, so the greatest differential is among those kept.
        assert kept[0] == pytest.approx(every.max())


def test_the_threshold():
    pool = pool_of([[({"f": 1.0}, 0.5), ({"f": 2.0}, 0.54), ({"f": 3.0}, 0.56)]])
    better, worse = sample(pool)
    assert set(zip(better.tolist(), worse.tolist(), strict=True)) == {(2, 0)}
    better, _ = sample(pool, threshold=0.5)
    assert len(better) == 0
    with pytest.raises(InputError, match="differ enough"):
        Pro(acceptance=Acceptance.STEP, threshold=0.5).optimise(pool, Weights(pool.index), seed=1)


def test_streams_depend_on_seed_round_and_sentence_alone():
    pool = random_pool(2, n_sentences=40)
    base = sample(pool, n_draws=100)
    for n_threads in (2, 5):
        assert all((a == b).all() for a, b in zip(base, sample(pool, n_draws=100, n_threads=n_threads), strict=True))
    for other in (sample(pool, n_draws=100, seed=2), sample(pool, n_draws=100, round_number=1)):
        assert not np.array_equal(base[0], other[0])
    part = type(pool)(index=pool.index, words=pool.words, shards=(pool.shards[0].part(10, 20),), metric=pool.metric)
    first = pool.shards[0].sentences[10]
    sentence = pool.shards[0].sentence_of_each()
    inside = (sentence[base[0]] >= 10) & (sentence[base[0]] < 20)
    assert (sample(part, n_draws=100)[0] + first == base[0][inside]).all()


def test_logistic_acceptance_is_a_sigmoid_at_the_mean_differential():
    rng = np.random.default_rng(0)
    gains = rng.normal(size=40) * 1000  # any scale
    pool = pool_of([[({"f": float(i)}, value) for i, value in enumerate(gains)]])
    n_draws = 400_000
    better, worse = sample(pool, n_draws=n_draws, n_kept=n_draws, logistic=True)
    differentials = np.abs(np.subtract.outer(gains, gains)).ravel()
    mean, deviation = differentials.mean(), differentials.std()
    assert len(better) / n_draws == pytest.approx(
        np.mean(np.where(differentials > 0, 1 / (1 + np.exp(-(differentials - mean) / deviation)), 0)), abs=0.005
    )
    kept = gains[better] - gains[worse]
    far = kept > mean + deviation
    expected = (1 / (1 + np.exp(-(differentials - mean) / deviation)))[differentials > mean + deviation].sum() / 1600
    assert far.sum() / n_draws == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(("active", "l2"), [(1.0, 1.0), (0.4, 1.0), (1.0, 0.01), (1.0, 300.0)])
@pytest.mark.parametrize("scaling", Scaling)
def test_the_classifier_equals_scikit_learn(active, l2, scaling):
    pool = random_pool(3, n_sentences=30, n_features=8, active=active)
    result = Pro(l2=l2, scaling=scaling).optimise(pool, Weights(pool.index), seed=4)
    shard = pool.shards[0]
    better, worse = sample(pool, n_draws=100, n_kept=100, logistic=True, seed=4)
    x = dense_features(pool)
    differences = (x[better].astype(np.float32) - x[worse].astype(np.float32)).astype(np.float64)
    instances = np.concatenate([differences, -differences])
    labels = np.repeat([1, -1], len(differences))
    scales = {
        Scaling.ACTIVE: np.array([column[column != 0].std() for column in instances.T]),
        Scaling.ALL: instances.std(axis=0),
        Scaling.NONE: np.ones(8),
    }[scaling]
    reference = LogisticRegression(C=1 / l2, fit_intercept=False, tol=1e-10, max_iter=10_000)
    expected = reference.fit(instances / scales, labels).coef_[0] / scales
    assert result.weights.values == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert result.trace[0]["pairs"] == len(better)
    assert len(shard.sentences) == 31


@pytest.mark.parametrize("l2", [0.1, 30.0])
def test_the_penalty_can_draw_to_the_weights_before(l2):
    pool = random_pool(5, n_sentences=30)
    start = Weights.from_dict({"f0": 0.7, "f1": -2.0, "f3": 5.0}, pool.index)
    tied = Pro(prior=Prior.PREVIOUS, l2=l2)
    result = tied.optimise(pool, start, seed=1)
    better, worse = sample(pool, n_draws=100, n_kept=100, logistic=True)
    x = dense_features(pool)[better] - dense_features(pool)[worse]

    def gradient(values):
        slopes = -2 / (1 + np.exp(x @ values))
        return l2 * (values - start.values) * (x**2).mean(axis=0) + slopes @ x

    assert gradient(result.weights.values) == pytest.approx(np.zeros(5), abs=1e-3)
    assert np.abs(gradient(start.values)).max() > 1
    frozen = tied.optimise(pool, start, seed=1, frozen=["f3"]).weights
    assert gradient(frozen.values)[[0, 1, 2, 4]] == pytest.approx(np.zeros(4), abs=1e-3)
    assert frozen["f3"] == 5.0
    stiff = Pro(prior=Prior.PREVIOUS, l2=1e9).optimise(pool, start, seed=1)
    assert stiff.weights.values == pytest.approx(start.values, abs=1e-5)


def test_what_no_pair_teaches_goes_where_the_penalty_draws_it():
    pool = pool_of([[({"f": 1.0, "same": 2.0}, 1.0), ({"f": 0.0, "same": 2.0}, 0.0)]] * 20)
    start = Weights.from_dict({"same": 3.0}, pool.index)
    assert Pro().optimise(pool, start, seed=1).weights["same"] == 0.0
    assert Pro(prior=Prior.PREVIOUS).optimise(pool, start, seed=1).weights["same"] == 3.0


def test_frozen_features_are_part_of_the_margin():
    pool = random_pool(5, n_sentences=30)
    start = Weights.from_dict({"f0": 0.7}, pool.index)
    result = Pro().optimise(pool, start, seed=1, frozen=["f0"])
    better, worse = sample(pool, n_draws=100, n_kept=100, logistic=True)
    x = dense_features(pool)[better] - dense_features(pool)[worse]
    deviations = np.sqrt((x[:, 1:] ** 2).mean(axis=0))

    def gradient(values):
        margins = x @ values
        slopes = -2 / (1 + np.exp(margins))
        return values[1:] * deviations**2 + slopes @ x[:, 1:]

    assert result.weights["f0"] == 0.7
    assert gradient(result.weights.values) == pytest.approx(np.zeros(4), abs=1e-3)
    assert np.abs(gradient(start.values)).max() > 1


def test_synthetic_gold_weights_are_learned_back():
    clean = synthetic_pool(50, seed=1, n_sentences=200, n_candidates=50)
    noisy = synthetic_pool(50, seed=1, n_sentences=200, n_candidates=50, noise=500.0)
    cosines = [
        cosine(Pro().optimise(made.pool, Weights(made.pool.index), seed=1).weights, made.gold)
        for made in (clean, noisy)
    ]
    assert cosines[0] > 0.999
    assert 0.9 < cosines[1] < cosines[0]


def test_psi_interpolates_between_rounds_only():
    previous = Weights.from_dict({"a": 1.0, "b": 2.0})
    learned = Weights.from_dict({"b": 4.0, "c": 10.0, "a": 0.0}, previous.index)
    assert dict(Pro().interpolate(previous, learned).items()) == pytest.approx({"a": 0.7, "b": 2.6, "c": 3.0})
    raw = Pro(units="raw").interpolate(previous, learned)  # the paper's share
    assert dict(raw.items()) == pytest.approx({"a": 0.9, "b": 2.2, "c": 1.0})
    pool = random_pool(6)
    one = Pro(interpolation=0.1).optimise(pool, Weights(pool.index), seed=1)
    other = Pro(interpolation=1.0).optimise(pool, Weights(pool.index), seed=1)
    assert (one.weights.values == other.weights.values).all()


def test_the_length_guard(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for sentence in range(30):
        for _ in range(10):
            n = 60 if rng.random() < 0.03 else int(rng.integers(5, 9))
            lines.append(f"{sentence} ||| {' '.join(rng.choice(list('abcd'), n))} ||| len={n} x={rng.normal():.3f}\n")
    (tmp_path / "list").write_text("".join(lines))
    pool = with_metric(read_nbest(tmp_path / "list"), Bleu(), [["a b c d a b c"]] * 30)
    start = Weights.from_dict({"x": 1.0}, pool.index)
    free = Pro().optimise(pool, start, seed=1)
    guarded = Pro(max_length_deviation=1.0).optimise(pool, start, seed=1)
    assert free.trace[0]["pairs"] == free.trace[0]["sampled"] == guarded.trace[0]["sampled"]
    assert guarded.trace[0]["pairs"] < free.trace[0]["pairs"]
    some, moses = (
        Pro(n_draws=40, sentence_bleu=SentenceBleu(add_one=add_one)).optimise(pool, start, seed=1) for add_one in AddOne
    )
    assert (moses.weights.values != some.weights.values).any()


def test_a_million_features():
    rng = np.random.default_rng(0)
    sentences = [
        [({f"s{i}": 1.0 for i in rng.integers(0, 1_000_000, 50)}, float(rng.random())) for _ in range(10)]
        for _ in range(50)
    ]
    sentences[0][0][0]["s999999"] = 1.0
    pool = pool_of(sentences, dense=False)
    result = Pro().optimise(pool, Weights(pool.index), seed=1)
    assert result.gain_after > 0.9
    assert result.trace[0]["features"] <= len(pool.index)


def test_an_iteration_limit_is_told():
    pool = random_pool(7)
    result = Pro(max_iterations=1).optimise(pool, Weights(pool.index), seed=1)
    assert "before it converged" in result.notes[0]


def test_a_fit_that_begins_at_its_minimum_has_converged():
    """With the previous weights as prior, the same pairs lead to the same weights; the first gradient is tiny."""
    pool = random_pool(7)
    weights = Weights(pool.index)
    pro = Pro(prior=Prior.PREVIOUS, l2=0.1)
    for _ in range(12):
        result = pro.optimise(pool, weights, seed=1)
        assert not any("converged" in note for note in result.notes)
        weights = result.weights


@pytest.mark.parametrize("settings", [{"l2": 0.0}, {"n_kept": 0}, {"threshold": -1.0}, {"interpolation": 0.0}])
def test_settings_are_checked(settings):
    with pytest.raises(InputError):
        Pro(**settings)


def rare_pool(seed, n_sentences, first=0):
    """Three features decide; besides, every candidate has two of many rare ones that mean nothing."""
    rng = np.random.default_rng([seed, first])
    sentences = []
    for _ in range(n_sentences):
        rare = rng.choice(300, size=6, replace=False)
        x = rng.normal(size=(12, 3))
        values = x @ np.array([1.0, -1.0, 0.5]) + rng.normal(size=12)
        names = [[f"rare{i}" for i in rng.choice(rare, size=2, replace=False)] for _ in range(12)]
        sentences.append(
            [
                ({f"f{i}": float(row[i]) for i in range(3)} | dict.fromkeys(more, 1.0), float(value))
                for row, more, value in zip(x, names, values, strict=True)
            ]
        )
    return pool_of(sentences)


@pytest.mark.parametrize("seed", range(3))
def test_rare_features_do_not_drown_the_others(seed):
    """The gain on other sentences; penalties by the deviation over all pairs leave the rarest features almost free."""
    learned_from, others = rare_pool(seed, 60), rare_pool(seed, 200, first=1)
    results = {
        scaling: Pro(scaling=scaling).optimise(learned_from, Weights(learned_from.index), seed=1) for scaling in Scaling
    }
    held_out = {scaling: rerank(others, result.weights.on(others.index)).gain() for scaling, result in results.items()}
    assert held_out[Scaling.ACTIVE] > held_out[Scaling.ALL] + 0.1
    largest = {
        scaling: max(abs(value) for name, value in result.weights.items() if name.startswith("rare"))
        for scaling, result in results.items()
    }
    assert largest[Scaling.ACTIVE] < 0.7 * largest[Scaling.ALL]


def test_sentences_without_a_feature_do_not_change_how_its_weight_is_penalised():
    # Pairs of the second kind know nothing of the rare feature, and their own is at its optimum alone.
    few = [[({"a": 1.0, "rare": 1.0}, 1.0), ({"a": 0.0}, 0.0)]] * 2
    more = [[({"b": 1.0}, 1.0), ({"b": 0.0}, 0.0)]] * 500
    small, large = (pool_of(sentences) for sentences in (few, few + more))

    def weight(pool, scaling):
        return Pro(scaling=scaling, n_draws=1000, n_kept=20).optimise(pool, Weights(pool.index), seed=1).weights["rare"]

    assert weight(large, Scaling.ACTIVE) == pytest.approx(weight(small, Scaling.ACTIVE), rel=0.05)
    assert weight(large, Scaling.ALL) > 1.5 * weight(small, Scaling.ALL)
