"""Pools on disk."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.pools import random_pool

from dragoman.candidates import (
    load_pool,
    merge_to_disk,
    read_nbest,
    read_pool,
    read_to_disk,
    rerank,
    save_pool,
    with_metric,
    write_nbest,
)
from dragoman.candidates.readers import NbestFormat
from dragoman.candidates.storage import _ARRAYS, _map_shard
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu

FIELDS = list(_ARRAYS)


def same(one, two):
    for a, b in zip(one.in_memory().shards, two.in_memory().shards, strict=True):
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)
    assert one.dense_names() == two.dense_names()
    assert one.score_names == two.score_names


def lists(tmp_path, n=60):
    rng = np.random.default_rng(0)
    paths = []
    for number in range(3):
        lines = []
        for sentence in rng.permutation(np.repeat(np.arange(n), 4)):
            a, b, word = rng.integers(0, 3, 3)
            lines.append(f"{sentence} ||| w{word} x ||| a={a} b={b} s{rng.integers(50)}=1 ||| {a + b}\n")
        paths.append(tmp_path / f"list{number}")
        paths[-1].write_text("".join(lines))
    return paths


def test_save_and_load(tmp_path):
    pool = random_pool(1, bleu=True)
    saved = save_pool(pool, tmp_path / "pool")
    loaded = load_pool(tmp_path / "pool")
    same(pool, saved)
    same(pool, loaded)
    assert not loaded.shards[0].feature_values.flags.writeable
    assert saved.metric == pool.metric


def test_streamed_from_disk_equals_in_memory(tmp_path):
    paths = lists(tmp_path)
    memory = read_pool(paths)
    disk = read_to_disk(paths, tmp_path / "pool", n_candidates=50)
    assert len(disk.shards) > 5
    assert max(shard.n_candidates for shard in disk.shards) <= 50
    assert sorted(path.name for path in (tmp_path / "pool").iterdir() if path.name.startswith("part")) == []
    same(memory, disk)
    same(memory, load_pool(tmp_path / "pool"))
    references = [["w1 x"]] * 60
    weights = Weights.from_dict({"a": 0.3, "b": -0.1, "s7": 2.0})
    choices = [rerank(with_metric(pool, Bleu(), references), weights) for pool in (memory, disk)]
    assert choices[0].score() == choices[1].score()
    assert list(choices[0].texts()) == list(choices[1].texts())


def test_merging_on_disk(tmp_path):
    paths = lists(tmp_path)
    pools = [save_pool(read_nbest(path, round_number=i), tmp_path / f"p{i}") for i, path in enumerate(paths)]
    same(merge_to_disk(pools, tmp_path / "all", n_candidates=100), read_pool(paths))


def test_named_scores_that_come_late(tmp_path):
    lines = [f'{{"id": {i}, "text": "a", "features": {{"f": 1}}, "scores": {{"s{i // 4}": 1}}}}\n' for i in range(12)]
    (tmp_path / "list").write_text("".join(lines))
    pool = read_to_disk([tmp_path / "list"], tmp_path / "pool", n_candidates=4)
    assert pool.score_names == ("s0", "s1", "s2")
    same(pool, read_pool([tmp_path / "list"]))


def test_every_truncation_is_noticed(tmp_path):
    save_pool(random_pool(2, n_sentences=2, n_candidates=3), tmp_path / "pool")
    path = tmp_path / "pool" / "shard-00000"
    data = path.read_bytes()
    for size in [*range(0, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(InputError, match="damaged|bytes"):
            load_pool(tmp_path / "pool")
    path.write_bytes(data + b"\0")
    with pytest.raises(InputError, match="bytes"):
        load_pool(tmp_path / "pool")


@settings(max_examples=60)
@given(
    key=st.sampled_from(["at", "shape", "n_bytes"]),
    array=st.sampled_from(FIELDS),
    value=st.integers(-(2**70), 2**70),
)
def test_headers_that_lie(tmp_path_factory, key, array, value):
    folder = tmp_path_factory.getbasetemp() / "lying"
    save_pool(random_pool(2, n_sentences=2, n_candidates=3), folder)
    path = folder / "shard-00000"
    data = path.read_bytes()
    end = data.index(b"\n")
    header = json.loads(data[:end])
    if key in header:
        header[key] = value
    else:
        entry = header["arrays"][array]
        if entry[key] in (value, [value]):
            return
        entry[key] = value if key == "at" else [value, *entry["shape"][1:]]
    changed = json.dumps(header).encode()
    path.write_bytes(changed.ljust(end)[: max(end, len(changed))] + data[end:])
    try:
        shard = _map_shard(path)
    except InputError:
        return
    assert key == "at"  # other bytes of the right size, which cannot be told
    assert shard.n_candidates == 6


@pytest.mark.parametrize("name", ["pool.json", "features", "words", "shard-00000"])
def test_missing_files(tmp_path, name):
    save_pool(random_pool(2), tmp_path / "pool")
    (tmp_path / "pool" / name).unlink()
    with pytest.raises(InputError):
        load_pool(tmp_path / "pool")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "dragoman-pool", "version": 99}'])
def test_other_manifests(tmp_path, text):
    save_pool(random_pool(2), tmp_path / "pool")
    (tmp_path / "pool" / "pool.json").write_text(text)
    with pytest.raises(InputError, match=r"pool.json: .* pool"):
        load_pool(tmp_path / "pool")


def test_files_of_another_pool(tmp_path):
    save_pool(random_pool(2), tmp_path / "pool")
    with (tmp_path / "pool" / "features").open("a") as stream:
        stream.write("extra\n")
    with pytest.raises(InputError, match="features: has 21 bytes, 15 were expected"):
        load_pool(tmp_path / "pool")


def test_a_mapped_pool_can_be_written(tmp_path):
    paths = lists(tmp_path, n=5)
    disk = read_to_disk(paths, tmp_path / "pool", n_candidates=10)
    write_nbest(disk, tmp_path / "out", format_=NbestFormat.CDEC)
    again = read_nbest(tmp_path / "out")
    assert again.n_candidates == disk.n_candidates
