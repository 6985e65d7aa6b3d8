"""Losses of candidate lists: values by slow twins, gradients by finite differences and by counting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman import _core
from dragoman.metric import AddOne, Bleu, SentenceBleu
from dragoman.optim import ExpectedGain, OracleLikelihood, PerceptronLoss, SoftRampLoss, StructuredHinge, gain_scale

LOSSES = {
    "xbleu": (ExpectedGain, {"gamma": 0.7}),
    "softramp": (SoftRampLoss, {"cost_scale": 3.0}),
    "cll": (OracleLikelihood, {}),
    "svm": (StructuredHinge, {"cost_scale": 2.0}),
    "perceptron": (PerceptronLoss, {}),
}


@pytest.fixture(params=LOSSES, name="name")
def each_name(request):
    return request.param


def made(name, pool, **changes):
    make, settings = LOSSES[name]
    return make(metric=pool.metric, **{**settings, **changes})


def log_sum_exp(x):
    return np.log(np.exp(x - x.max()).sum()) + x.max()


def twin(name, scores, gains):
    """The value of one list, straight from the definition."""
    best = gains == gains.max()
    match name:
        case "xbleu":
            p = np.exp(0.7 * (scores - scores.max()))
            return -(p * gains).sum() / p.sum()
        case "softramp":
            cost = 3 * (1 - gains)
            return log_sum_exp(scores + cost) - log_sum_exp(scores - cost)
        case "cll":
            return log_sum_exp(scores) - log_sum_exp(scores[best])
        case "svm":
            return (scores + 2 * (gains.max() - gains)).max() - scores[best].max()
        case "perceptron":
            return scores.max() - scores[best].max()


def lists_of(shard):
    return [slice(a, b) for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True) if b > a]


def pools():
    external = random_pool(1)
    single = pool_of([[({"a": 1.0}, 0.5)], [], [({"a": 1.0, "b": 2.0}, 0.5), ({"a": 3.0}, 0.25), ({"a": 1.0}, 0.5)]])
    return [external, random_pool(2, bleu=True), random_pool(3, n_features=40, active=0.1), single]


@pytest.mark.parametrize("number", range(4))
def test_values_and_gradients(name, number):
    pool = pools()[number]
    shard, loss = pool.shards[0], made(name, pool)
    x, gains = dense_features(pool), pool.metric.segment_gains(shard.stats)
    w = np.random.default_rng(0).normal(size=len(pool.index))

    def value_at(weights):
        return sum(twin(name, x[rows] @ weights, gains[rows]) for rows in lists_of(shard))

    value, gradient, n_lists = loss.gradient(shard, w)
    assert value == pytest.approx(value_at(w), abs=1e-9)
    dense = np.zeros(len(w))
    dense[gradient.ids] = gradient.values
    h = 1e-6
    steps = h * np.eye(len(w))
    differences = np.array([(value_at(w + step) - value_at(w - step)) / (2 * h) for step in steps])
    assert dense == pytest.approx(differences, abs=1e-6)
    assert (np.diff(gradient.ids) > 0).all()
    occurs = np.array([np.abs(x[rows]).max(axis=0) > 0 for rows in lists_of(shard)]).sum(axis=0)
    assert n_lists.tolist() == occurs[gradient.ids].tolist()
    assert set(gradient.ids.tolist()) == set(np.flatnonzero(occurs).tolist())


def test_any_number_of_threads(name):
    pool = random_pool(4, n_sentences=80, n_features=30, active=0.3)
    loss, w = made(name, pool), np.random.default_rng(1).normal(size=30)
    one, many = (loss.gradient(pool.shards[0], w, n_threads=n) for n in (1, 3))
    assert one[0] == many[0]
    assert one[1].values.tobytes() == many[1].values.tobytes()


def test_the_gradient_by_edges_equals_the_plain_one():
    """Figure 2 of xBLEU with its sign corrected: per candidate, over its distinct (feature, count) pairs."""
    rng = np.random.default_rng(5)
    sentences = []
    for _ in range(20):
        words = [f"o{i}" for i in rng.integers(0, 12, 6)]
        candidates = []
        for _ in range(8):
            phrases = rng.choice(words, 5).tolist()
            candidates.append(({o: float(phrases.count(o)) for o in phrases}, float(rng.random())))
        sentences.append(candidates)
    pool = pool_of(sentences, dense=False)
    shard, gamma = pool.shards[0], 0.7
    w = rng.normal(size=len(pool.index))
    x = dense_features(pool)
    plain, by_edges = np.zeros(len(w)), np.zeros(len(w))
    for rows, candidates in zip(lists_of(shard), sentences, strict=True):
        gains = np.array([gain for _, gain in candidates])
        p = np.exp(gamma * x[rows] @ w)
        p /= p.sum()
        expected = p @ gains
        # d/dw of sum_e p(e) gain(e), with the mean features of the list taken off.
        plain += gamma * ((p * gains) @ x[rows] - expected * (p @ x[rows]))
        delta: dict[int, float] = {}
        for probability, (features, gain) in zip(p, candidates, strict=True):
            d = gain - expected
            for name, n in features.items():
                o = pool.index.find(name)
                delta[o] = delta.get(o, 0.0) + probability * gamma * n * d
        for o, error in delta.items():
            by_edges[o] += error
    assert by_edges == pytest.approx(plain, abs=1e-12)
    _, gradient, _ = ExpectedGain(metric=pool.metric, gamma=gamma).gradient(shard, w)
    dense = np.zeros(len(w))
    dense[gradient.ids] = gradient.values
    assert -dense == pytest.approx(by_edges, abs=1e-12)


def test_what_candidates_share_has_no_gradient(name):
    pool = random_pool(6, n_sentences=5)
    shared = pool.add_features({"shared": [np.full(pool.n_candidates, 3.25)]})
    mostly = np.full(pool.n_candidates, 7.0)
    mostly[::4] = 2.0
    more = shared.add_features({"mostly": [mostly]})
    w = np.random.default_rng(2).normal(size=len(more.index))
    value, gradient, n_lists = made(name, more).gradient(more.shards[0], w)
    id_ = more.index.find("shared")
    assert gradient.values[gradient.ids.tolist().index(id_)] == 0
    assert n_lists[gradient.ids.tolist().index(id_)] == 5
    # The same with the common value of most candidates taken off by hand.
    other = shared.add_features({"fewer": [mostly - 7.0]})
    w[shared.index.find("fewer") if shared.index.find("fewer") < len(w) else -1] = w[more.index.find("mostly")]
    v = np.zeros(len(other.index))
    v[: len(w)] = w
    v[other.index.find("fewer")] = w[more.index.find("mostly")]
    again, same, _ = made(name, other).gradient(other.shards[0], v)
    assert again == pytest.approx(value, abs=1e-9)
    mine = dict(zip(gradient.ids.tolist(), gradient.values.tolist(), strict=True))
    theirs = dict(zip(same.ids.tolist(), same.values.tolist(), strict=True))
    assert mine[more.index.find("mostly")] == pytest.approx(theirs[other.index.find("fewer")], abs=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e15, 1e30])
def test_extreme_features_give_finite_numbers(name, scale):
    pool = random_pool(7)
    shard = pool.shards[0]
    values = (shard.feature_values.astype(np.float64) * scale).astype(np.float32)
    loss = made(name, pool)
    part = shard.with_features(shard.feature_rows, shard.feature_ids, values)
    value, gradient, _ = loss.gradient(part, np.random.default_rng(0).normal(size=5) * 1e3)
    assert np.isfinite(value)
    assert np.isfinite(gradient.values).all()


def test_differences_beyond_the_range_of_stored_values(name):
    most = float(np.finfo(np.float32).max)
    pool = pool_of([[({"a": most}, 0.1), ({"a": most}, 0.2), ({"a": most}, 0.3), ({"a": -most}, 0.9)]])
    value, gradient, _ = made(name, pool).gradient(pool.shards[0], np.array([1e-38]))
    assert np.isfinite(value)
    assert np.isfinite(gradient.values).all()
    assert gradient.values[0] > 0


def test_duplicates_of_the_oracle_share_its_likelihood():
    once = pool_of([[({"a": 1.0}, 0.9), ({"b": 1.0}, 0.1)]])
    twice = pool_of([[({"a": 1.0}, 0.9), ({"a": 1.0}, 0.9), ({"b": 1.0}, 0.1)]])
    w = np.array([0.3, -0.2])
    values = [OracleLikelihood(metric=p.metric).gradient(p.shards[0], w)[0] for p in (once, twice)]
    assert values[0] == pytest.approx(np.log1p(np.exp(-0.5)))
    assert values[1] == pytest.approx(np.log(2 + np.exp(-0.5)) - np.log(2))


def test_a_tie_at_zero_weights_is_a_mistake_for_the_perceptron():
    pool = pool_of([[({"a": 1.0}, 0.9), ({"b": 1.0}, 0.1), ({}, 0.5)]])
    value, gradient, _ = PerceptronLoss(metric=pool.metric).gradient(pool.shards[0], np.zeros(2))
    assert value == 0
    assert gradient.values.tolist() == [-1, 1]


def test_sentence_bleu_is_chosen():
    pool = random_pool(8, bleu=True)
    w = np.ones(5)
    values = {
        ExpectedGain(metric=pool.metric, sentence_bleu=how).gradient(pool.shards[0], w)[0]
        for how in (None, SentenceBleu(grounded=True), SentenceBleu(add_one=AddOne.ALL))
    }
    assert len(values) == 3


def test_native_losses_are_known_by_their_names():
    assert {"expected-gain", "hinge", "likelihood", "perceptron", "regret", "soft-ramp"} <= set(_core.list_loss_names())
    with pytest.raises(ValueError, match="no loss is called wish"):
        _core.list_loss("wish")


def test_external_gains_are_brought_to_a_common_scale():
    pool = pool_of([[({"a": 1.0}, 30.0), ({"b": 1.0}, 70.0)], [], [({"a": 1.0}, -500.0)], [({}, 0.0), ({}, 0.0)]])
    assert gain_scale(pool.metric, pool.shards) == pytest.approx(2 / 40)
    bleu = random_pool(9, bleu=True)
    assert isinstance(bleu.metric, Bleu)
    assert gain_scale(bleu.metric, bleu.shards) == 1
    loss = ExpectedGain(metric=pool.metric, gain_scale=2 / 40)
    assert loss.gains(pool.shards[0]).tolist() == [1.5, 3.5, -25.0, 0.0, 0.0]


def test_arrays_that_no_pool_may_have_are_refused(name):
    pool = random_pool(10)
    shard, loss = pool.shards[0], made(name, pool)
    with pytest.raises(Exception, match="beyond the index"):
        loss.gradient(shard, np.zeros(3))
    values = shard.feature_values.copy()
    values[3] = np.inf
    with pytest.raises(Exception, match="not finite"):
        loss.gradient(replace(shard, feature_values=values), np.zeros(5))
