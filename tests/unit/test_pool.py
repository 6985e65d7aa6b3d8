"""Pools: merging, projecting, adding, measuring, choosing, and refusing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman._core import best_candidates
from dragoman.candidates import (
    merge_pools,
    oracle,
    read_nbest,
    read_pool,
    read_references,
    rerank,
    with_external,
    with_metric,
)
from dragoman.errors import InputError, MismatchError
from dragoman.features import Block, Weights
from dragoman.metric import Bleu, Chrf, External, Smoothing, Ter, Tokenizer, by_name, score_text

LISTS = """0 ||| the cat sat on a mat ||| a=1 b=2
0 ||| the cat sat on the mat ||| a=2 b=1
0 |||  ||| a=3
1 ||| hello there World ||| a=-1 b=1
1 ||| hello world ||| b=3
"""
REFERENCES = [["the cat sat on the mat", "a cat sat on the mat"], ["hello there world"]]


@pytest.fixture
def pool(tmp_path):
    (tmp_path / "list").write_text(LISTS)
    return read_nbest(tmp_path / "list")


def test_rerank_takes_the_first_of_equals(pool):
    choice = rerank(pool, Weights.from_dict({"b": 1.0}))
    assert list(choice.texts()) == [(0, "the cat sat on a mat"), (1, "hello world")]
    ties = rerank(pool, Weights.from_dict({"a": 0.0}))
    assert [t for _, t in ties.texts()] == ["the cat sat on a mat", "hello there World"]


def test_rerank_equals_numpy_for_any_number_of_threads():
    pool = random_pool(3, n_sentences=70, active=0.5)
    weights = Weights(pool.index, np.random.default_rng(0).normal(size=5))
    scores = dense_features(pool) @ weights.values
    expected = scores.reshape(70, 15).argmax(axis=1) + np.arange(70) * 15
    for n_threads in (1, 3):
        assert rerank(pool, weights, n_threads=n_threads).candidates[0].tolist() == expected.tolist()


def test_weights_that_fit_nothing_are_refused(pool):
    with pytest.raises(InputError, match="no weight belongs.*'LM0'.*'a'"):
        rerank(pool, Weights.from_dict({"LM0": 1.0}))
    with pytest.raises(InputError, match="not all finite"):
        rerank(pool, Weights.from_dict({"a": np.nan}))


@pytest.mark.parametrize(
    "metric",
    [Bleu(), Bleu(tokenizer=Tokenizer.T13A), Ter(), Chrf(word_order=2), by_name("(ter-bleu)/2"), Bleu(lowercase=True)],
    ids=lambda m: m.name,
)
def test_scores_are_the_metrics(pool, metric):
    measured = with_metric(pool, metric, REFERENCES)
    choice = rerank(measured, Weights.from_dict({"a": 1.0}))
    texts = [text for _, text in choice.texts()]
    columns = [[refs[i] if i < len(refs) else None for refs in REFERENCES] for i in range(2)]
    assert choice.score() == pytest.approx(score_text(metric, texts, columns).score, abs=1e-12)


@pytest.mark.parametrize("name", ["bleu", "ter", "chrf++", "(ter-bleu)/2", "0.3*chrf + 0.7*bleu"])
def test_native_gains_equal_the_metrics(name):
    metric = by_name(name, smoothing=Smoothing.NONE)
    rng = np.random.default_rng(0)
    words = np.array(["a", "b", "c", "d", "e"])
    texts = [" ".join(rng.choice(words, 12)) for _ in range(40)]
    stats = metric.text_statistics(texts, [[" ".join(rng.choice(words, 11))] for _ in texts])
    for n in (4, 17, 40):
        total = stats[:n].sum(axis=0)
        assert metric.scorer().gain(total) == pytest.approx(float(metric.gain(total)), rel=1e-13)
    assert metric.scorer().gain(np.zeros(metric.n_stats)) == pytest.approx(float(metric.gain(np.zeros(metric.n_stats))))


@pytest.mark.parametrize("higher", [True, False])
def test_native_external(higher):
    metric = External(higher_is_better=higher)
    total = metric.from_values([0.5, 0.25, -3.0]).sum(axis=0)
    assert metric.scorer().gain(total) == pytest.approx(float(metric.gain(total)))


def test_unsmoothed_bleu_is_the_objective():
    total = np.array([10, 10, 5, 2, 1, 0, 10, 9, 8, 7], dtype=np.float64)
    assert Bleu().scorer().gain(total) == 0.0
    assert Bleu().gain(total) > 0


def test_oracle(pool):
    best = oracle(with_metric(pool, Bleu(), REFERENCES))
    assert [text for _, text in best.texts()] == ["the cat sat on the mat", "hello there World"]


def test_oracle_of_a_mean_is_exact():
    pool = random_pool(4)
    values = pool.shards[0].stats[:, 0].reshape(12, 15)
    assert oracle(pool).score() == pytest.approx(values.max(axis=1).mean())


def test_oracle_beats_every_choice_of_a_small_pool():
    pool = random_pool(5, n_sentences=3, n_candidates=4, bleu=True)
    stats = pool.shards[0].stats.reshape(3, 4, 10)
    every = [
        pool.metric.gain(stats[0, i] + stats[1, j] + stats[2, k]) for i in range(4) for j in range(4) for k in range(4)
    ]
    assert oracle(pool).gain() == pytest.approx(max(every))


def test_references_must_fit(pool, tmp_path):
    with pytest.raises(MismatchError, match="sentence 1 .* only 1 lines"):
        with_metric(pool, Bleu(), REFERENCES[:1])
    with pytest.raises(MismatchError, match="3 lines but 1 of them have no candidates, the first is line 3"):
        with_metric(pool, Bleu(), [*REFERENCES, ["x"]])
    assert with_metric(pool, Bleu(), [*REFERENCES, ["x"]], allow_missing=True).metric == Bleu()
    (tmp_path / "r0").write_text("a\nb\n")
    (tmp_path / "r1").write_text("a\n")
    with pytest.raises(MismatchError, match="2|1"):
        read_references([tmp_path / "r0", tmp_path / "r1"])
    with pytest.raises(InputError, match="no references"):
        read_references([])
    assert read_references([tmp_path / "r0", tmp_path / "r0"]) == [["a", "a"], ["b", "b"]]


def test_no_metric_yet(pool):
    with pytest.raises(InputError, match="no metric yet"):
        rerank(pool, Weights.from_dict({"a": 1.0})).score()


def test_external_scores(tmp_path):
    lines = ['{"id": 0, "text": "a", "features": {"f": 1}, "scores": {"comet": 0.5}}']
    lines += ['{"id": 0, "text": "b", "features": {"f": 2}, "scores": {"comet": 0.75, "qe": 1}}']
    (tmp_path / "list").write_text("\n".join(lines))
    pool = read_nbest(tmp_path / "list")
    assert rerank(with_external(pool, "comet"), Weights.from_dict({"f": 1.0})).score() == 0.75
    assert oracle(with_external(pool, "comet", higher_is_better=False)).score() == 0.5
    with pytest.raises(InputError, match="no score 'bleurt'; they have: comet, qe"):
        with_external(pool, "bleurt")
    with pytest.raises(InputError, match="1 candidates have no score 'qe', the first of sentence 0"):
        with_external(pool, "qe")
    more = pool.scores_as_features(["comet"])
    assert rerank(with_external(more, "comet"), Weights.from_dict({"comet": -1.0})).score() == 0.5
    assert more.dense_names() == ["f", "comet"]


def test_add_features(pool):
    n = pool.n_candidates
    more = pool.add_features({"c": [np.arange(n, dtype=np.float64)], "d": [np.zeros(n)]})
    assert dense_features(more)[:, pool.index.find("c")].tolist() == list(range(n))
    assert (dense_features(more)[:, :2] == dense_features(pool)[:, :2]).all()
    for shard in more.shards:
        for c in range(n):
            assert (np.diff(shard.feature_ids[shard.feature_rows[c] : shard.feature_rows[c + 1]]) > 0).all()
    with pytest.raises(InputError, match="already"):
        pool.add_features({"a": [np.zeros(n)]})
    with pytest.raises(InputError, match="finite"):
        pool.add_features({"e": [np.full(n, np.inf)]})
    with pytest.raises(InputError, match="one value"):
        pool.add_features({"e": [np.zeros(2)]})


def test_project_replaces_columns_by_blocks():
    pool = random_pool(6, n_features=6, active=0.6)
    x = dense_features(pool)
    one = Block.from_dict("one", {"f0": 2.0, "f1": -1.0, "nobody": 5.0})
    two = Block.from_dict("two", {"f1": 0.5, "f4": 0.0})
    projected = pool.project([one, two])
    y = dense_features(projected)
    column = {name: pool.index.find(name) for name in ("f0", "f1", "f2", "f3", "f4", "f5", "one", "two")}
    assert y[:, column["one"]] == pytest.approx(2 * x[:, 0] - x[:, 1], abs=1e-6)
    assert y[:, column["two"]] == pytest.approx(0.5 * x[:, 1], abs=1e-6)
    for gone in ("f0", "f1", "f4"):
        assert not y[:, column[gone]].any()
    for kept in ("f2", "f3", "f5"):
        assert (y[:, column[kept]] == x[:, column[kept]]).all()
    assert projected.dense_names() == ["f2", "f3", "f5", "one", "two"]
    with pytest.raises(InputError, match="already"):
        pool.project([Block.from_dict("f5", {"f0": 1.0})])


def test_merging_pools_of_different_tables(tmp_path):
    (tmp_path / "1").write_text("0 ||| x y ||| a=1 b=2\n2 ||| z ||| a=1\n")
    (tmp_path / "2").write_text("0 ||| y x ||| b=5 a=7\n0 ||| x y ||| b=2 a=1\n1 ||| w ||| c=1 a=1\n")
    together = read_pool([tmp_path / "1", tmp_path / "2"])
    merged = merge_pools([read_nbest(tmp_path / "1"), read_nbest(tmp_path / "2", round_number=1)])
    for pool in (together, merged):
        shard = pool.shards[0]
        assert [pool.text(shard, c) for c in range(4)] == ["x y", "y x", "w", "z"]
        assert shard.sentence_ids.tolist() == [0, 1, 2]
        names = [pool.index.find(name) for name in "abc"]
        assert dense_features(pool)[:, names].tolist() == [[1, 2, 0], [7, 5, 0], [1, 0, 1], [1, 0, 0]]
        assert sorted(pool.dense_names()) == ["a", "b", "c"]


def test_merging_pools_of_different_metrics_is_refused():
    with pytest.raises(MismatchError, match="different metrics"):
        merge_pools([random_pool(0), random_pool(0, bleu=True)])


def test_shards_must_be_in_order():
    pool = random_pool(0)
    with pytest.raises(ValueError, match="ascend"):
        type(pool)(index=pool.index, words=pool.words, shards=(pool.shards[0], pool.shards[0]))


def test_candidates_without_text_differ_by_statistics():
    pool = pool_of([[({"f": 1.0}, 0.5), ({"f": 1.0}, 0.25), ({"f": 1.0}, 0.5)]])
    assert pool.distinct().shards[0].stats[:, 0].tolist() == [0.5, 0.25]


def test_a_feature_id_beyond_the_index_is_no_crash():
    pool = random_pool(0)
    weights = np.zeros(2)
    with pytest.raises(InputError, match="beyond the index"):
        best_candidates(*pool.shards[0].candidates, weights)
