"""What travels between processes comes back the same: pools, weights and forests as arrays, systems by reference."""

from __future__ import annotations

import multiprocessing
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit.forests import forests, weight_vectors
from tests.kit.pools import arrays_of, random_pool
from tests.kit.small_text import write_splits

from dragoman.candidates import load_pool, rerank, save_pool
from dragoman.corpus import Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights
from dragoman.lm import EstimateConfig
from dragoman.system import KINDS, System, SystemSettings, TrainConfig, train


@pytest.fixture(scope="module")
def elsewhere():
    """A process that shares nothing with this one but the code."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield lambda function, *arguments: pool.submit(function, *arguments).result()


def same(value):
    return value


def kbest_of(forest, weights):
    best = forest.kbest(weights, 20)
    return best.totals.tolist(), best.tokens.tolist(), [forest.vocab.word(i) for i in best.tokens.tolist()]


def choice_of(pool, weights):
    choice = rerank(pool, weights)
    return choice.score(), list(choice.texts())


def translations_of(view, sentences):
    return list(view.translate(sentences)), dict(view.weights.items())


NAMES = st.lists(
    st.text(st.characters(min_codepoint=33, exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"))), unique=True
)


@given(names=NAMES, seed=st.integers(0, 9))
def test_names_keep_their_order(names, seed):
    names = [name for name in names if name]
    weights = Weights.from_dict(dict(zip(names, np.random.default_rng(seed).normal(size=len(names)), strict=True)))
    back = pickle.loads(pickle.dumps(weights))
    assert back.index.names(np.arange(len(names), dtype=np.int32)) == names
    assert back.values.tobytes() == weights.values.tobytes()
    vocab = Vocab.of([" ".join(names)])
    again = pickle.loads(pickle.dumps(vocab))
    assert [again.word(i) for i in range(len(again))] == [vocab.word(i) for i in range(len(vocab))]


def test_many_weights_are_small_and_can_grow_there():
    weights = Weights.from_dict({f"word_pair:w{i}": float(i) for i in range(100_000)})
    data = pickle.dumps(weights)
    assert len(data) < 3_000_000
    back = pickle.loads(data)
    assert list(back.items()) == list(weights.items())
    back["new"] = 1.0
    assert back.index.find("new") == 100_000
    assert weights.index.find("new") == -1


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(forest=forests(), weights=weight_vectors)
def test_forests_have_the_same_kbest_elsewhere(elsewhere, forest, weights):
    expected = kbest_of(forest, weights)
    assert elsewhere(kbest_of, forest, weights) == expected
    assert kbest_of(elsewhere(same, forest), weights) == expected


@pytest.mark.parametrize("bleu", [False, True])
def test_pools_choose_alike_elsewhere(elsewhere, tmp_path, bleu):
    pool = random_pool(1, bleu=bleu)
    weights = Weights.from_dict({f"f{i}": 1.0 - i for i in range(5)}, pool.index)
    save_pool(pool, tmp_path / "pool")
    assert elsewhere(choice_of, pool, weights) == choice_of(pool, weights)
    mapped = load_pool(tmp_path / "pool")
    back = elsewhere(same, mapped)
    assert arrays_of(back) == arrays_of(mapped) == arrays_of(pool)
    assert (back.dense_names(), back.score_names) == (pool.dense_names(), pool.score_names)


def test_tables_are_shared_by_what_is_sent_together():
    pool = random_pool(1)
    weights, again = pickle.loads(pickle.dumps((Weights(pool.index), pool)))
    assert weights.index is again.index


def test_an_index_of_nothing():
    assert len(pickle.loads(pickle.dumps(FeatureIndex()))) == 0


def test_errors_keep_file_and_line():
    error = pickle.loads(pickle.dumps(InputError("wrong", path="x", line=3)))
    assert str(error) == "x, line 3: wrong"


@pytest.fixture(scope="module", params=["phrase", "hiero"])
def system(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    splits = write_splits(folder, 300, 5, 0, seed=1)
    settings = SystemSettings(model=KINDS[request.param].settings(), n_folds=2)
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
    train(folder / "train.de", folder / "train.en", folder / "system", config=config)
    return System.load(folder / "system"), [example.source for example in splits.dev]


@pytest.mark.parametrize("fold", [None, 1])
def test_systems_travel_by_reference(elsewhere, system, fold):
    loaded, sentences = system
    view = loaded.view(fold)
    assert len(pickle.dumps(view)) < 2000
    assert elsewhere(translations_of, view, sentences) == translations_of(view, sentences)


def test_sparse_features_that_were_chosen_travel_too(system):
    chosen = system[0].with_templates(["word_pair"])
    assert pickle.loads(pickle.dumps(chosen)).settings.features == ("word_pair",)


def test_a_system_that_is_gone_or_has_changed_is_refused(system, tmp_path):
    shutil.copytree(system[0].folder, tmp_path / "copy")
    data = pickle.dumps(System.load(tmp_path / "copy"))
    manifest = tmp_path / "copy" / "system.json"
    manifest.write_text(manifest.read_text().replace('"max_targets": 20', '"max_targets": 10'))
    with pytest.raises(InputError, match="has changed since"):
        pickle.loads(data)
    shutil.rmtree(tmp_path / "copy")
    with pytest.raises(InputError, match="is not a system"):
        pickle.loads(data)
