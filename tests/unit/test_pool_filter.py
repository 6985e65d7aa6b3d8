"""Parts of pools, where candidates came from, and what pools hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dragoman.candidates import (
    PoolFilter,
    describe_pool,
    filter_pool,
    merge_pools,
    model_totals,
    read_nbest,
    texts_of,
    unite_pools,
    with_external,
    with_metric,
    with_origin,
)
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu

LIST = """0 ||| the house ||| lm= -1 tm= 2 ||| 0
0 ||| the house ||| lm= -1 tm= 3 ||| 0
0 ||| a house ||| lm= -2 tm= 0 ||| 0
2 ||| yes sir yes ||| lm= -4 tm= 1 ||| 0
2 ||| yes ||| lm= -3 tm= 1 ||| 0
3 ||| no ||| lm= -1 tm= 1 ||| 0
"""


@pytest.fixture(name="pool")
def small_pool(tmp_path):
    (tmp_path / "list").write_text(LIST)
    return read_nbest(tmp_path / "list")


def texts(pool):
    return [text for shard in pool.shards for text in texts_of(pool, shard)]


CASES = {
    "distinct": (PoolFilter(distinct_text=True), ["the house", "a house", "yes sir yes", "yes", "no"]),
    "first": (PoolFilter(first=1), ["the house", "yes sir yes", "no"]),
    "first of distinct": (
        PoolFilter(first=2, distinct_text=True),
        ["the house", "a house", "yes sir yes", "yes", "no"],
    ),
    "first of short": (PoolFilter(first=1, max_words=1), ["yes", "no"]),
    "sentences": (PoolFilter(first_sentence=1, last_sentence=2), ["yes sir yes", "yes"]),
    "sample": (PoolFilter(sample=9), ["the house", "the house", "a house", "yes sir yes", "yes", "no"]),
}


@pytest.mark.parametrize("name", CASES)
def test_candidates(pool, name):
    what, expected = CASES[name]
    assert texts(filter_pool(pool, what)) == expected


def test_samples_are_of_each_sentence_and_seeded(pool):
    drawn = [texts(filter_pool(pool, PoolFilter(sample=1, seed=seed))) for seed in range(20)]
    assert all(len(each) == 3 and each[2] == "no" for each in drawn)
    assert {each[0] for each in drawn} == {"the house", "a house"}
    assert drawn[3] == texts(filter_pool(pool, PoolFilter(sample=1, seed=3)))
    alone = filter_pool(pool, PoolFilter(first_sentence=2, last_sentence=2, sample=1, seed=3))
    assert texts(alone) == drawn[3][1:2]


def test_features(pool):
    kept = filter_pool(pool, PoolFilter(), keep=["tm"])
    assert kept.dense_names() == ["tm"]
    assert model_totals(kept, Weights.from_dict({"lm": 1.0, "tm": 1.0}))[0].tolist() == [2, 3, 0, 1, 1, 1]
    assert filter_pool(pool, PoolFilter(), drop=["tm"]).dense_names() == ["lm"]
    for wrong in ({"keep": ["x"]}, {"drop": ["x"]}):
        with pytest.raises(InputError, match="no candidate has a feature 'x'"):
            filter_pool(pool, PoolFilter(), **wrong)
    with pytest.raises(InputError, match="no candidate is left"):
        filter_pool(pool, PoolFilter(first_sentence=9))


def test_origins(pool, tmp_path):
    other = read_nbest(tmp_path / "list")
    both = merge_pools(with_origin([pool, other], ["a", "b"]))
    assert both.n_candidates == 12
    for name in ("from_a", "from_b"):
        assert model_totals(both, Weights.from_dict({name: 1.0}))[0].sum() == 6
    with pytest.raises(InputError, match="different names"):
        with_origin([pool, other], ["a", "a"])


def test_what_a_pool_holds(pool):
    pool = with_metric(pool, Bleu(), [["the house"], ["x"], ["yes"], ["no"]], allow_missing=True)
    found = describe_pool(pool)
    assert (found.n_sentences, found.n_candidates, found.n_distinct_texts) == (3, 6, 5)
    assert (found.shortest_list, found.longest_list) == (1, 3)
    lm, tm = found.features
    assert (lm.name, lm.coverage, lm.low, lm.mean, lm.high) == ("lm", 1, -4, -2, -1)
    assert tm.coverage == pytest.approx(5 / 6)
    (shard,) = pool.shards
    gains = pool.metric.segment_gains(shard.stats)
    values = np.array([-1, -1, -2, -4, -3, -1.0])
    lists = [slice(0, 3), slice(3, 5), slice(5, 6)]
    centred = [np.concatenate([x[own] - x[own].mean() for own in lists]) for x in (values, gains)]
    assert lm.correlation == pytest.approx(np.corrcoef(*centred)[0, 1])
    assert describe_pool(pool, max_features=1).features == (lm,)


def test_scores_that_a_pool_holds(tmp_path):
    """Of those that have them; a correlation is that within lists, as of features."""
    rows = [(0, 0.5, 3.0), (0, 0.25, None), (0, 0.0, 1.0), (1, 1.0, 4.0), (1, 0.5, 2.0)]
    lines = [{"id": s, "text": f"{s}{q}", "features": {"f": 1}, "scores": {"q": q, "r": r}} for s, q, r in rows]
    (tmp_path / "scored").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = describe_pool(with_external(read_nbest(tmp_path / "scored"), "q")).scores
    assert [each.name for each in found] == ["q", "r"]
    assert (found[1].coverage, found[1].low, found[1].mean, found[1].high) == (0.8, 1, 2.5, 4)
    assert found[0].correlation == pytest.approx(1)
    assert found[1].correlation == pytest.approx(np.corrcoef([0.25, -0.25, 0.25, -0.25], [1, -1, 1, -1])[0, 1])


def test_united_lists_stand_features_that_others_lack(tmp_path):
    """Against a table of what each candidate should have, by hand."""
    one = [(0, "a", {"p": -1.0, "q": 2.0}), (0, "b", {"p": -4.0, "q": 0.0}), (1, "c", {"p": -2.0, "q": 1.0})]
    two = [(0, "d", {"q": 3.0, "r": 5.0}), (2, "e", {"q": 1.0, "r": 7.0})]

    def made(rows):
        lines = [json.dumps({"id": id_, "text": text, "features": features}) for id_, text, features in rows]
        path = tmp_path / f"{len(rows)}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return read_nbest(path)

    united = unite_pools({"one": made(one), "two": made(two)})
    found = {}
    for shard in united.shards:
        for c in range(shard.n_candidates):
            row = slice(*shard.feature_rows[c : c + 2])
            names = united.index.names(shard.feature_ids[row])
            found[united.text(shard, c)] = dict(zip(names, shard.feature_values[row].tolist(), strict=True))
    assert found == {
        "a": {"p": -1.0, "q": 2.0, "from_one": 1.0, "r": 5.0},
        "b": {"p": -4.0, "from_one": 1.0, "r": 5.0},
        "c": {"p": -2.0, "q": 1.0, "from_one": 1.0},  # nobody has r in this list
        "d": {"p": -2.5, "q": 3.0, "r": 5.0, "from_two": 1.0},
        "e": {"q": 1.0, "r": 7.0, "from_two": 1.0},
    }
    assert {"p", "q", "r", "from_one", "from_two"} == set(united.dense_names())
