"""Pools of stored lists: features computed from derivations are the decoder's own, and methods learn the same."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.candidates import LazyShards, load_pool, rerank, save_pool
from dragoman.candidates.shard import concatenate
from dragoman.errors import InputError
from dragoman.features import Block, Weights
from dragoman.lm import EstimateConfig
from dragoman.metric import Bleu, SentenceBleu, Ter
from dragoman.optim import Mira, Pro, Rm, SoftRamp
from dragoman.sources.lists import ListShard, StoredLists, map_shard, write_shard
from dragoman.system import (
    FoldDecoder,
    HieroSettings,
    PhraseSettings,
    System,
    SystemSettings,
    TrainConfig,
    reordering_by_name,
    train,
)
from dragoman.work.engine.processes import ProcessEngine

K = 15
N_LINES, SHARD = 60, 25
MODELS = {"phrase": PhraseSettings(reordering=reordering_by_name("hrm")), "hiero": HieroSettings()}
TEMPLATES = {
    "phrase": ("rule_id", "discount", "word_pair(top=100)", "word_context(top=0)", "reorder_local(top=50)"),
    "hiero": ("rule_id", "discount", "rule_shape", "structural_distortion", "word_context(top=0,pairs=20)"),
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_splits(folder, 200, 1, 1, seed=5)
    for side in ("de", "en"):  # words of one line alone
        path = folder / f"train.{side}"
        lines = path.read_text(encoding="utf-8").splitlines()
        write_lines(path, [f"{line} hapax{i}" if i % 4 == 0 else line for i, line in enumerate(lines)])
    return folder


@pytest.fixture(scope="module", params=MODELS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def built(kind, text, tmp_path_factory):
    config = TrainConfig(settings=SystemSettings(model=MODELS[kind], n_folds=3), lm=EstimateConfig(order=3))
    out = tmp_path_factory.mktemp(kind) / "system"
    return train(text / "train.de", text / "train.en", out, config=config, n_threads=2).folder


def pools(system, *, all_data, **how):
    """Measured lists of the first lines, in shards."""
    decoder = FoldDecoder(system, all_data=all_data)
    for begin in range(0, N_LINES, SHARD):
        lines = np.arange(begin, min(N_LINES, begin + SHARD), dtype=np.int64)
        yield decoder.measured(decoder.kbest(lines, system.weights, K, **how), Bleu())


@pytest.fixture(scope="module", params=[False, True], ids=["folds", "all_data"])
def stored(request, built, tmp_path_factory):
    """Lists decoded without templates, and whether by the view of all data."""
    folder = tmp_path_factory.mktemp("lists")
    system = System.load(built)
    paths = []
    for number, pool in enumerate(pools(system, all_data=request.param, derivations=True)):
        shard = pool.shards[0]
        folds = None if request.param else system.training.folds[shard.sentence_ids]
        paths.append(folder / f"shard-{number}")
        write_shard(paths[-1], ListShard.of(pool, shard, folds))
    return paths, request.param


def by_name(index, shard):
    names = index.names(shard.feature_ids)
    rows = shard.feature_rows
    return [dict(zip(names[a:b], shard.feature_values[a:b].tolist(), strict=True)) for a, b in pairwise(rows.tolist())]


def test_lists_are_those_of_a_decoder_with_the_templates(built, kind, stored):
    paths, all_data = stored
    system = System.load(built).with_templates(TEMPLATES[kind])
    pool = StoredLists(system, paths, with_words=True, n_threads=2).pool(Bleu())
    other = System.load(built).with_templates(TEMPLATES[kind])
    assert (pool.n_sentences, set(pool.dense_names())) == (N_LINES, set(system.translator.dense()))
    for shard, direct in zip(pool.shards, pools(other, all_data=all_data), strict=True):
        wanted = direct.shards[0]
        assert by_name(pool.index, shard) == by_name(direct.index, wanted)
        for name in ("sentence_ids", "sentences", "source_lengths", "stats", "totals", "token_rows"):
            assert np.array_equal(getattr(shard, name), getattr(wanted, name)), name
        texts = [[p.text(s, c) for c in range(s.n_candidates)] for p, s in ((pool, shard), (direct, wanted))]
        assert texts[0] == texts[1]
        assert any("hapax" in text for text in texts[0])


def test_a_fold_of_the_training_text_is_held_out(built, kind, stored):
    paths, _ = stored
    system = System.load(built).with_templates(TEMPLATES[kind])
    pool = StoredLists(system, paths, n_threads=2).pool(Bleu())
    made = SoftRamp(held_out_fold=1, max_epochs=1, freeze_dense=True, sentence_bleu=SentenceBleu())
    result = made.optimise(pool, system.weights, seed=1)
    held = np.flatnonzero(system.training.folds[:N_LINES] == 1)
    assert 0 < result.trace[0]["held_out"] <= len(held) < N_LINES
    assert result.trace[0]["held_out_folds"] == "1"
    with pytest.raises(InputError, match="the lists are of folds 0, 1, 2"):
        replace(made, held_out_fold=3).optimise(pool, system.weights, seed=1)


def test_blocks_are_those_of_a_decoder_with_them(built, kind, stored):
    paths, all_data = stored
    plain = StoredLists(System.load(built).with_templates(TEMPLATES[kind]), paths)[0]
    system = System.load(built).with_templates(TEMPLATES[kind])
    StoredLists(system, paths)
    sparse = [name for name in system.index.names(np.arange(len(system.index), dtype=np.int32)) if ":" in name]
    rng = np.random.default_rng(3)
    blocks = [
        Block.from_dict(label, {name: float(rng.normal()) for name in sparse if rng.random() < share})
        for label, share in (("one", 0.5), ("two", 0.2))
    ]
    system = system.with_blocks(blocks)
    pool = StoredLists(system, paths).pool(Bleu())
    assert {"one", "two"} < set(pool.dense_names())
    other = System.load(built).with_templates(TEMPLATES[kind]).with_blocks(blocks)
    for shard, direct in zip(pool.shards, pools(other, all_data=all_data), strict=True):
        assert by_name(pool.index, shard) == by_name(direct.index, direct.shards[0])
    assert len(pool.shards[0].feature_ids) < len(plain.feature_ids)


def test_ids_do_not_depend_on_which_shards_were_looked_at(built, kind, stored):
    def features(order):
        system = System.load(built).with_templates(TEMPLATES[kind])
        shards = StoredLists(system, stored[0])
        made = {i: shards[i] for i in order}
        return len(system.index), [made[i].feature_ids.tolist() for i in range(3)]

    assert features([0, 1, 2]) == features([2, 0, 2, 1])


def test_light_shards_have_everything_but_features_and_words(built, stored):
    shards = StoredLists(System.load(built), stored[0])
    pool = shards.pool(Bleu())
    assert isinstance(pool.shards, LazyShards)
    for whole, light, outline in zip(pool.shards, pool.light_shards(), shards.outlines, strict=True):
        assert len(light.feature_ids) == len(light.tokens) == 0
        assert np.array_equal(light.stats, whole.stats)
        assert np.array_equal(outline.sentences, whole.sentences)
    with pytest.raises(IndexError):
        shards[3]
    assert np.array_equal(shards[-1].totals, shards[2].totals)
    assert [shard.n_candidates for shard in shards[1:]] == [shards[1].n_candidates, shards[2].n_candidates]


@pytest.mark.parametrize("method", [SoftRamp(), Pro(), Mira(n_epochs=2), Rm(n_epochs=2)], ids=lambda m: m.name)
def test_methods_learn_the_same_from_a_pool_in_memory(built, kind, stored, method):
    system = System.load(built).with_templates(TEMPLATES[kind])
    lazy = StoredLists(system, stored[0]).pool(Bleu())
    memory = replace(lazy, shards=tuple(lazy.shards))
    found = [method.optimise(pool, system.weights, seed=1) for pool in (lazy, memory)]
    assert found[0].weights.values.tolist() == found[1].weights.values.tolist()
    assert (found[0].gain_before, found[0].gain_after) == (found[1].gain_before, found[1].gain_after)


def test_pools_derived_from_lazy_ones_are_lazy(built, stored, tmp_path):
    lazy = StoredLists(System.load(built), stored[0], with_words=True).pool(Bleu())
    memory = replace(lazy, shards=tuple(lazy.shards))
    ids = np.array([3, 26, 27, 59])
    some, wanted = lazy.of_sentences(ids), memory.of_sentences(ids)
    assert isinstance(some.shards, LazyShards)
    assert (some.n_sentences, some.n_candidates) == (4, wanted.n_candidates)
    weights = Weights(lazy.index, np.linspace(-1, 1, len(lazy.index)))
    for mine, other in ((some, wanted), (lazy, memory)):
        choices = [rerank(pool, weights) for pool in (mine, other)]
        assert list(choices[0].texts()) == list(choices[1].texts())
        assert choices[0].score() == choices[1].score()
    saved = load_pool(save_pool(lazy, tmp_path / "pool") and tmp_path / "pool")
    assert saved.n_candidates == lazy.n_candidates


def test_pools_of_stored_lists_travel_by_reference(built, kind, stored):
    system = System.load(built).with_templates(TEMPLATES[kind])
    system.index.intern("somebody else's feature")
    StoredLists(system, stored[0])
    block = Block.from_dict(
        "block",
        dict.fromkeys(system.index.names(np.arange(len(system.index) - 9, len(system.index), dtype=np.int32)), 1.0),
    )
    pool = StoredLists(system.with_blocks([block]), stored[0]).pool(Bleu())
    sent = pickle.loads(pickle.dumps(pool))
    assert sent.dense == pool.dense
    assert sent.index.names(np.arange(len(sent.index), dtype=np.int32)) == pool.index.names(
        np.arange(len(pool.index), dtype=np.int32)
    )
    for mine, other in zip(sent.shards, pool.shards, strict=True):
        assert np.array_equal(mine.feature_ids, other.feature_ids)
        assert np.array_equal(mine.feature_values, other.feature_values)


def test_workers_sample_the_pairs_of_this_process(built, kind, stored):
    system = System.load(built).with_templates(TEMPLATES[kind])
    lazy = StoredLists(system, stored[0], with_words=True).pool(Bleu())
    memory, some = replace(lazy, shards=tuple(lazy.shards)), lazy.of_sentences(np.arange(5, 55))
    with ProcessEngine(2) as engine:
        for method, pool in ((Pro(), lazy), (Pro(max_length_deviation=1.0), memory), (Pro(), some)):
            wanted = method.optimise(pool, system.weights, seed=1, round_number=2)
            found = method.optimise(pool, system.weights, seed=1, round_number=2, engine=engine)
            assert found.weights.values.tobytes() == wanted.weights.values.tobytes()
            assert found.trace == wanted.trace
        with pytest.raises(InputError, match="mira does not share"):
            Mira().optimise(lazy, system.weights, seed=1, engine=engine)


def applied(shard):
    """Of every candidate, its rules and spans."""
    d = shard.derivations
    first = np.repeat(d.sentences[:-1], np.diff(shard.sentences))
    rows = [d.applications[a:b] + start for (a, b), start in zip(pairwise(d.rows), first, strict=True)]
    return [list(zip(d.rules[r].tolist(), d.begins[r].tolist(), d.ends[r].tolist(), strict=True)) for r in rows]


def test_derivations_go_with_their_candidates(built):
    first, second, _ = (pool.shards[0] for pool in pools(System.load(built), all_data=True, derivations=True))
    one, two = applied(first), applied(second)
    assert applied(concatenate([second, first])) == one + two
    assert concatenate([first, first]).derivations is None
    begin, end = first.sentences[3], first.sentences[5]
    assert applied(first.part(3, 5)) == one[begin:end]
    assert applied(first.of_sentences(np.array([3, 4]))) == one[begin:end]
    kept = np.arange(0, first.n_candidates, 3)
    assert applied(first.select(kept)) == one[::3]


def test_lists_of_another_system_are_refused(built, kind, stored, text, tmp_path):
    write_lines(tmp_path / "de", ["ein haus", "das haus", "haus"] * 3)
    write_lines(tmp_path / "en", ["a house", "the house", "house"] * 3)
    config = TrainConfig(settings=SystemSettings(model=MODELS[kind], n_folds=3), lm=EstimateConfig(order=2))
    other = train(tmp_path / "de", tmp_path / "en", tmp_path / "system", config=config)
    with pytest.raises(InputError, match=r"shard-0.*another system"):
        StoredLists(other, stored[0])


@pytest.mark.parametrize(("name", "change"), [("folds", -5), ("folds", 1), ("source_lengths", 1)])
def test_lists_that_lie_about_their_lines_are_refused(name, change, built, stored, tmp_path):
    shard, system = map_shard(stored[0][0]), System.load(built)
    values = getattr(shard, name).copy()
    values[2] = (int(system.training.folds[shard.lines[2]]) if name == "folds" else values[2]) + change
    write_shard(tmp_path / "shard", replace(shard, **{name: values}))
    with pytest.raises(InputError, match=r"shard.*other folds or lengths"):
        StoredLists(system, [tmp_path / "shard"])


def test_a_shard_that_changes_meanwhile_is_noticed(built, stored, tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(stored[0][0].read_bytes())
    shards = StoredLists(System.load(built), [path])
    assert shards.light(0).n_sentences == SHARD
    path.write_bytes(stored[0][1].read_bytes())
    for get in (shards.make, shards.light):
        with pytest.raises(InputError, match="has changed since"):
            get(0)
    assert StoredLists(System.load(built), []).pool().n_candidates == 0


def test_statistics_of_another_metric_are_refused(built, stored):
    shards = StoredLists(System.load(built), stored[0])
    with pytest.raises(InputError, match=r"shard-0.* statistics; ter has"):
        shards.pool(Ter())


def test_lengths_of_words_that_are_not_there_are_refused(built, stored):
    system = System.load(built)
    with pytest.raises(InputError, match="no words"):
        Pro(max_length_deviation=1.0).optimise(StoredLists(system, stored[0]).pool(Bleu()), system.weights, seed=1)
    pool = StoredLists(system, stored[0], with_words=True).pool(Bleu())
    assert Pro(max_length_deviation=1.0).optimise(pool, system.weights, seed=1).weights.is_usable()


def test_lists_need_derivations(built):
    system = System.load(built)
    pool = next(pools(system, all_data=True))
    with pytest.raises(InputError, match="no derivations"):
        ListShard.of(pool, pool.shards[0], None)
