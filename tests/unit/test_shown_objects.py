"""What Python shows of an object: one line that says what and how much, never its arrays."""

from __future__ import annotations

import pytest
from tests.kit.small_text import write_splits

import dragoman
from dragoman.features import FeatureTable
from dragoman.system import SystemSettings, TrainConfig

LISTS = "0 ||| a b ||| m= 1 ||| 1\n0 ||| a c ||| m= 2 ||| 2\n2 ||| d ||| m= 3 ||| 3\n"


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("system")
    write_splits(folder, 60, 6, 0, seed=3)
    config = TrainConfig(settings=SystemSettings(n_folds=2))
    return dragoman.train(folder / "train.de", folder / "train.en", folder / "phrase", config=config)


@pytest.fixture
def pool(tmp_path):
    (tmp_path / "lists").write_text(LISTS)
    return dragoman.read_pool(tmp_path / "lists")


def test_pools(pool):
    assert repr(pool) == "Pool(2 sentences, 3 candidates, 1 features)"
    measured = dragoman.with_metric(pool, dragoman.Bleu(), [["a b"], ["x"], ["d"]], allow_missing=True)
    assert repr(measured) == "Pool(2 sentences, 3 candidates, 1 features, metric bleu)"
    assert repr(pool.shards[0]) == "Shard(2 sentences, 3 candidates)"
    choice = dragoman.rerank(pool, dragoman.Weights({"m": 1.0}))
    assert repr(choice) == "Choice(2 of 2 sentences)"
    assert len(pool) == len(pool.shards[0]) == len(choice) == 2


def test_systems(system):
    assert repr(system) == f"System({str(system.folder)!r}, phrase, {len(system.weights.ids())} weights)"
    assert repr(system.view(1)).endswith(f"phrase, without fold 1, {len(system.weights.ids())} weights)")


def test_every_object_is_one_short_line(system, pool):
    sentence = "das haus"
    shown = [system.grammar, system.lm(), system.training.source.__self__, system.decode(sentence), system.weights]
    shown += [system.grammar.source_vocab, FeatureTable.from_weights(system.weights), system.view(0), pool]
    for each in shown:
        assert "\n" not in repr(each)
        assert len(repr(each)) < 200
    assert repr(FeatureTable.from_weights(system.weights)).endswith("features, columns weight)")
    assert repr(system.lm()).startswith("LanguageModel(order ")


def test_a_bitext(tmp_path):
    write_splits(tmp_path, 20, 5, 0, seed=3)
    bitext = dragoman.Bitext.build(tmp_path / "train.de", tmp_path / "train.en", tmp_path / "b", n_folds=4)
    assert repr(bitext) == "Bitext(20 pairs, 4 folds)"
    assert repr(bitext.source) == f"Side(20 lines, {len(bitext.source.vocab)} words)"


def test_weights_of_names():
    weights = dragoman.Weights({"lm": 1.0, "words": -0.5})
    assert dict(weights.items()) == {"lm": 1.0, "words": -0.5}
    assert weights["lm"] == 1
    assert weights["other"] == 0
    assert dict(dragoman.Weights({}).items()) == {}
    assert repr(weights) == "Weights(2 of 2 features)"
