"""Cross-validation deals the same sentences to all, and a method that fails does not stop the others."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from tests.kit.pools import random_pool

from dragoman.analysis import START
from dragoman.analysis.resampling import best_method, cross_validate, deal_sentences
from dragoman.candidates import rerank
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim import Mert, Optimiser, Pro
from dragoman.run import RunFolder


class Spy(Pro):
    """PRO that remembers what it was trained on."""

    seen: ClassVar[list] = []

    def optimise(self, pool, start, **options):
        self.seen.append(np.concatenate([shard.sentence_ids for shard in pool.shards]).tolist())
        return super().optimise(pool, start, **options)


class Broken(Optimiser):
    def optimise(self, pool, start, **options):
        raise ZeroDivisionError("oops")


def start_of(pool):
    return Weights.from_dict({"f0": 1.0}, pool.index)


def test_folds_are_disjoint_even_and_random():
    pool = random_pool(1, n_sentences=23)
    folds = deal_sentences(pool, 5, seed=1)
    assert sorted(len(fold) for fold in folds) == [4, 4, 5, 5, 5]
    assert sorted(np.concatenate(folds).tolist()) == list(range(23))
    assert all((np.diff(fold) > 0).all() for fold in folds)
    other = deal_sentences(pool, 5, seed=2)
    assert any(not np.array_equal(a, b) for a, b in zip(folds, other, strict=True))


def test_held_out_sentences_are_not_trained_on_and_scores_are_theirs():
    pool = random_pool(2, n_sentences=20, bleu=True)
    Spy.seen.clear()
    rows = cross_validate(pool, {"one": Spy(), "two": Spy()}, start_of(pool), seed=3, n_folds=4)
    folds = deal_sentences(pool, 4, seed=3)
    for number, fold in enumerate(folds):
        expected = sorted(set(range(20)) - set(fold.tolist()))
        assert Spy.seen[2 * number] == Spy.seen[2 * number + 1] == expected
        weights = Pro().optimise(pool.of_sentences(np.array(expected)), start_of(pool), seed=3).weights
        assert rows[1].folds[number].held_out == rerank(pool.of_sentences(fold), weights).score()
        assert rows[0].folds[number].held_out == rerank(pool.of_sentences(fold), start_of(pool)).score()
    assert [row.method for row in rows] == [START, "one", "two"]
    values = [fold.held_out for fold in rows[1].folds]
    assert rows[1].held_out == pytest.approx(np.mean(values))
    assert rows[1].deviation == pytest.approx(np.std(values, ddof=1))


def test_the_parts_of_a_pool_in_shards():
    pool = random_pool(4, n_sentences=10)
    shard = pool.shards[0]
    split = replace(pool, shards=(shard.part(0, 4), shard.part(4, 10)))
    ids = np.array([1, 3, 7])
    for part in (pool.of_sentences(ids), split.of_sentences(ids)):
        assert np.concatenate([s.sentence_ids for s in part.shards]).tolist() == [1, 3, 7]
        stats = np.concatenate([s.stats for s in part.shards])
        wanted = [shard.stats[shard.sentences[i] : shard.sentences[i + 1]] for i in ids]
        assert np.array_equal(stats, np.concatenate(wanted))
    assert pool.of_sentences(np.array([0])).n_sentences == 1
    assert split.of_sentences(np.array([9])).n_candidates == pool.n_candidates // 10


def test_a_failing_method_has_its_reason():
    pool = random_pool(5, n_sentences=12)
    seen = []
    methods = {"broken": Broken(), "narrow": Mert(max_features=1), "pro": Pro()}
    rows = {row.method: row for row in cross_validate(pool, methods, start_of(pool), seed=1, on_fold=seen.append)}
    assert rows["broken"].failure == "ZeroDivisionError: oops"
    assert "mert would tune 5 features" in rows["narrow"].failure
    assert rows["pro"].failure is None
    assert best_method(list(rows.values())) == "pro"
    assert [score.method for score in seen].count("broken") == 1
    with pytest.raises(InputError, match="every method failed; broken: ZeroDivisionError"):
        best_method(cross_validate(pool, {"broken": Broken()}, start_of(pool), seed=1))


def test_folds_in_the_record_of_a_run_are_not_done_again(tmp_path):
    pool = random_pool(6, n_sentences=12)
    whole = cross_validate(pool, {"pro": Pro()}, start_of(pool), seed=1)
    with RunFolder.open(tmp_path, {}) as run:
        cross_validate(pool, {"pro": Pro()}, start_of(pool), seed=1, run=run)
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(line + "\n" for line in trace.read_text().splitlines()[:5]))
    Spy.seen.clear()
    with RunFolder.open(tmp_path, {}, resume=True) as run:
        again = cross_validate(pool, {"pro": Spy()}, start_of(pool), seed=1, run=run)
    assert len(Spy.seen) == 3
    assert [row.held_out for row in again] == [row.held_out for row in whole]
