"""Blocks in search: against projected lists of sparse features, and against search by what the blocks stand for.

Weights and coefficients are fractions with few binary digits, so that sums are exact and orders can be compared.
"""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.small_systems import TEMPLATES, all_names, opened, sentences_of

from dragoman.errors import InputError
from dragoman.features import Block, FeatureIndex, Weights
from dragoman.forest.arrays import ForestArrays
from dragoman.gradients import N_LISTS, PassSettings, gradient_pass
from dragoman.sources.lists import ListShard, StoredLists, write_shard
from dragoman.system import KINDS, FoldDecoder, LiveDecoder

K = 30
SHARES = {"first": 0.5, "second": -0.25}
"""Weights of the blocks."""


@pytest.fixture(name="case", params=KINDS)
def case_of(request, made):
    return Case(made, request.param)


class Case:
    """A system with two blocks that overlap, and the same without, with the weights that amount to the same."""

    def __init__(self, made, kind):
        self.sentences = sentences_of(made)
        self.sparse = opened(made, kind)
        sparse = [name for name in all_names(made, kind) if ":" in name]
        # More digits than a 32-bit number has; some features are covered twice, some by 0, some not at all.
        self.coefficients = {
            "first": {name: 1 + (i % 64 - 32) / 2**28 for i, name in enumerate(sparse) if i % 5 != 0},
            "second": {name: (i % 7 - 3) / 8 for i, name in enumerate(sparse) if i % 3 == 0},
        }
        self.blocks = [Block.from_dict(name, values) for name, values in self.coefficients.items()]
        covered = {name for values in self.coefficients.values() for name in values}
        dense = {name: round(8 * value) / 8 for name, value in self.sparse.weights.items()}
        left = {name: (i % 9 - 4) / 8 for i, name in enumerate(sparse) if name not in covered}
        assert left
        total = dense | left
        for block, values in self.coefficients.items():
            for name, value in values.items():
                total[name] = total.get(name, 0.0) + SHARES[block] * value
        self.with_blocks = opened(made, kind).with_blocks(self.blocks)
        self.weights = Weights.from_dict(dense | left | SHARES, self.with_blocks.index)
        self.sparse_weights = Weights.from_dict(total, self.sparse.index)


def rows_of(pool):
    (shard,) = pool.shards
    return [
        dict(zip(pool.index.names(shard.feature_ids[begin:end]), shard.feature_values[begin:end].tolist(), strict=True))
        for begin, end in zip(shard.feature_rows[:-1], shard.feature_rows[1:], strict=True)
    ]


def assert_same_lists(pool, sparse, case):
    """The same candidates in the same order with the same scores; features as the projection has them."""
    (ours,), (theirs,) = pool.shards, sparse.shards
    assert ours.sentences.tolist() == theirs.sentences.tolist()
    assert ours.totals.tolist() == theirs.totals.tolist()
    texts = [[p.text(p.shards[0], c) for c in range(p.n_candidates)] for p in (pool, sparse)]
    assert texts[0] == texts[1]
    projected = sparse.project(case.blocks)
    for found, wanted in zip(rows_of(pool), rows_of(projected), strict=True):
        assert found == pytest.approx(wanted, rel=1e-6)
        assert found.keys() & SHARES.keys()
    named = [{p.index.name(id_) for id_ in p.dense} for p in (pool, projected)]
    assert named[0] == named[1]
    assert SHARES.keys() <= named[0]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_lists_are_those_of_the_features_that_blocks_stand_for(case, n_threads):
    pool = case.with_blocks.kbest(case.sentences, K, weights=case.weights, n_threads=n_threads)
    sparse = case.sparse.kbest(case.sentences, K, weights=case.sparse_weights)
    assert_same_lists(pool, sparse, case)
    shown = [one.explain(case.sentences[0], weights=w).score for one, w in pairs_of(case)]
    assert shown[0] == pytest.approx(shown[1], rel=1e-12)
    assert SHARES.keys() & {f.name for f in case.with_blocks.explain(case.sentences[0], weights=case.weights).features}


def pairs_of(case):
    return (case.with_blocks, case.weights), (case.sparse, case.sparse_weights)


