"""The index gets the features of what a search returns, and of nothing else: against options whose features it has."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.small_systems import all_names, make_systems, names_of, opened, rows_of, sentences_of

from dragoman.features import Weights
from dragoman.forest.arrays import ForestArrays
from dragoman.system import KINDS

K = 20


@pytest.fixture(scope="module", name="made")
def made_systems(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("made"))


def weights_for(names, index):
    """Weights of every third feature, dense and sparse."""
    chosen = sorted(names)[::3]
    return Weights.from_dict({name: float(np.sin(i)) for i, name in enumerate(chosen, 1)}, index)


@pytest.mark.parametrize("kind", KINDS)
def test_lists_are_those_of_an_index_that_has_all_features(made, kind):
    known = all_names(made, kind)
    system, grown = opened(made, kind), opened(made, kind)
    grown.translator.prepare(sentences_of(made))
    found = []
    for one in (system, grown):
        weights = weights_for(known, one.index)
        lists, vocab = one.translator.kbest(sentences_of(made), weights, K)
        found.append((rows_of(lists, one.index), lists.totals.tolist(), lists.tokens.tolist(), vocab.beyond))
    assert found[0] == found[1]
    met = {name for row in found[0][0] for name in row}
    given = {*system.translator.dense(), *sorted(known)[::3]}
    assert set(names_of(system.index)) == met | given
    assert met - given
    assert len(system.index) < len(grown.index)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_names_depends_on_neither_threads_nor_batches(made, kind):
    sentences, found = sentences_of(made), []
    for n_threads, size in ((1, 100), (3, 100), (1, 3), (2, 1)):
        system = opened(made, kind)
        parts = [
            system.kbest(sentences[i : i + size], K, n_threads=n_threads).shards[0]
            for i in range(0, len(sentences), size)
        ]
        found.append((names_of(system.index), np.concatenate([p.feature_ids for p in parts]).tolist()))
    assert found[1:] == found[:1] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_forests_have_the_features_of_an_index_that_has_all(made, kind):
    known = all_names(made, kind)
    system, grown = opened(made, kind), opened(made, kind)
    grown.translator.prepare(sentences_of(made))
    forests = [
        list(one.forests(sentences_of(made), weights_for(known, one.index), n_threads=n_threads))
        for one, n_threads in ((system, 2), (grown, 1))
    ]
    met = set()
    for a, b in zip(*forests, strict=True):
        x, y = ForestArrays.of(a.core), ForestArrays.of(b.core)
        for ids in ("local_ids", "feature_ids"):
            names = [one.index.names(getattr(arrays, ids)) for one, arrays in ((system, x), (grown, y))]
            assert names[0] == names[1]
            met.update(names[0])
        assert (x.local_values == y.local_values).all()
        best = a.kbest(weights_for(known, system.index), 3)
        assert best.totals.tolist() == b.kbest(weights_for(known, grown.index), 3).totals.tolist()
    assert set(names_of(system.index)) == met | {*system.translator.dense(), *sorted(known)[::3]}


@pytest.mark.parametrize("kind", KINDS)
def test_options_follow_an_index_that_grew_after_them(made, kind):
    """Weights of features that were new when the options were built count in the next search."""
    system = opened(made, kind)
    translator, sentences = system.translator, sentences_of(made)
    batch = translator._builder.build(sentences)
    decoder = translator.new_decoder("fast")
    before = len(system.index)
    decoder.kbest(batch, system.weights, K)
    assert len(system.index) > before
    values = system.weights.values_on(system.index)
    values[before:] = np.sin(np.arange(len(values) - before))
    again = decoder.kbest(batch, values, K)
    fresh = decoder.kbest(translator._builder.build(sentences), values, K)
    assert again.totals.tolist() == fresh.totals.tolist()
    assert rows_of(again, system.index) == rows_of(fresh, system.index)


def test_an_index_without_growth_stays_as_it_is(made):
    system = opened(made, "phrase")
    before = len(system.index)
    assert list(system.translate(sentences_of(made)))
    assert len(system.index) == before
