"""Shards of lists on disk: what is written is read, to the bit; damage is an error that names the file."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from importlib import import_module

import numpy as np
import pytest
from tests.kit.small_text import damage

from dragoman.errors import InputError
from dragoman.files.store import seal
from dragoman.forest import Derivations
from dragoman.sources.lists import ALL_DATA, ListShard, map_shard, write_shard
from dragoman.types import offsets_of


def random_shard(seed, n_lines=6, *, n_stats=3):
    rng = np.random.default_rng(seed)
    per_line, listed = rng.integers(0, 5, n_lines), rng.integers(1, 4, n_lines)
    n = int(per_line.sum())
    applied = rng.integers(0, 4, n)
    begins = rng.integers(0, 300, listed.sum()).astype(np.int32)
    return ListShard(
        lines=np.cumsum(rng.integers(1, 90000, n_lines)).astype(np.int32),
        folds=rng.integers(ALL_DATA, 200, n_lines).astype(np.int16),
        source_lengths=rng.integers(0, 90, n_lines).astype(np.int32),
        sentences=offsets_of(per_line),
        derivations=Derivations(
            offsets_of(listed),
            rng.integers(-1, 10 ** rng.integers(1, 12), listed.sum()),
            begins,
            begins + rng.integers(1, 9, len(begins)).astype(np.int32),
            offsets_of(applied),
            rng.integers(0, 1 << rng.integers(1, 20), applied.sum()).astype(np.int32),
        ),
        dense_names=("a", "größe", "c"),
        dense=np.stack([rng.normal(size=n), rng.integers(-3, 3, n), np.where(rng.random(n) < 0.5, -0.0, 0)], 1).astype(
            np.float32
        ),
        stats=np.stack([rng.integers(0, 70, n), rng.normal(size=n), rng.random(n).astype(np.float32)], 1)[:, :n_stats],
        totals=np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    )


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_stats", [0, 3])
def test_what_is_written_is_read_to_the_bit(seed, n_stats, tmp_path):
    shard = random_shard(seed, n_lines=seed, n_stats=n_stats)
    write_shard(tmp_path / "shard", shard)
    found = map_shard(tmp_path / "shard")
    assert found.dense_names == shard.dense_names
    for name in ("lines", "folds", "source_lengths", "sentences", "dense", "stats", "totals"):
        assert same_bits(getattr(found, name), getattr(shard, name)), name
    for field in fields(Derivations):
        assert same_bits(getattr(found.derivations, field.name), getattr(shard.derivations, field.name)), field.name
    assert (found.n_lines, found.n_candidates) == (seed, shard.n_candidates)
    write_shard(tmp_path / "again", found)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "shard").read_bytes()


def test_damage_names_the_file(tmp_path):
    path = tmp_path / "shard"
    write_shard(path, random_shard(1))
    whole = path.read_bytes()
    for _ in damage(path, 40):
        if path.read_bytes() == whole:
            continue
        with pytest.raises(InputError, match=str(path)):
            map_shard(path)
    for content in (b"", whole[:-1], whole + b"\0", whole[:20], b"{}\n", b"[]\n", b"[" * 100_000, b"\xff" * 50):
        path.write_bytes(content)
        with pytest.raises(InputError, match=str(path)):
            map_shard(path)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        map_shard(path)


@pytest.mark.parametrize("name", ["dense", "stats"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_an_error(name, value, tmp_path):
    shard = random_shard(1)
    getattr(shard, name)[2, 1] = value
    write_shard(tmp_path / "shard", shard)
    with pytest.raises(InputError, match="damaged"):
        map_shard(tmp_path / "shard")


@pytest.mark.parametrize("field", ["version", "dense", "n_stats", "n_bytes", "content", "arrays"])
@pytest.mark.parametrize("value", [None, -1, 1 << 70, "x", [[]], {"totals": {"type": [], "at": 0, "size": 0}}])
def test_a_header_that_lies_is_an_error(field, value, tmp_path):
    path = tmp_path / "shard"
    write_shard(path, random_shard(1))
    line, _, body = path.read_bytes().partition(b"\n")
    header = json.loads(line)
    del header["checksum"]
    path.write_bytes(json.dumps(seal({**header, field: value})).encode() + b"\n" + body)
    with pytest.raises(InputError, match=str(path)):
        map_shard(path)


def test_another_version_says_so(tmp_path, monkeypatch):
    storage = "dragoman.sources.lists.storage._FORMAT"
    monkeypatch.setattr(storage, replace(import_module("dragoman.sources.lists.storage")._FORMAT, version=2))
    write_shard(tmp_path / "shard", random_shard(1))
    monkeypatch.undo()
    with pytest.raises(InputError, match="has version 2"):
        map_shard(tmp_path / "shard")


def test_arrays_must_fit_together():
    shard = random_shard(2)
    values = {field.name: getattr(shard, field.name) for field in fields(ListShard)}
    for name, value in {
        "totals": shard.totals[:-1],
        "lines": shard.lines[::-1],
        "folds": shard.folds[1:],
        "dense": shard.dense[:, 1:],
    }.items():
        with pytest.raises(ValueError, match="inconsistent"):
            ListShard(**{**values, name: value})