def test_translations_and_forests_are_the_same(case):
    texts = [list(one.translate(case.sentences, weights=w)) for one, w in pairs_of(case)]
    assert texts[0] == texts[1]
    forests = [list(one.forests(case.sentences, w)) for one, w in pairs_of(case)]
    for ours, theirs in zip(*forests, strict=True):
        x, y = ForestArrays.of(ours.core), ForestArrays.of(theirs.core)
        assert (x.instances == y.instances).all()
        assert (x.tails == y.tails).all()
        for i in range(len(x.rules)):
            found = features_of(x, i, ours.index)
            wanted = {}
            for name, value in features_of(y, i, theirs.index).items():
                blocks = {b: c[name] for b, c in case.coefficients.items() if name in c}
                for target, factor in (blocks or {name: 1.0}).items():
                    wanted[target] = wanted.get(target, 0.0) + factor * value
            found, wanted = ({name: value for name, value in row.items() if value} for row in (found, wanted))
            assert found == pytest.approx(wanted, rel=1e-12)


def features_of(arrays, instance, index):
    found = {}
    row = slice(arrays.local_offsets[instance], arrays.local_offsets[instance + 1])
    for name, value in zip(index.names(arrays.local_ids[row]), arrays.local_values[row].tolist(), strict=True):
        found[name] = found.get(name, 0.0) + value
    return found


def test_folds_live_decoders_and_other_processes_have_them_too(case):
    lines = np.arange(0, 40, 3, dtype=np.int64)
    ours, theirs = (FoldDecoder(one).kbest(lines, w, 5) for one, w in pairs_of(case))
    assert_same_lists(ours, theirs, case)
    sent = pickle.loads(pickle.dumps(case.with_blocks))
    whole = case.with_blocks.kbest(case.sentences, 5, weights=case.weights)
    live = LiveDecoder(sent, case.sentences)
    values = case.weights.on(live.index).values
    for pool in (
        sent.kbest(case.sentences, 5, weights=case.weights.on(sent.index)),
        live.pool_of([live.kbest(s, values, 5) for s in range(len(live))]),
    ):
        assert rows_of(pool) == rows_of(whole)
    views = case.with_blocks.view(0), pickle.loads(pickle.dumps(case.with_blocks.view(0)))
    lists = [view.kbest(case.sentences, 5, weights=case.weights.on(view.index)) for view in views]
    assert rows_of(lists[0]) == rows_of(lists[1])
    assert case.with_blocks.with_templates(["rule_id"]).blocks == case.with_blocks.blocks


def test_stored_lists_have_the_blocks_of_the_search(case, tmp_path):
    lines = np.arange(0, 40, 3, dtype=np.int64)
    system = case.with_blocks
    pool = FoldDecoder(system).kbest(lines, case.weights, 5, derivations=True)
    write_shard(tmp_path / "shard", ListShard.of(pool, pool.shards[0], system.training.folds[lines]))
    lists = StoredLists(pickle.loads(pickle.dumps(system)), [tmp_path / "shard"])
    assert rows_of(replace(lists.pool(), shards=tuple(lists))) == rows_of(pool)


def test_without_the_rest_what_no_block_covers_is_gone(case, tmp_path):
    covered = {name for values in case.coefficients.values() for name in values}
    left = {name for name, _ in case.weights.items() if ":" in name}
    assert left
    assert not left & covered
    sparse_weights = case.sparse_weights.copy()
    for name in left:
        sparse_weights[name] = 0.0
    alone = case.with_blocks.with_blocks(case.blocks, rest=False)
    wanted = case.sparse.kbest(case.sentences, K, weights=sparse_weights)
    pool = alone.kbest(case.sentences, K, weights=case.weights)  # weights of what is gone mean nothing
    assert pool.shards[0].totals.tolist() == wanted.shards[0].totals.tolist()
    rows = [{name: v for name, v in row.items() if ":" not in name} for row in rows_of(wanted.project(case.blocks))]
    assert len(rows) == len(rows_of(pool))
    for found, row in zip(rows_of(pool), rows, strict=True):
        assert found == pytest.approx(row, rel=1e-6)
    sent = pickle.loads(pickle.dumps(alone.with_templates(alone.settings.features)))
    for one in (sent, alone.view_on(FeatureIndex())):
        assert rows_of(one.kbest(case.sentences, K, weights=case.weights.on(one.index))) == rows_of(pool)
    lines = np.arange(0, 40, 3, dtype=np.int64)
    lists = FoldDecoder(alone).kbest(lines, case.weights, 5, derivations=True)
    assert not any(":" in name for row in rows_of(lists) for name in row)
    write_shard(tmp_path / "shard", ListShard.of(lists, lists.shards[0], alone.training.folds[lines]))
    stored = StoredLists(sent, [tmp_path / "shard"])
    assert rows_of(replace(stored.pool(), shards=tuple(stored))) == rows_of(lists)


