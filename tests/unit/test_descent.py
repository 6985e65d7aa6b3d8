"""The driver of losses and rules of update, against slow twins."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman import _core
from dragoman.candidates import Shard, rerank, save_pool
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.metric import SentenceBleu
from dragoman.optim import (
    OPTIMISERS,
    Cll,
    Conditioning,
    ExpectedGain,
    Perceptron,
    RampLoss,
    SoftRamp,
    SoftRampLoss,
    SparseVector,
    Stopping,
    StructuredHinge,
    Svm,
    Update,
    Xbleu,
    descend,
    make_optimiser,
)
from dragoman.optim import prepared as prepared_module
from dragoman.settings import describe

RULES = {
    "plain": Update(step=0.05),
    "decay": Update(step=0.05, decay=0.3),
    "l2": Update(step=0.05, l2=3.0),
    "averaged": Update(step=0.05, averaged=True),
    "averaged l2": Update(step=0.05, averaged=True, l2=3.0),
    "adaptive": Update(step=0.05, adaptive=True),
    "conditioned": Update(step=0.5, conditioning=Conditioning.LISTS, l2=0.5),
    "unscaled": Update(step=0.05, scale_dense=False),
    "batch": Update(step=0.05, batch=4, l2=1.0),
    "everything": Update(step=0.1, decay=0.2, l2=1.0, adaptive=True, averaged=True, batch=3),
}


@dataclass(frozen=True)
class Outside:
    """The same loss with nothing but its gradient: takes the path of losses from outside."""

    inner: ExpectedGain

    def gradient(self, shard: Shard, weights):
        return self.inner.gradient(shard, weights)


def sparse_pool(seed, **settings):
    """Two dense features and thirty that few candidates have."""
    pool = random_pool(seed, n_features=32, active=0.2, **settings)
    return replace(pool, dense=frozenset({0, 1}))


def learn(pool, loss, update, *, epochs=3, n_threads=1, start=None, **settings):
    return descend(
        pool,
        start or Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index))),
        loss,
        update=update,
        stopping=Stopping(max_epochs=epochs, held_out=0, patience=100, keep_best=False),
        seed=1,
        scale=1,
        n_threads=n_threads,
        **settings,
    )


def twin(pool, loss, update, start, *, epochs):
    """Dense vectors, every penalty and every average at once; the last epoch's weights of each kind."""
    x = dense_features(pool)
    shard = pool.shards[0]
    n = shard.n_sentences
    rows = [slice(a, b) for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True)]
    variances = np.array([x[r].var(axis=0) for r in rows])
    mean_variance = variances.sum(axis=0) / np.maximum((variances > 0).sum(axis=0), 1)
    rate = np.ones(x.shape[1])
    if update.conditioning is Conditioning.LISTS:
        rate /= np.maximum([sum(x[r, f].any() for r in rows) for f in range(x.shape[1])], 1)
        rate[[0, 1]] = 1 / n
    penalty = rate.copy()
    if update.scale_dense:
        rate[[0, 1]] /= mean_variance[[0, 1]]
    w, squares, total, n_steps, seen = start.copy(), np.zeros(x.shape[1]), np.zeros(x.shape[1]), 0, 0
    results = []
    for epoch in range(1, epochs + 1):
        order = np.random.default_rng([1, 0, epoch]).permutation(n)
        for begin in range(0, n, update.batch):
            members = order[begin : begin + update.batch]
            step = update.step / (1 + update.decay * seen / n)
            gradients = []
            shrunk = w * np.exp(-update.l2 * step * len(members) / n * penalty)
            for s in members:
                _, (ids, values), _ = loss.gradient(shard.part(s, s + 1), shrunk)
                gradients.append(np.zeros(len(w)))
                gradients[-1][ids] = values
            w = shrunk
            for gradient in gradients:
                if update.adaptive:
                    squares += gradient**2
                    w = w - step * np.divide(
                        np.sqrt(rate) * gradient, np.sqrt(squares), out=np.zeros(len(w)), where=squares > 0
                    )
                else:
                    w = w - step * rate * gradient
            seen += len(members)
            n_steps += 1
            total += w
        results.append(total / n_steps if update.averaged else w)
    return results


