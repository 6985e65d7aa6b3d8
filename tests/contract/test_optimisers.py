"""What every optimiser for lists promises. A new one joins by its class in the registry; SETTINGS keep it quick."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import pool_of, random_pool

from dragoman.candidates import rerank, save_pool
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim import LIST_METHODS, OPTIMISERS
from dragoman.optim.base import finish

# Learners with a fixed step need more passes, or a longer step, on lists of two sentences than on hundreds.
SETTINGS = {"mert": {"n_starts": 4}, "mira": {"n_epochs": 100}, "rm": {"n_epochs": 100}, "rampion": {"step": 0.01}}


@pytest.fixture(params=LIST_METHODS, name="optimiser")
def each_optimiser(request):
    return OPTIMISERS[request.param](**SETTINGS.get(request.param, {}))


@pytest.fixture(params=["external", "bleu", "sparse", "ties"], name="pool")
def some_pools(request):
    return {
        "external": lambda: random_pool(1, n_sentences=25),
        "bleu": lambda: random_pool(2, n_sentences=25, bleu=True),
        "sparse": lambda: random_pool(3, n_sentences=25, n_features=40, active=0.1),
        "ties": lambda: random_pool(4, n_sentences=25, grid=True, bleu=True),
    }[request.param]()


def start_of(pool):
    return Weights(pool.index, np.random.default_rng(0).normal(size=len(pool.index)))


def test_defaults_make_an_optimiser():
    for make in OPTIMISERS.values():
        assert make() == make()


def test_result_is_usable_and_measured(optimiser, pool):
    start = start_of(pool)
    before = start.values.copy()
    result = optimiser.optimise(pool, start, seed=1)
    assert result.weights.is_usable()
    assert result.weights.index is pool.index
    assert np.isfinite([result.gain_before, result.gain_after]).all()
    assert result.gain_after > result.gain_before
    assert result.trace
    assert (start.values == before).all()


def test_same_seed_same_bits_for_any_number_of_threads(optimiser, pool):
    runs = [optimiser.optimise(pool, start_of(pool), seed=3, n_threads=n).weights.values.tobytes() for n in (1, 1, 4)]
    assert len(set(runs)) == 1


def test_seeds_and_rounds_differ(optimiser):
    pool = random_pool(1, n_sentences=25)
    runs = [
        optimiser.optimise(pool, start_of(pool), seed=seed, round_number=number).weights.values.tobytes()
        for seed, number in ((1, 0), (2, 0), (1, 1))
    ]
    assert len(set(runs)) == 3


def test_frozen_features_keep_their_weights(optimiser):
    pool = random_pool(5, n_sentences=25)
    start = start_of(pool)
    result = optimiser.optimise(pool, start, seed=1, frozen=["f1", "f3"])
    assert result.weights["f1"] == start["f1"]
    assert result.weights["f3"] == start["f3"]
    assert result.weights["f0"] != start["f0"]
    with pytest.raises(InputError, match="'misspelt' cannot be frozen"):
        optimiser.optimise(pool, start, seed=1, frozen=["misspelt"])


def test_everything_frozen_is_refused(optimiser):
    pool = random_pool(5)
    with pytest.raises(InputError, match="frozen|cannot matter"):
        optimiser.optimise(pool, start_of(pool), seed=1, frozen=[f"f{i}" for i in range(5)])


def test_zero_weights_are_a_start(optimiser):
    pool = random_pool(6, n_sentences=25)
    assert optimiser.optimise(pool, Weights(pool.index), seed=1).weights.is_usable()


def test_weights_of_features_that_no_candidate_has_stay(optimiser):
    pool = random_pool(6, n_sentences=25)
    start = Weights.from_dict({"f0": 0.5, "UnknownWordPenalty0": 1.0})
    result = optimiser.optimise(pool, start, seed=1, frozen=["f0"])  # frozen, so that nothing is scaled
    assert result.weights["UnknownWordPenalty0"] == 1.0


def test_the_scale_of_learning_does_not_change_features_that_no_candidate_has(optimiser):
    pool = random_pool(6, n_sentences=25)
    start = start_of(pool)
    start["UnknownWordPenalty0"], start["Distortion0"] = 2.0, -4.0
    start.values[:] /= 256
    result = optimiser.optimise(pool, start, seed=1)
    assert result.weights["Distortion0"] == pytest.approx(-2 * result.weights["UnknownWordPenalty0"])
    if "scale" in result.trace[0]:
        assert result.trace[0]["scale"] != 1
        assert result.weights["Distortion0"] == -4 / 256


def test_a_result_worse_than_the_start_and_odd_lengths_are_told(optimiser):
    pool = random_pool(6, n_sentences=25, bleu=True)
    stats = pool.shards[0].stats.copy()
    stats[:, 1] = 0.5 * stats[:, 0].sum() / pool.n_candidates
    pool = replace(pool, shards=(pool.shards[0].with_stats(stats),))
    result = optimiser.optimise(pool, start_of(pool), seed=1)
    assert any(re.fullmatch(r"the length ratio of .* is [12]\.\d\d", note) for note in result.notes)
    worse = finish(pool, result.weights, start_of(pool), n_threads=1)
    assert any(note.startswith("worse than the start on these lists: bleu") for note in worse.notes)
    stats[:, 2:6] *= 1e-3
    odd = replace(pool, shards=(pool.shards[0].with_stats(stats),))
    assert any("are these the right ones" in note for note in optimiser.optimise(odd, start_of(odd), seed=1).notes)


def test_references_that_no_candidate_resembles_are_refused(optimiser):
    pool = random_pool(5, bleu=True)
    stats = pool.shards[0].stats.copy()
    stats[:, 5] = 0  # matches of order 4
    wrong = replace(pool, shards=(pool.shards[0].with_stats(stats),))
    with pytest.raises(InputError, match="no candidate shares a 4-gram with its reference; are these the right"):
        optimiser.optimise(wrong, start_of(pool), seed=1)


def test_candidates_without_features_are_refused(optimiser):
    pool = pool_of([[({}, 0.5), ({}, 0.25)]])
    with pytest.raises(InputError, match="no candidate has a feature"):
        optimiser.optimise(pool, Weights(pool.index), seed=1)


def test_a_start_that_fits_nothing_is_refused(optimiser):
    with pytest.raises(InputError, match="no weight belongs"):
        optimiser.optimise(random_pool(6), Weights.from_dict({"LM0": 1.0}), seed=1)
    with pytest.raises(InputError, match="not all finite"):
        optimiser.optimise(random_pool(6), Weights.from_dict({"f0": np.nan}), seed=1)


def test_one_candidate_per_sentence_is_refused(optimiser):
    pool = pool_of([[({"a": 1.0}, 0.5)], [({"a": 2.0}, 0.25)]])
    with pytest.raises(InputError, match="only one candidate"):
        optimiser.optimise(pool, Weights.from_dict({"a": 1.0}), seed=1)


def test_equal_candidates_are_refused(optimiser):
    same_metric = pool_of([[({"a": 1.0}, 0.5), ({"a": 2.0}, 0.5)]])
    with pytest.raises(InputError, match="the same external, so there is nothing to learn$"):
        optimiser.optimise(same_metric, Weights.from_dict({"a": 1.0}), seed=1)
    same_features = pool_of([[({"a": 1.0}, 0.5), ({"a": 1.0}, 0.25)]])
    with pytest.raises(InputError, match="weights cannot matter"):
        optimiser.optimise(same_features, Weights.from_dict({"a": 1.0}), seed=1)


def test_an_empty_pool_and_one_without_metric_are_refused(optimiser):
    with pytest.raises(InputError, match="no candidates"):
        optimiser.optimise(pool_of([]), Weights.from_dict({}), seed=1)
    with pytest.raises(InputError, match="no metric"):
        optimiser.optimise(replace(random_pool(1), metric=None), Weights.from_dict({"f0": 1.0}), seed=1)


def test_sentences_of_one_candidate_and_none_are_no_trouble(optimiser):
    candidates = [({"a": 1.0, "b": -1.0}, 0.9), ({"a": -1.0, "b": 0.5}, 0.1), ({"a": 0.5}, 0.4)]
    pool = pool_of([candidates, [], [({"a": 4.0}, 0.3)], candidates[::-1]])
    assert optimiser.optimise(pool, Weights.from_dict({"b": 1.0}), seed=1).gain_after == pytest.approx(
        (0.9 + 0.3 + 0.9) / 3
    )


def test_a_constant_feature_does_no_harm(optimiser):
    pool = random_pool(8, n_sentences=25)
    more = pool.add_features({"constant": [np.full(pool.n_candidates, 123.0)]})
    assert optimiser.optimise(more, start_of(more), seed=1).weights.is_usable()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_features_of_any_scale(optimiser, scale):
    pool = random_pool(9, n_sentences=25)
    plain = optimiser.optimise(pool, Weights(pool.index), seed=1)
    shard = pool.shards[0]
    values = (shard.feature_values * np.float32(scale)).astype(np.float32)
    scaled = replace(pool, shards=(shard.with_features(shard.feature_rows, shard.feature_ids, values),))
    other = optimiser.optimise(scaled, Weights(pool.index), seed=1)
    assert other.weights.is_usable()
    assert other.gain_after == pytest.approx(plain.gain_after, rel=0.1)


def test_a_pool_on_disk_in_shards(optimiser, tmp_path):
    pool = random_pool(10, n_sentences=25, bleu=True)
    shard = pool.shards[0]
    split = replace(pool, shards=(shard.part(0, 9), shard.part(9, 25)))
    disk = save_pool(split, tmp_path / "pool")
    results = [optimiser.optimise(p, start_of(p), seed=1) for p in (pool, split, disk)]
    assert results[0].weights.values.tobytes() == results[1].weights.values.tobytes()
    assert results[1].weights.values.tobytes() == results[2].weights.values.tobytes()


def with_sparse(seed, *, bleu):
    """Dense features whose multiples by 100 are exact, and two that only some candidates have."""
    pool = random_pool(seed, n_sentences=25, n_features=6, bleu=bleu)
    (shard,) = pool.shards
    values = np.round(shard.feature_values * 64) / 64
    kept = (shard.feature_ids < 4) | (np.random.default_rng(seed).random(len(values)) < 0.3)
    rows = np.concatenate([[0], np.cumsum(kept)])[shard.feature_rows]
    shard = shard.with_features(rows, shard.feature_ids[kept], values[kept].astype(np.float32))
    return replace(pool, shards=(shard,), dense=frozenset(range(4)))


def in_other_units(pool, start, *, feature, factor, of_start):
    """The same lists with one feature multiplied, and the start divided there; all of the start times `of_start`."""
    (shard,) = pool.shards
    values = np.where(shard.feature_ids == pool.index.find(feature), factor, 1) * shard.feature_values
    shard = shard.with_features(shard.feature_rows, shard.feature_ids, values.astype(np.float32))
    start = start.copy()
    start[feature] /= factor
    start.values[:] *= of_start
    return replace(pool, shards=(shard,)), start


@pytest.fixture(params=LIST_METHODS, name="default")
def each_by_default(request):
    return OPTIMISERS[request.param]()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(
    ("factor", "of_start"),
    [(128, 1), (2.0**40, 1), (2.0**-40, 1), (100, 1), (0.01, 1), (1, 8), (1, 2.0**-40), (1, 10), (1, 1e-3)],
)
def test_no_choice_depends_on_the_unit_of_a_feature_or_on_the_size_of_the_start(default, factor, of_start, zeros, seed):
    pool = with_sparse(seed, bleu=seed % 2 == 0)
    start = Weights(pool.index) if zeros else start_of(pool)
    other, other_start = in_other_units(pool, start, feature="f1", factor=factor, of_start=of_start)
    plain, result = (default.optimise(*each, seed=1) for each in ((pool, start), (other, other_start)))
    assert np.array_equal(chosen(other, result.weights), chosen(pool, plain.weights))
    assert result.gain_after == pytest.approx(plain.gain_after, rel=1e-12)


def chosen(pool, weights):
    (candidates,) = rerank(pool, weights).candidates
    return candidates