@pytest.mark.parametrize("kind", KINDS)
def test_search_by_directions_is_search_by_their_weighted_sum(made, kind):
    """(w_d, c1, alpha) over f1 = w_s and f2 = g gives the lists of c1 w_s + alpha g, order and derivations included."""
    c1, alpha = 0.75, 1.5
    system = opened(made, kind)
    dense = {name: round(8 * value) / 8 for name, value in system.weights.items()}
    settings = PassSettings(k=20, scale=10, features=TEMPLATES[kind])
    halves = np.arange(80), np.arange(80, 160)
    before = step_of(gradient_pass(system, settings, weights=Weights.from_dict(dense), lines=halves[0]))
    weights = Weights.from_dict(dense | dict(before.weights("step").items()))
    along = step_of(gradient_pass(system, settings, weights=weights, lines=halves[1]))
    both = {*before.names()} & {*along.names()}
    assert 0 < len(both) < min(len(before), len(along))

    directions = Weights.from_dict(dense | {"before": c1, "along": alpha})
    total = {name: c1 * value for name, value in before.weights("step").items()}
    for name, value in along.weights("step").items():
        total[name] = total.get(name, 0.0) + alpha * value
    searched = system.with_blocks([Block("before", before, "step"), Block("along", along, "step")], rest=False)
    lines = np.arange(160, 200)
    for decode in (
        lambda one, w: one.kbest(sentences_of(made), 100, weights=w.on(one.index), derivations=True),
        lambda one, w: FoldDecoder(one).kbest(lines, w.on(one.index), 100, derivations=True),
    ):
        (ours,), (theirs,) = (
            decode(searched, directions).shards,
            decode(system, Weights.from_dict(dense | total)).shards,
        )
        assert ours.n_candidates > 500
        assert ours.totals.tolist() == theirs.totals.tolist()
        for name in ("sentences", "rules", "begins", "ends", "rows", "applications"):
            assert np.array_equal(getattr(ours.derivations, name), getattr(theirs.derivations, name))


def step_of(gradient):
    """What lowers the loss, for sparse features, in numbers whose sums are exact."""
    table = gradient.table
    table = table.take(np.flatnonzero([":" in name for name in table.names()]))
    return table.with_columns({"step": np.round(-64 * table.columns["softramp"] / table.columns[N_LISTS]) / 64})


def test_no_blocks_without_the_rest_is_a_system_without_templates(made, case):
    none, plain = case.sparse.with_blocks([], rest=False), case.sparse.with_templates(())
    assert none.blocks_record() == {"blocks": {}, "rest": False}
    assert rows_of(none.kbest(case.sentences, K)) == rows_of(plain.kbest(case.sentences, K))


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([("a", "rule_id:x,y"), ("a", "rule_id:x,y")], "duplicate"),
        ([("lm", "rule_id:x,y")], "already has a feature 'lm'"),
        ([("a", "lm")], "dense feature 'lm'"),
        ([("a", "b:x"), ("b", "a")], "covers 'a', which is a block"),
    ],
)
def test_blocks_that_search_cannot_have(made, blocks, message):
    with pytest.raises(InputError, match=message):
        opened(made, "phrase").with_blocks([Block.from_dict(name, {covered: 1.0}) for name, covered in blocks])
