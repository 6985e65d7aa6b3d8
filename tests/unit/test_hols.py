"""The method of held-out line search by itself: directions, blocks, updates, and the step against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from tests.kit.pools import dense_features, pool_of, random_pool

from dragoman.candidates import rerank
from dragoman.errors import InputError
from dragoman.features import HOLS_BEFORE, HOLS_STEP, Block, FeatureTable, Weights
from dragoman.gradients.job import gradient_of
from dragoman.gradients.settings import PassSettings
from dragoman.metric import Bleu, Smoothing, by_name
from dragoman.optim import Hils, Hols, Mert, make_loss, make_optimiser
from dragoman.optim.hols import FROZEN, Last, Scaling, Start, StepBlocks, moved
from dragoman.settings import parse_settings
from dragoman.tuning import TuneConfig

DENSE = ("f0", "f1")
BLEU = Bleu(smoothing=Smoothing.NONE)


N_LISTS, N_CANDIDATES = 24, 15
MERT = Mert(n_starts=4, n_directions=4)


def sparse_pool(half):
    """Half of the lists of a pool: two dense features and six sparse ones of two templates, some in few lists only."""
    whole = random_pool(3, n_sentences=N_LISTS, n_candidates=N_CANDIDATES, n_features=8, bleu=True)
    rng = np.random.default_rng(5)
    names = [*DENSE, *(f"{'rule' if i % 2 else 'pair'}:{i}" for i in range(6))]
    values = dense_features(whole).astype(np.float32)
    lists = np.repeat(np.arange(N_LISTS), N_CANDIDATES)
    for feature in range(2, 8):
        absent = rng.choice(N_LISTS, N_LISTS * feature // 9, replace=False)
        values[np.isin(lists, absent), feature] = 0
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in values]
    first = N_LISTS // 2 * half
    sentences = [
        [(row, 0.0) for row in rows[i * N_CANDIDATES : (i + 1) * N_CANDIDATES]]
        for i in range(first, first + N_LISTS // 2)
    ]
    stats = whole.shards[0].stats[first * N_CANDIDATES :][: len(sentences) * N_CANDIDATES]
    pool = pool_of(sentences, metric=BLEU, stats=stats)
    return replace(pool, dense=frozenset(pool.index.find(name) for name in DENSE))


class Lists:
    """Fixed lists in place of decoding: one pool for gradients, one for searches."""

    dense = DENSE

    def __init__(self, method, *, frozen=(), sparse=None, start=None, mert=MERT):
        self.method, self.frozen, self.mert = method, frozen, mert
        self.for_gradient, self.for_search = sparse_pool(0), sparse_pool(1)
        self.weights = Weights.from_dict({"f0": 1.0, "f1": 0.5} | (start or {}))
        self.sparse_frozen = sparse or ()
        self.searches = []
        self.gradients = []

    def gradient(self, update, weights):
        losses = PassSettings(losses={self.method.loss: {}}).made_losses()
        found = gradient_of(self.for_gradient, losses, weights.values_on(self.for_gradient.index))
        self.gradients.append(found.table)
        return found.table

    def is_frozen(self, table):
        return np.array([name in self.sparse_frozen for name in table.names()], dtype=bool)

    def projected(self, blocks):
        fresh = sparse_pool(1)
        covered = {name for block in blocks for name in block.table.names()}
        rest = [name for name in fresh.index.names(np.arange(len(fresh.index), dtype=np.int32)) if ":" in name]
        left = {name: 0.0 for name in rest if name not in covered}
        return fresh.project([*blocks, *([Block.from_dict("left", left)] if left else [])])

    def search(self, update, weights, blocks):
        pool = self.projected(blocks)
        frozen = (*self.frozen, *({FROZEN} & {block.name for block in blocks}), "left")
        frozen = [name for name in frozen if pool.index.find(name) >= 0]
        result = self.mert.optimise(pool, weights.on(pool.index), seed=7, frozen=frozen)
        self.searches.append((update, weights, list(blocks), result.weights))
        return Weights.from_dict(
            {name: result.weights[name] for name, _ in weights.items()}
            | {block.name: result.weights[block.name] for block in blocks}
        )

    def last(self, weights, blocks):
        return self.search(-1, weights, blocks)


def gain_of(pool, weights):
    return rerank(pool, weights.on(pool.index)).gain()


def column(table, name):
    return dict(zip(table.names(), table.columns[name].tolist(), strict=True))


def test_the_step_is_the_best_of_all_corners():
    """With dense weights frozen, the search is over alpha alone: every interval between two corners is tried."""
    method = Hols(start=Start.SYSTEM, last=Last.HELD_OUT)
    text = Lists(method, frozen=DENSE)
    weights = method.learn_text(text)
    ((_, _, (block,), _),) = text.searches
    pool = text.projected([block])
    x = dense_features(pool)
    base = x[:, [pool.index.find(name) for name in DENSE]] @ [1.0, 0.5]
    slope = x[:, pool.index.find(HOLS_STEP)]
    (shard,) = pool.shards
    lists = [slice(*pair) for pair in zip(shard.sentences[:-1], shard.sentences[1:], strict=True)]
    corners = sorted(
        {
            (base[b] - base[a]) / (slope[a] - slope[b])
            for one in lists
            for a, b in combinations(range(one.start, one.stop), 2)
            if slope[a] != slope[b]
        }
    )
    middles = [corners[0] - 1, *((a + b) / 2 for a, b in pairwise(corners)), corners[-1] + 1]
    scores = []
    for alpha in middles:
        best = [one.start + int(np.argmax(base[one] + alpha * slope[one])) for one in lists]
        scores.append(float(BLEU.score_of(shard.stats[best].sum(axis=0))))
    assert len(middles) > 500
    assert gain_of(text.for_search, weights) == pytest.approx(max(scores), abs=1e-12)
    assert scores.count(max(scores)) < len(scores) / 10  # not so for most other steps
    assert max(scores) > gain_of(text.for_search, text.weights)
    alpha = weights["rule:1"] / column(block.table, HOLS_STEP)["rule:1"]
    assert corners[0] < alpha < corners[-1]


def test_an_update_is_mert_with_the_direction_as_one_more_column():
    method = Hols(start=Start.SYSTEM, last=Last.HELD_OUT)
    mert = Mert(n_starts=1, n_directions=0)  # nothing drawn at random, which would depend on the number of features
    text = Lists(method, mert=mert)
    found = method.learn_text(text)
    g, n_lists = (column(text.gradients[0], name) for name in (method.loss, "n_lists"))
    step = {name: -g[name] / n_lists[name] for name in g if name not in DENSE}
    pool = sparse_pool(1)
    names = pool.index.names(np.arange(len(pool.index), dtype=np.int32))
    x = dense_features(pool)
    f2 = (x @ [step.get(name, 0.0) for name in names]).astype(np.float32)
    (shard,) = pool.shards
    rows = [
        {"f0": float(x[c, names.index("f0")]), "f1": float(x[c, names.index("f1")]), "f2": float(f2[c])}
        for c in range(len(x))
    ]
    lists = [[(row, 0.0) for row in rows[i : i + N_CANDIDATES]] for i in range(0, len(rows), N_CANDIDATES)]
    by_hand = pool_of(lists, metric=BLEU, stats=shard.stats)
    start = Weights.from_dict({"f0": 1.0, "f1": 0.5}, by_hand.index)
    wanted = mert.optimise(by_hand, start, seed=7).weights
    assert wanted["f2"] != 0
    assert {name: found[name] for name in DENSE} == pytest.approx({name: wanted[name] for name in DENSE}, rel=1e-5)
    assert {name: found[name] for name in step} == pytest.approx(
        {name: wanted["f2"] * value for name, value in step.items()}, rel=1e-5
    )


def test_the_weights_before_are_scaled_and_not_forgotten():
    blocks = [
        Block.from_dict(HOLS_BEFORE, {"a:1": 4.0, "a:2": 1.0}),
        Block.from_dict(HOLS_STEP, {"a:1": 1.0, "b:1": 3.0}),
    ]
    found = Weights.from_dict({"lm": 0.25, HOLS_BEFORE: 0.5, HOLS_STEP: 2.0})
    assert dict(moved(found, blocks).items()) == {"lm": 0.25, "a:1": 4.0, "a:2": 0.5, "b:1": 6.0}
    assert dict(moved(Weights.from_dict({"lm": 2.0}), []).items()) == {"lm": 2.0}


@pytest.mark.parametrize("last", [Last.HELD_OUT, Last.DEV])
def test_two_updates_go_on_from_the_first(last):
    method = Hols(updates=2, start=Start.SYSTEM, last=last)
    text = Lists(method)
    weights = method.learn_text(text)
    searches = [(start, blocks, found) for _, start, blocks, found in text.searches]
    assert len(searches) == (2 if last is Last.HELD_OUT else 3)
    (_, (first,), one), (start, (before, second), two), *more = searches
    assert first.name == second.name == HOLS_STEP
    assert before.name == HOLS_BEFORE
    assert (start[HOLS_BEFORE], start[HOLS_STEP]) == (1.0, 0.0)
    alpha = one[HOLS_STEP]
    assert alpha != 0
    assert column(before.table, "weight") == pytest.approx(
        {k: alpha * v for k, v in column(first.table, HOLS_STEP).items()}
    )
    if more:  # the last search is over the same blocks, from where the second ended
        ((start, blocks, last_found),) = more
        assert [block.name for block in blocks] == [HOLS_BEFORE, HOLS_STEP]
        assert start[HOLS_BEFORE] == two[HOLS_BEFORE]
        two = last_found
    wanted = {
        name: two[HOLS_BEFORE] * column(before.table, "weight").get(name, 0.0)
        + two[HOLS_STEP] * column(second.table, HOLS_STEP).get(name, 0.0)
        for name in {*before.table.names(), *second.table.names()}
    }
    assert two[HOLS_BEFORE] not in (0.0, 1.0)
    assert {name: weights[name] for name in wanted} == pytest.approx(wanted)
    assert gain_of(text.for_search, weights) == pytest.approx(rerank(text.projected([before, second]), two).gain())


def table_of(rows, loss="softramp"):
    """A gradient from names to (component, lists)."""
    index = Weights.from_dict(dict.fromkeys(rows, 1.0)).index
    ids = np.arange(len(index), dtype=np.int32)
    g, n = zip(*rows.values(), strict=True)
    return FeatureTable.from_ids(index, ids, {loss: np.array(g), "n_lists": np.array(n, dtype=np.int64)})


ROWS = {
    "f0": (9.0, 5),
    "rule:a": (6.0, 3),
    "rule:b": (-8.0, 1),
    "rule:c": (0.0, 7),
    "rule:d": (30.0, 30),
    "pair:x": (4.0, 2),
    "pair:y": (-62.0, 31),
}


@pytest.mark.parametrize(
    ("settings", "divisors"),
    [
        ({}, {"rule:a": 3, "rule:b": 1, "rule:d": 30, "pair:x": 2, "pair:y": 31}),
        ({"conditioning": Scaling.NONE}, {"rule:a": 1, "rule:b": 1, "rule:d": 1, "pair:x": 1, "pair:y": 1}),
        (
            {"conditioning": Scaling.SHRINKAGE, "shrinkage": 10.0},
            {"rule:a": 13, "rule:b": 11, "rule:d": 40, "pair:x": 12, "pair:y": 41},
        ),
    ],
)
def test_conditioning_divides_by_the_lists_that_have_the_feature(settings, divisors):
    method = Hols(**settings)
    direction = method.direction(Lists(method), table_of(ROWS))
    assert column(direction, HOLS_STEP) == {name: -ROWS[name][0] / n for name, n in divisors.items()}
    frozen = method.direction(Lists(method, sparse=("rule:b", "pair:x")), table_of(ROWS))
    assert column(frozen, HOLS_STEP).keys() == divisors.keys() - {"rule:b", "pair:x"}


@pytest.mark.parametrize("conditioning", list(Scaling))
def test_a_component_of_rounding_errors_is_0(conditioning):
    method = Hols(conditioning=conditioning)
    rows = {"f0": (1.0, 2), "rule:a": (9e-11, 100), "rule:b": (9e-11, 2), "rule:c": (-5e-13, 1), "rule:d": (1e-3, 9000)}
    assert column(method.direction(Lists(method), table_of(rows)), HOLS_STEP).keys() == {"rule:b", "rule:d"}


@pytest.mark.parametrize(
    ("blocks", "wanted"),
    [
        (StepBlocks.ONE, {HOLS_STEP: {"rule:a", "rule:b", "rule:d", "pair:x", "pair:y"}}),
        (
            StepBlocks.BANDS,
            {
                f"{HOLS_STEP}_to_2_lists": {"rule:b", "pair:x"},
                f"{HOLS_STEP}_to_8_lists": {"rule:a"},
                f"{HOLS_STEP}_to_30_lists": {"rule:d"},
                f"{HOLS_STEP}_rest": {"pair:y"},
            },
        ),
        (
            StepBlocks.TEMPLATES,
            {f"{HOLS_STEP}_rule": {"rule:a", "rule:b", "rule:d"}, f"{HOLS_STEP}_pair": {"pair:x", "pair:y"}},
        ),
    ],
)
def test_blocks_part_the_direction(blocks, wanted):
    method = Hols(blocks=blocks, start=Start.SYSTEM, last=Last.HELD_OUT)
    text = Lists(method)
    text.gradient = lambda update, weights: table_of(ROWS)
    searched = []

    def search(update, weights, blocks):
        searched.extend(blocks)
        return weights

    text.search = search
    method.learn_text(text)
    assert {block.name: set(block.table.names()) for block in searched} == wanted
    direction = column(method.direction(text, table_of(ROWS)), HOLS_STEP)
    parts = [column(block.table, HOLS_STEP) for block in searched]
    assert sum(map(len, parts)) == len(direction)
    assert {name: value for part in parts for name, value in part.items()} == direction


def test_an_empty_band_is_no_block():
    method = Hols(blocks=StepBlocks.BANDS, bands=(50,), start=Start.SYSTEM, last=Last.HELD_OUT)
    text = Lists(method)
    text.gradient = lambda update, weights: table_of(ROWS)
    names = []

    def search(update, weights, blocks):
        names.extend(block.name for block in blocks)
        return weights

    text.search = search
    method.learn_text(text)
    assert names == [f"{HOLS_STEP}_to_50_lists"]


def test_frozen_sparse_weights_are_searched_with_and_stay():
    method = Hols(start=Start.SYSTEM, last=Last.HELD_OUT)
    text = Lists(method, sparse=("rule:1", "pair:2"), start={"rule:1": 3.0, "rule:3": -2.0})
    weights = method.learn_text(text)
    ((_, start, blocks, found),) = text.searches
    assert [block.name for block in blocks] == [HOLS_BEFORE, FROZEN, HOLS_STEP]
    assert start[FROZEN] == found[FROZEN] == 1.0
    assert weights["rule:1"] == 3.0
    assert weights["pair:2"] == 0.0
    assert weights["rule:3"] not in (-2.0, 0.0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"f0": (1.0, 2), "f1": (2.0, 2)}, "no candidate of the gradient lines has a sparse feature"),
        ({"f0": (1.0, 2), "rule:a": (0.0, 2)}, "the gradient of softramp is 0 for every sparse feature"),
        ({"f0": (1.0, 2), "rule:a": (-3e-14, 2)}, "the gradient of softramp is 0 for every sparse feature"),
    ],
)
def test_without_a_direction_there_is_nothing_to_search(rows, message):
    method = Hols()
    with pytest.raises(InputError, match=message):
        method.direction(Lists(method), table_of(rows))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"updates": 3, "passes": 2}, "3 updates are no whole number for each of 2 passes"),
        ({"passes": 0}, "at least one pass"),
        ({"line_search": 0}, "at least one pass, line"),
        ({"gradient_k": 1}, "at least two candidates"),
        ({"training_seed": -1}, "training_seed must be at least 0, not -1"),
        ({"spread": 0}, "must be positive"),
        ({"shrinkage": -1}, "at least 0"),
        ({"updates": 0, "last": "blocks"}, "no blocks to search alone"),
        ({"bands": [8, 2]}, "bands must ascend from 1 or more, not 8, 2"),
        ({"bands": []}, "not none"),
        ({"bands": [4]}, "bands does nothing without blocks=bands"),
        ({"shrinkage": 5}, "shrinkage does nothing without conditioning=shrinkage"),
        ({"conditioning": "lots"}, "expected"),
    ],
)
@pytest.mark.parametrize("name", ["hols", "hils"])
def test_settings_are_checked(name, settings, message):
    with pytest.raises(InputError, match=message):
        make_optimiser(name, settings)


def test_settings_that_are_tables_and_whole_numbers_reach_the_loss():
    chosen = parse_settings(["loss_settings.sentence_bleu.prior=5", "loss_settings.cost_scale=3"])
    method = make_optimiser("hols", chosen)
    assert method.loss_settings == {"sentence_bleu": {"prior": 5}, "cost_scale": 3}
    TuneConfig().check(method)
    loss = make_loss(method.loss, by_name("bleu"), method.loss_settings)
    assert loss != make_loss(method.loss, by_name("bleu"), {"cost_scale": 3})
    with pytest.raises(InputError, match="has no setting 'prio'"):
        TuneConfig().check(replace(method, loss_settings={"sentence_bleu": {"prio": 5}}))


def test_the_steps_that_seeds_share():
    assert Hols().steps() == ("start", "gradient-1", "search-1")
    assert Hols(updates=2, start=Start.SYSTEM).steps() == ("gradient-1", "search-1", "gradient-2", "search-2")
    assert Hils(last=Last.HELD_OUT).steps() == ("start", "gradient-1")
    assert Hols(updates=0).steps() == ("start",)