@pytest.mark.parametrize("name", RULES)
def test_sparse_and_lazy_equals_dense_and_eager(name):
    update = RULES[name]
    pool = sparse_pool(1, n_sentences=30)
    loss = ExpectedGain(metric=pool.metric)
    start = Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index)))
    result = learn(pool, loss, update, start=start)
    expected = twin(pool, loss, update, start.values, epochs=3)
    # With a step that changes inside an epoch the average of a shrinking weight is not exact.
    tolerance = 1e-3 if update.averaged and update.l2 and update.decay else 1e-9
    assert result.weights.values == pytest.approx(expected[-1], rel=tolerance, abs=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_a_loss_from_outside_goes_with_every_rule(name):
    pool = sparse_pool(2, n_sentences=20)
    loss = ExpectedGain(metric=pool.metric)
    native, outside = (learn(pool, one, RULES[name], frozen=["f3"]) for one in (loss, Outside(loss)))
    assert outside.weights.values == pytest.approx(native.weights.values, rel=1e-9, abs=1e-12)
    assert [e["watched"] for e in outside.trace] == pytest.approx([e["watched"] for e in native.trace])


@pytest.mark.parametrize("make", [Xbleu, SoftRamp, Cll, Svm, Perceptron])
@pytest.mark.parametrize("batch", [1, 7])
def test_threads_share_a_batch_without_a_trace(make, batch):
    pool = sparse_pool(3, n_sentences=60)
    start = Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index)))
    runs = [
        make(batch=batch, max_epochs=4).optimise(pool, start, seed=1, n_threads=n).weights.values.tobytes()
        for n in (1, 2, 3)
    ]
    assert len(set(runs)) == 1


@pytest.mark.parametrize("make", [Xbleu, SoftRamp, Cll, Svm, Perceptron])
def test_frozen_weights_are_the_same_bits_and_still_count(make):
    pool = sparse_pool(4, n_sentences=60)
    start = Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index)) * 0.1)
    names = ["f0", "f1", "f5", "f31"]
    result = make().optimise(pool, start, seed=1, frozen=names)
    for name in names:
        assert result.weights[name] == start[name]
    start["f0"] = -5.0
    other = make().optimise(pool, start, seed=1, frozen=names)
    assert other.weights["f2"] != result.weights["f2"]


@pytest.mark.parametrize("make", [Xbleu, Cll])
def test_dense_weights_are_frozen_while_there_are_others(make):
    pool = sparse_pool(5, n_sentences=60)
    start = Weights.from_dict({"f0": 1.0, "f1": -0.5}, pool.index)
    kept = make().optimise(pool, start, seed=1)
    assert (kept.weights["f0"], kept.weights["f1"]) == (1.0, -0.5)
    assert kept.weights["f2"] != 0
    freed = make(freeze_dense=False).optimise(pool, start, seed=1)
    assert freed.weights["f0"] != 1.0
    unknown = make().optimise(pool, Weights(pool.index), seed=1)
    assert unknown.weights["f0"] != 0
    assert "no weights for the dense features" in unknown.notes[0]


@pytest.mark.parametrize("make", [Xbleu, Cll])
def test_a_pool_of_dense_features_is_learned_all_the_same(make):
    pool = random_pool(6, n_sentences=30)
    start = Weights(pool.index, np.ones(5))
    result = make().optimise(pool, start, seed=1)
    assert "dense features alone" in result.notes[0]
    assert result.gain_after > result.gain_before
    with pytest.raises(InputError, match="not frozen differs"):
        make(freeze_dense=True).optimise(pool, start, seed=1)


