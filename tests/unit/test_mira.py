"""MIRA and RM: steps by hand, settings, held-out sentences, batches, many features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.shards import random_shard
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman.candidates import Pool, new_words, rerank
from dragoman.candidates.shard import concatenate
from dragoman.errors import FailedError, InputError
from dragoman.features import FeatureIndex, Weights
from dragoman.metric import Chrf, External, Ter
from dragoman.optim import OPTIMISERS, Background, Fear, Hope, MarginUpdate, Mira, Rm, Units, make_optimiser
from dragoman.optim.epochs import (
    EpochLearner,
    Split,
    Stopping,
    Watched,
    filled_sentences,
    folds_of,
    run_epochs,
    visiting_order,
)
from dragoman.optim.gains import ORDINARY_LENGTH, list_lengths, typical_range

ONE = {"n_epochs": 1, "averaged": False}


def start_of(pool):
    return Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index)))


def test_the_step_on_two_candidates_is_the_closed_form():
    pool = pool_of([[({"a": 1.0, "b": 2.0}, 0.75), ({"a": 3.0, "b": -2.0}, 0.25)]])
    start = Weights.from_dict({"a": 0.5, "b": 0.125}, pool.index)
    omega = np.array([-2.0, 4.0])
    cost = ORDINARY_LENGTH  # the range of the only sentence is the unit of gains
    gamma = (cost - omega @ start.values) / (omega @ omega)
    for update in MarginUpdate:
        free = Mira(update=update, aggressiveness=100.0, **ONE).optimise(pool, start, seed=1)
        np.testing.assert_allclose(free.weights.values, start.values + gamma * omega, rtol=1e-14)
        clipped = Mira(update=update, aggressiveness=0.01, **ONE).optimise(pool, start, seed=1)
        np.testing.assert_allclose(clipped.weights.values, start.values + 0.01 * omega, rtol=1e-14)
        assert free.trace[0]["loss"] == pytest.approx(cost - omega @ start.values)
    satisfied = Weights.from_dict({"a": -10.0, "b": 1.0}, pool.index)
    result = Mira(units=Units.RAW, **ONE).optimise(pool, satisfied, seed=1)
    assert (result.weights.values == satisfied.values).all()
    assert result.trace[0]["updates"] == 0


@pytest.mark.parametrize("update", MarginUpdate)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", ["external", "bleu", "sparse"])
def test_rm_without_a_bound_is_mira_bit_for_bit(update, exact, kind):
    pool = {
        "external": lambda: random_pool(1, n_sentences=15),
        "bleu": lambda: random_pool(2, n_sentences=15, bleu=True, grid=True),
        "sparse": lambda: random_pool(3, n_sentences=15, n_features=40, active=0.1),
    }[kind]()
    common = {"update": update, "n_epochs": 4, "gain_scale": 1.0}
    mira = Mira(**common).optimise(pool, start_of(pool), seed=1)
    rm = Rm(units=Units.RAW, bound=np.inf, exact=exact, **common).optimise(pool, start_of(pool), seed=1)
    assert rm.weights.values.tobytes() == mira.weights.values.tobytes()
    assert rm.trace == mira.trace
    bound = Rm(units=Units.RAW, exact=exact, **common).optimise(pool, start_of(pool), seed=1)
    assert bound.weights.values.tobytes() != mira.weights.values.tobytes()
    assert bound.trace[-1]["spread"] < mira.trace[-1]["spread"]


def test_cutting_planes_differ_from_single_steps():
    pool = random_pool(1, n_sentences=15)
    runs = [Mira(update=update, n_epochs=2).optimise(pool, start_of(pool), seed=1) for update in MarginUpdate]
    assert runs[0].weights.values.tobytes() != runs[1].weights.values.tobytes()


def test_which_candidates_are_compared():
    # Model scores 3, 2, 0, -1; gains 0.5, 0.75, 1, 0 of a range 1, times the ordinary length and 0.1.
    pool = pool_of([[({"a": 3.0, "x": 1.0}, 0.5), ({"a": 2.0}, 0.75), ({"y": 1.0}, 1.0), ({"a": -1.0, "z": 1.0}, 0.0)]])
    start = Weights.from_dict({"a": 1.0}, pool.index)

    def moved(**settings):
        values = Mira(gain_scale=0.1, **ONE, **settings).optimise(pool, start, seed=1).weights
        return {name: np.sign(values[name]) for name in "xyz"}

    assert moved() == {"x": 0, "y": 0, "z": 0}  # hope: 3 + 1; fear: 3 - 1
    assert moved(hope=Hope.MAX_BLEU) == {"x": -1, "y": 1, "z": 0}
    assert moved(hope=Hope.MAX_BLEU, fear=Fear.PREDICTION) == {"x": -1, "y": 1, "z": 0}
    # The worst candidate is beaten by (0 + 1) - 2 less than its cost.
    assert moved(hope=Hope.MAX_BLEU, fear=Fear.MAX_COST) == {"x": 0, "y": 1, "z": -1}


def test_bound_steps_are_taken_only_while_a_bound_is_violated():
    pool = pool_of([[({"a": 2.0}, 0.5), ({"b": 1.0}, 0.25)]])
    tiny = {"units": Units.RAW, "aggressiveness": 1e-12, "gain_scale": 1e-6, **ONE}
    inside = Weights.from_dict({"a": 0.25, "b": 0.0}, pool.index)  # spread 0.5
    result = Rm(bound=1.0, bound_step=1.0, **tiny).optimise(pool, inside, seed=1)
    np.testing.assert_allclose(result.weights.values, inside.values, atol=1e-11)
    outside = Weights.from_dict({"a": 1.0, "b": 0.0}, pool.index)  # spread 2, omega (2, -1)
    result = Rm(bound=1.0, bound_step=1.0, **tiny).optimise(pool, outside, seed=1)
    np.testing.assert_allclose(result.weights.values, [1 - 0.2 * 2, 0.2], atol=1e-11)
    result = Rm(bound=1.0, bound_step=0.05, **tiny).optimise(pool, outside, seed=1)
    np.testing.assert_allclose(result.weights.values, [1 - 0.05 * 2, 0.05], atol=1e-11)


def test_the_bound_step_is_greater_with_sparse_features():
    pool = pool_of([[({"a": 2.0}, 0.5), ({"b": 1.0}, 0.25)]])
    start = Weights.from_dict({"a": 1.0, "b": 0.0}, pool.index)
    tiny = {"units": Units.RAW, "aggressiveness": 1e-12, "gain_scale": 1e-6, **ONE}
    for dense, step in ((frozenset({0, 1}), 0.01), (frozenset({0}), 0.1)):
        result = Rm(**tiny).optimise(replace(pool, dense=dense), start, seed=1)
        assert result.weights["b"] == pytest.approx(step)


def test_the_spread_is_reported():
    pool = random_pool(5, n_sentences=10)
    start = start_of(pool)
    (entry,) = Mira(aggressiveness=1e-12, n_epochs=1).optimise(pool, start, seed=1).trace
    scores = (dense_features(pool) @ start.values).reshape(10, -1)
    stats = pool.shards[0].stats[:, 0].reshape(10, -1)
    gains = ORDINARY_LENGTH * stats / np.mean(np.ptp(stats, axis=1))
    spreads = [s[np.argmax(s + g)] - s.min() for s, g in zip(scores, gains, strict=True)]
    assert entry["spread"] == pytest.approx(np.mean(spreads))
    assert entry["spread_deviation"] == pytest.approx(np.std(spreads), abs=1e-6)


@pytest.mark.parametrize("name", ["mira", "rm", "rampion"])
def test_held_out_sentences_choose_the_epoch(name):
    pool = random_pool(6, n_sentences=40, bleu=True)
    optimiser = OPTIMISERS[name](held_out=0.25, patience=2)
    result = optimiser.optimise(pool, start_of(pool), seed=3)
    gains = [entry["gain"] for entry in result.trace]
    best = int(np.argmax(gains))
    assert len(gains) == min(best + 3, 30 if name != "rampion" else 10)
    held_out = Split.draw(filled_sentences(pool), Stopping(held_out=0.25, least=1), key=[3, 0]).watched
    parts = concatenate([pool.shards[0].part(s, s + 1) for s in held_out.tolist()])
    assert rerank(replace(pool, shards=(parts,)), result.weights).gain() == pytest.approx(gains[best])
    # What is held out teaches nothing: with other features there the weights take the same way.
    shard = pool.shards[0]
    values = shard.feature_values.copy()
    for s in held_out.tolist():
        a, b = (shard.feature_rows[shard.sentences[s + i]] for i in (0, 1))
        values[a:b] = values[a:b][::-1]
    other = replace(pool, shards=(shard.with_features(shard.feature_rows, shard.feature_ids, values),))
    losses = [e["loss"] for e in optimiser.optimise(other, start_of(other), seed=3).trace]
    n = min(len(losses), len(gains))
    assert losses[:n] == [e["loss"] for e in result.trace][:n]


@pytest.mark.parametrize("method", ["mira", "rm", "rampion"])
def test_whole_folds_are_held_out(method):
    pool = random_pool(6, n_sentences=20)
    pool = replace(pool, folds=np.arange(20) % 4)
    (shard,) = pool.shards
    made = make_optimiser(method, {"held_out": 0.3, "n_concave" if method == "rampion" else "n_epochs": 1})

    def learned(fold):
        """With the gains of the candidates of a fold's lists exchanged."""
        stats = shard.stats.copy()
        for s in np.flatnonzero(pool.folds == fold):
            row = slice(shard.sentences[s], shard.sentences[s + 1])
            stats[row] = stats[row][::-1]
        changed = replace(pool, shards=(shard.with_stats(stats),))
        return made.optimise(changed, start_of(pool), seed=1).weights.values.tobytes()

    assert learned(3) == learned(-1) != learned(2)


