"""Pools as matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import random_pool

from dragoman.candidates import best_by, model_totals, rerank
from dragoman.candidates.matrix import candidate_matrix
from dragoman.errors import InputError
from dragoman.features import Weights


def in_shards(pool):
    (shard,) = pool.shards
    return replace(pool, shards=tuple(shard.part(begin, begin + 4) for begin in range(0, shard.n_sentences, 4)))


@pytest.mark.parametrize("bleu", [False, True])
def test_rows_are_those_of_the_candidates(bleu):
    pool = in_shards(random_pool(3, active=0.6, bleu=bleu))
    matrix = candidate_matrix(pool)
    assert list(matrix.names) == pool.dense_names()
    for column, name in enumerate(matrix.names):
        expected = np.concatenate(model_totals(pool, Weights.from_dict({name: 1.0})))
        np.testing.assert_array_equal(matrix.values[:, column], expected)
    assert matrix.groups.tolist() == [s for s in range(12) for _ in range(15)]
    np.testing.assert_array_equal(
        matrix.gains, np.concatenate([pool.metric.segment_gains(shard.stats) for shard in pool.shards])
    )
    assert (matrix.values == 0).any()


def test_a_choice_by_predictions_is_that_by_weights():
    pool = in_shards(random_pool(4))
    matrix = candidate_matrix(pool)
    weights = Weights.from_dict({"f0": 1.0, "f3": -2.0})
    predicted = matrix.values @ np.array([weights[name] for name in matrix.names])
    chosen, expected = best_by(pool, matrix.of_shards(predicted)), rerank(pool, weights)
    assert [part.tolist() for part in chosen.candidates] == [part.tolist() for part in expected.candidates]
    with pytest.raises(InputError, match="one number for each of 180 candidates"):
        matrix.of_shards(predicted[1:])


def test_some_features_without_a_metric():
    pool = replace(random_pool(5), metric=None)
    matrix = candidate_matrix(pool, ["f2", "f0"])
    assert matrix.gains is None
    np.testing.assert_array_equal(matrix.values, candidate_matrix(pool).values[:, [2, 0]])
    with pytest.raises(InputError, match="no candidate has a feature 'f9'"):
        candidate_matrix(pool, ["f9"])