def test_lists_beyond_the_limit_of_memory_are_mapped(monkeypatch, tmp_path):
    pool = sparse_pool(7, n_sentences=100)
    loss = SoftRampLoss(metric=pool.metric)
    inside = learn(pool, loss, RULES["l2"])
    monkeypatch.setattr(prepared_module, "MEMORY_BYTES", 20_000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outside = learn(pool, loss, RULES["l2"])
    assert outside.weights.values.tobytes() == inside.weights.values.tobytes()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(OSError, match="scratch"):
        learn(pool, loss, RULES["l2"])


def test_the_store_leaves_out_what_cannot_matter():
    lists = _core.ListStore(4, 1 << 20, "")
    pool = pool_of(
        [
            [({"a": 1.0, "b": 2.0}, 0.1), ({"a": 1.0, "b": 2.0, "c": 1.0}, 0.2), ({"a": 1.0, "c": 1.0}, 0.3)],
            [({"a": 1.0}, 0.5)],
            [],
            [({"a": 2.0}, 0.5), ({"a": 2.0}, 0.6)],
            [({"d": 1.0}, 0.5), ({"a": 2.0}, 0.6)],
        ]
    )
    shard = pool.shards[0]
    gains = shard.stats[:, 0].copy()
    lists.add(*shard.candidates, gains, np.zeros(0, np.uint8), np.zeros(4))
    with pytest.raises(ValueError, match="seal"):
        lists.variances()
    lists.seal()
    with pytest.raises(ValueError, match="sealed"):
        lists.add(*shard.candidates, gains, np.zeros(0, np.uint8), np.zeros(4))
    assert lists.sentences().tolist() == [0, 4]
    assert lists.differing().tolist() == [1, 1, 1, 1]
    assert lists.list_counts().tolist() == [4, 1, 1, 1]
    assert lists.variances().tolist() == pytest.approx([1.0, 8 / 9, 2 / 9, 0.25])
    with pytest.raises(ValueError, match="no such list"):
        lists.loss(_core.list_loss("regret"), np.array([2]), np.zeros(4))
    weights = np.array([0.0, 1.0, -1.0, 1.0])
    assert lists.loss(_core.list_loss("regret"), np.array([0, 1]), weights) == pytest.approx((0.3 - 0.1) + (0.6 - 0.5))


def test_stopping_on_a_held_out_share():
    pool = sparse_pool(8, n_sentences=300)
    result = Xbleu(held_out=0.4, freeze_dense=False, tolerance=3e-3).optimise(pool, Weights(pool.index), seed=1)
    assert result.trace[0]["held_out"] == 120
    assert result.trace[0]["lists"] == 180
    watched = [entry["watched"] for entry in result.trace]
    assert 3 < len(watched) < 100
    assert max(watched[-3:]) - min(watched[-3:]) < 0.01 * abs(watched[-1])
    short = Xbleu(max_epochs=2, freeze_dense=False).optimise(pool, Weights(pool.index), seed=1)
    assert "still fell after 2 epochs" in short.notes[-1]


def test_a_warm_start_goes_on_where_it_was():
    pool = sparse_pool(9, n_sentences=100)
    cold = Xbleu(freeze_dense=False, max_epochs=10).optimise(pool, Weights(pool.index), seed=1)
    warm = Xbleu(freeze_dense=False, max_epochs=1).optimise(pool, cold.weights, seed=1)
    fresh = Xbleu(freeze_dense=False, max_epochs=1).optimise(pool, Weights(pool.index), seed=1)
    assert warm.trace[0]["loss"] < fresh.trace[0]["loss"]


def test_weights_out_of_bounds_are_a_failure():
    pool = random_pool(10)
    loss = StructuredHinge(metric=pool.metric, cost_scale=1e308)
    with pytest.raises(FailedError, match="beyond all bounds"):
        learn(pool, loss, Update(step=1e300, scale_dense=False), epochs=50)


@dataclass(frozen=True)
class Wrong:
    """Learns the contrary."""

    inner: ExpectedGain

    def gradient(self, shard, weights):
        value, (ids, values), n_lists = self.inner.gradient(shard, weights)
        return -value, SparseVector(ids, -values), n_lists


def test_a_metric_that_falls_is_told():
    pool = random_pool(11)
    good = Xbleu().optimise(pool, Weights(pool.index), seed=1).weights
    loss = Wrong(ExpectedGain(metric=pool.metric))
    result = learn(pool, loss, Update(step=1.0), start=good, epochs=20)
    assert result.gain_after < result.gain_before
    assert "worse than the start on these lists" in result.notes[-1]
    kept = descend(pool, good, loss, update=Update(step=1.0), stopping=Stopping(max_epochs=5), seed=1)
    assert kept.weights.values.tobytes() == good.values.tobytes()
    assert "these are the starting weights" in kept.notes[-1]


def test_the_scale_of_the_start_does_not_matter():
    pool = random_pool(12, n_sentences=40)
    start = Weights(pool.index, np.random.default_rng(3).normal(size=5))
    start["unknown"] = -0.5  # no candidate has it
    for make in (Xbleu, SoftRamp, Cll, Svm):
        small, large = (Weights(pool.index, start.values * scale) for scale in (2.0**-8, 2.0**12))
        results = [make().optimise(pool, w, seed=1) for w in (small, large)]
        assert (results[0].weights.values * 2.0**20).tobytes() == results[1].weights.values.tobytes()
        assert results[0].trace[0]["scale"] == results[1].trace[0]["scale"] * 2.0**20
        assert make(scale=1).optimise(pool, large, seed=1).trace[0]["scale"] == 1


def with_folds(pool, n_folds=5):
    return replace(pool, folds=np.arange(pool.n_sentences) * 7 % n_folds)


def test_whole_folds_are_held_out():
    pool = with_folds(sparse_pool(8, n_sentences=600))
    ids = np.arange(600)
    for settings, watched in (({}, [4]), ({"held_out_fold": 2}, [2]), ({"held_out": 0.4}, [3, 4])):
        result = Xbleu(max_epochs=3, freeze_dense=False, **settings).optimise(pool, Weights(pool.index), seed=1)
        held = ids[np.isin(pool.folds, watched)]
        entry = result.trace[0]
        assert entry["held_out_folds"] == ",".join(map(str, watched))
        assert (entry["lists"], entry["held_out"]) == (600 - len(held), len(held))
        # Measured on them alone; what they watch is the loss on them alone.
        part = pool.of_sentences(held)
        assert entry["held_out_before"] == pytest.approx(rerank(part, Weights(pool.index, np.zeros(32))).score())
        assert entry["held_out_after"] == pytest.approx(rerank(part, result.weights).score())
        assert f"{len(held)} lists held out: " in result.notes[-1]
        loss = Xbleu().loss(pool.metric, pool.shards)
        last = Xbleu(max_epochs=3, freeze_dense=False, keep_best=False, **settings).optimise(
            pool, Weights(pool.index), seed=1
        )
        (shard,) = part.shards
        assert last.trace[-1]["watched"] == pytest.approx(loss.gradient(shard, last.weights.values)[0] / len(held))


def test_the_fold_held_out_teaches_nothing():
    pool = with_folds(sparse_pool(8, n_sentences=600))
    (shard,) = pool.shards
    made = Xbleu(max_epochs=1, freeze_dense=False, keep_best=False)

    def learned(fold):
        """With the gains of the candidates of a fold's lists exchanged."""
        stats = shard.stats.copy()
        for s in np.flatnonzero(pool.folds == fold):
            row = slice(shard.sentences[s], shard.sentences[s + 1])
            stats[row] = stats[row][::-1]
        changed = replace(pool, shards=(shard.with_stats(stats),))
        return made.optimise(changed, Weights(pool.index), seed=1).weights.values.tobytes()

    plain = made.optimise(pool, Weights(pool.index), seed=1).weights.values.tobytes()
    assert learned(4) == plain
    assert learned(3) != plain


def test_folds_that_cannot_be_held_out():
    pool = sparse_pool(8, n_sentences=300)
    with pytest.raises(InputError, match="have no folds"):
        Xbleu(held_out_fold=1).optimise(pool, Weights(pool.index), seed=1)
    with pytest.raises(InputError, match="nothing to watch; the lists are of folds 0, 1, 2"):
        Xbleu(held_out_fold=3).optimise(with_folds(pool, 3), Weights(pool.index), seed=1)
    with pytest.raises(InputError, match="nothing to learn from; the lists are of folds 0"):
        Xbleu(held_out_fold=0).optimise(with_folds(pool, 1), Weights(pool.index), seed=1)
    with pytest.raises(InputError, match="from 0, not -1"):
        Xbleu(held_out_fold=-1)
    # Too few lists in a fold: those learned from are watched. One fold alone: a share of the lists.
    few = Xbleu(max_epochs=1).optimise(with_folds(pool, 10), Weights(pool.index), seed=1)
    assert few.trace[0]["held_out"] == 0
    asked = Xbleu(max_epochs=1, held_out_fold=9).optimise(with_folds(pool, 10), Weights(pool.index), seed=1)
    assert asked.trace[0]["held_out"] == 30
    one = Xbleu(max_epochs=1, held_out=0.5).optimise(with_folds(pool, 1), Weights(pool.index), seed=1)
    assert one.trace[0]["held_out"] == 150
    assert "held_out_folds" not in one.trace[0]
    none = Xbleu(max_epochs=1, held_out=0).optimise(with_folds(pool), Weights(pool.index), seed=1)
    assert none.trace[0]["held_out"] == 0


def test_likelihood_follows_the_rule_of_expected_bleu_unless_it_has_a_prior():
    assert replace(Cll().update(), step=0.1) == Xbleu().update()
    assert Cll().stopping() == Xbleu().stopping()
    prior = Cll(variance=4.0, step=0.2).update()
    assert (prior.l2, prior.decay, prior.averaged) == (0.25, 0.05, True)


def test_a_million_features(tmp_path):
    rng = np.random.default_rng(0)
    sentences = [
        [({f"s{i}": 1.0 for i in rng.integers(0, 1_000_000, 20)}, float(rng.random())) for _ in range(5)]
        for _ in range(200)
    ]
    pool = pool_of(sentences, dense=False)
    for make in (Xbleu, SoftRamp, Cll, Svm, Perceptron):
        result = make(held_out=0).optimise(pool, Weights(pool.index), seed=1)
        assert result.gain_after > 0.75
    disk = save_pool(pool, tmp_path / "pool")
    assert Xbleu().optimise(disk, Weights(disk.index), seed=1).weights.is_usable()


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (Xbleu, {"gamma": 0.0}),
        (Xbleu, {"step": -1.0}),
        (Xbleu, {"batch": 0}),
        (Xbleu, {"held_out": 1.0}),
        (SoftRamp, {"cost_scale": 0.0}),
        (SoftRamp, {"l2": -1.0}),
        (Cll, {"variance": 0.0}),
        (Cll, {"variance": float("inf")}),
        (Svm, {"cost_scale": -1.0}),
        (Perceptron, {"max_epochs": 0}),
        (Perceptron, {"tolerance": -1.0}),
        (Perceptron, {"step": float("nan")}),
    ],
)
def test_settings_are_checked(make, settings):
    with pytest.raises(InputError):
        make(**settings)


def test_a_setting_inside_a_record_leaves_the_others_as_they_are():
    made = make_optimiser("softramp", {"sentence_bleu": {"grounded": False}})
    assert made == SoftRamp(sentence_bleu=SentenceBleu(smooth_brevity=True, grounded=False))
    for method, smoothed in (("softramp", "true"), ("pro", "false")):
        (found,) = (s for s in describe(OPTIMISERS[method]) if s.name == "sentence_bleu.smooth_brevity")
        assert found.default == smoothed


def test_a_margin_loss_goes_with_this_descent():
    pool = random_pool(13, n_sentences=30)
    loss = RampLoss(metric=pool.metric, gain_scale=1.0)
    update, stopping = Update(adaptive=True), Stopping(max_epochs=10)
    result = descend(pool, Weights(pool.index), loss, update=update, stopping=stopping, seed=1)
    assert result.gain_after > result.gain_before