def test_the_split_is_fixed_by_the_seed():
    pool = random_pool(6, n_sentences=20)
    shard = pool.shards[0]
    split = replace(pool, shards=(shard.part(0, 7), shard.part(7, 20)))

    def draw(pool, share, *key):
        return Split.draw(filled_sentences(pool), Stopping(held_out=share, least=2), key=key)

    learned, held_out, drawn, n_held_out, _ = draw(pool, 0.1, 1)
    assert len(held_out) == n_held_out == 2
    assert sorted([*learned, *held_out]) == list(range(20))
    assert sorted(drawn) == learned.tolist()
    assert (draw(split, 0.1, 1).watched == held_out).all()
    assert (draw(pool, 0.5, 2).watched != draw(pool, 0.5, 1).watched).any()
    folds = folds_of(replace(split, folds=np.arange(20) % 4), np.arange(20))
    by_fold = Split.draw(np.arange(20), Stopping(least=2), key=(1,), folds=folds)
    assert by_fold.watched.tolist() == [3, 7, 11, 15, 19]
    assert by_fold.held_out_folds == (3,)
    too_few = draw(pool, 0.05, 1)
    assert too_few.n_held_out == 0
    assert too_few.watched.tolist() == too_few.learned.tolist() == list(range(20))


def test_sentences_are_shuffled_in_blocks():
    positions = np.arange(10_000)[np.arange(10_000) % 7 != 0]
    order = visiting_order(positions, key=[1, 0, 1])
    assert (np.sort(order) == positions).all()
    assert (order != positions).mean() > 0.9
    assert np.count_nonzero(np.diff(order // 4096)) == 2
    assert (visiting_order(positions, key=[1, 0, 1]) == order).all()
    assert (visiting_order(positions, key=[1, 0, 2]) != order).any()


def test_weights_beyond_numbers_are_never_kept():
    class Diverging(EpochLearner):
        def __init__(self, good):
            self.good, self.n = good, 0

        def epoch(self, learned, number):
            self.n = number
            return {}

        def values(self):
            return np.full(2, float(self.n)) if self.n <= self.good else np.array([np.inf, 1.0])

        def watch(self, watched, values, entry):
            return Watched(-float(self.n), float(self.n))

    split = Split.draw(np.arange(5), Stopping(), key=[1])
    found = run_epochs(Diverging(2), split, Stopping())
    assert (found.values.tolist(), found.best, len(found.trace)) == ([2.0, 2.0], 2, 2)
    assert "beyond all bounds in epoch 3" in found.notes[0]
    for settings in (Stopping(keep_best=False), Stopping()):
        with pytest.raises(FailedError, match="epoch 1"):
            run_epochs(Diverging(0), split, settings)


@pytest.mark.parametrize("update", MarginUpdate)
def test_batches_give_the_same_bits_for_any_number_of_threads(update):
    pool = random_pool(7, n_sentences=30, bleu=True)
    runs = {
        (batch, n_threads): Rm(update=update, batch=batch, n_epochs=3)
        .optimise(pool, start_of(pool), seed=1, n_threads=n_threads)
        .weights.values.tobytes()
        for batch, n_threads in ((1, 1), (8, 1), (8, 3), (100, 2))
    }
    assert runs[8, 1] == runs[8, 3]
    assert len(set(runs.values())) == 3


def test_the_background_matters():
    pool = random_pool(7, n_sentences=30, bleu=True)
    results = {
        Mira(background=background, decay=decay, n_epochs=2).optimise(pool, start_of(pool), seed=1).gain_after
        for background, decay in ((Background.MODEL, 0.9), (Background.HOPE, 0.9), (Background.MODEL, 0.0))
    }
    assert len(results) > 1


def test_lengths_of_sentences():
    pool = random_pool(2, n_sentences=4, bleu=True)
    shard = pool.shards[0]
    reference = shard.stats[shard.sentences[:-1], 1]
    assert (list_lengths(pool.metric, shard) == reference).all()
    known = replace(shard, source_lengths=np.array([5, -1, 7, 8], dtype=np.int32))
    assert list_lengths(pool.metric, known).tolist() == [5, reference[1], 7, 8]
    assert (list_lengths(External(), shard) == ORDINARY_LENGTH).all()
    tokens = np.repeat(np.arange(4), 15)
    rows = np.concatenate([[0], np.cumsum(tokens)])
    worded = replace(shard, token_rows=rows, tokens=np.zeros(rows[-1], dtype=np.int32))
    assert list_lengths(Chrf(), worded).tolist() == [0, 1, 2, 3]
    assert list_lengths(Ter(), shard).tolist() == reference.tolist()
    notes = [
        Mira(n_epochs=1).optimise(replace(pool, shards=(s,)), start_of(pool), seed=1).notes
        for s in (shard, replace(shard, source_lengths=np.full(4, 6, dtype=np.int32)))
    ]
    external = random_pool(1)
    notes.append(Mira(n_epochs=1).optimise(external, start_of(external), seed=1).notes)
    assert [any("source lengths are unknown" in note for note in some) for some in notes] == [True, False, False]


def test_the_scale_of_an_external_metric_does_not_matter():
    pool = random_pool(8, n_sentences=10)
    shard = pool.shards[0]
    stats = shard.stats * np.array([1024.0, 1.0])
    scaled = replace(pool, shards=(shard.with_stats(stats),))
    runs = [Mira(n_epochs=2).optimise(p, start_of(p), seed=1).weights.values.tobytes() for p in (pool, scaled)]
    assert runs[0] == runs[1]
    ranges = [np.ptp(shard.stats[a:b, 0]) for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True)]
    assert typical_range(pool.metric, [shard.part(0, 4), shard.part(4, 10)]) == pytest.approx(np.mean(ranges))
    lonely = pool_of([[({"a": 1.0}, 9.0)], [({"a": 1.0}, 1.0), ({"a": 1.0}, 3.0)], [({"a": 1.0}, -5.0)]])
    assert typical_range(lonely.metric, lonely.shards) == 2.0


@pytest.fixture(scope="module", name="index")
def a_million_names():
    index = FeatureIndex()
    index.intern_lines(b"".join(b"f%d\n" % i for i in range(1_000_000)))
    return index


@pytest.mark.parametrize("name", ["mira", "rm", "rampion"])
def test_a_million_features(name, index):
    shard = random_shard(seed=1, first_sentence=0, n_sentences=30, n_candidates=10, n_features=1_000_000, n_active=20)
    metric = External()
    gains = np.random.default_rng(2).uniform(size=shard.n_candidates)
    pool = Pool(index=index, words=new_words(), shards=(shard.with_stats(metric.from_values(gains)),), metric=metric)
    start = Weights(index, np.random.default_rng(3).normal(size=1_000_000) * 1e-3)
    frozen = index.names(shard.feature_ids[:5])
    result = OPTIMISERS[name]().optimise(pool, start, seed=1, frozen=frozen)
    assert result.gain_after > result.gain_before
    seen = np.zeros(1_000_000, dtype=bool)
    seen[shard.feature_ids] = True
    seen[shard.feature_ids[:5]] = False
    assert (result.weights.values[~seen] == start.values[~seen]).all()
    assert (result.weights.values[seen] != start.values[seen]).any()


def test_settings_are_checked():
    for settings in (
        {"aggressiveness": 0.0},
        {"aggressiveness": np.nan},
        {"n_epochs": 0},
        {"decay": 1.0},
        {"held_out": 1.0},
        {"batch": 0},
        {"update": MarginUpdate.CUTTING_PLANE, "fear": Fear.MAX_COST},
    ):
        with pytest.raises(InputError):
            Mira(**settings)
    for settings in ({"bound": 0.0}, {"bound": np.nan}, {"bound_step": -1.0}, {"aggressiveness": -1.0}):
        with pytest.raises(InputError, match="must be positive"):
            Rm(units=Units.RAW, **settings)
    words = {"update": "cutting-plane", "units": "raw", "bound": np.inf}
    assert make_optimiser("rm", words) == Rm(update=MarginUpdate.CUTTING_PLANE, units=Units.RAW, bound=np.inf)
