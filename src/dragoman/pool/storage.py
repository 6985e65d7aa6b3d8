"""Pools on disk: one file per shard, mapped when loaded, so that a pool may be larger than memory.

A folder holds `features` and `words` (one a line, the line number is the id), `pool.json`, and `shard-00000`,
... A shard file is a line of JSON that says where each array is, padding, and the arrays, little-endian and
aligned to 64 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.corpus import Vocab
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex, load_index, save_index
from dragoman.pool.merge import aligned, merged_shards
from dragoman.pool.pool import Pool, new_words
from dragoman.pool.readers import NbestFormat, read_in_parts
from dragoman.pool.shard import Shard
from dragoman.text import atomic_output, replace_bytes
from dragoman.types import PathLike

__all__ = ["SHARD_CANDIDATES", "load_pool", "merge_to_disk", "read_to_disk", "save_pool"]

SHARD_CANDIDATES = 1 << 18
"""Candidates in a shard on disk, about; one shard at a time is held in memory."""

_FORMAT = "dragoman-pool"
_VERSION = 1
_ALIGNMENT = 64
_MAX_HEADER_BYTES = 1 << 16
_ARRAYS = {
    "sentence_ids": ("<i4", 1),
    "sentences": ("<i8", 1),
    "feature_rows": ("<i8", 1),
    "feature_ids": ("<i4", 1),
    "feature_values": ("<f4", 1),
    "token_rows": ("<i8", 1),
    "tokens": ("<i4", 1),
    "rounds": ("<i4", 1),
    "source_lengths": ("<i4", 1),
    "totals": ("<f8", 1),
    "scores": ("<f8", 2),
    "stats": ("<f8", 2),
}


def save_pool(pool: Pool, folder: PathLike, *, shards: Iterable[Shard] | None = None) -> Pool:
    """Write a pool and load it again, mapped. The metric itself is not stored; its statistics are.

    `shards` may come one at a time instead of the pool's own, for pools larger than memory.
    """
    return _save(pool, pool.shards if shards is None else shards, Path(folder))


def load_pool(folder: PathLike) -> Pool:
    """A pool whose arrays are mapped from the files. Headers and sizes are checked, contents when they are used."""
    base = Path(folder)
    manifest = _read_manifest(base)
    index = load_index(base / "features")
    words = Vocab.load(base / "words").table
    counts = (len(index), len(words))
    if counts != (manifest["n_features"], manifest["n_words"]):
        raise MismatchError(
            f"features and words ({counts[0]}, {counts[1]}) are not those of pool.json; the folder is damaged",
            path=base,
        )
    shards = tuple(_map_shard(base / f"shard-{i:05}") for i in range(manifest["n_shards"]))
    n_candidates = sum(shard.n_candidates for shard in shards)
    if n_candidates != manifest["n_candidates"]:
        raise MismatchError(
            f"the shards have {n_candidates} candidates, pool.json says {manifest['n_candidates']}", path=base
        )
    return Pool(
        index=index,
        words=words,
        shards=shards,
        dense=frozenset(manifest["dense"]),
        score_names=tuple(manifest["score_names"]),
    )


def merge_to_disk(
    pools: Sequence[Pool], folder: PathLike, *, n_candidates: int = SHARD_CANDIDATES, n_threads: int = 1
) -> Pool:
    """Merge pools, each perhaps larger than memory, into a new one on disk; repeated candidates once."""
    same = aligned(pools)
    return _save(same[0], merged_shards(same, n_candidates=n_candidates, n_threads=n_threads), Path(folder))


def read_to_disk(
    paths: Sequence[PathLike],
    folder: PathLike,
    *,
    format_: NbestFormat | None = None,
    n_candidates: int = SHARD_CANDIDATES,
    n_threads: int = 1,
) -> Pool:
    """Read candidate lists larger than memory: parts are written, then merged by sentence, then removed."""
    base = Path(folder)
    index, words = FeatureIndex(), new_words()
    parts: list[Pool] = []
    files: list[Path] = []
    base.mkdir(parents=True, exist_ok=True)
    try:
        for number, path in enumerate(paths):
            for part in read_in_parts(
                path, format_=format_, round_number=number, index=index, words=words, n_candidates=n_candidates
            ):
                files.append(base / f"part-{len(files):05}")
                _write_shard(part.shards[0], files[-1])
                parts.append(replace(part, shards=(_map_shard(files[-1]),)))
        return merge_to_disk(parts, base, n_candidates=n_candidates, n_threads=n_threads)
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def _save(pool: Pool, shards: Iterable[Shard], base: Path) -> Pool:
    base.mkdir(parents=True, exist_ok=True)
    (base / "pool.json").unlink(missing_ok=True)
    n_shards = n_candidates = 0
    for shard in shards:
        _write_shard(shard, base / f"shard-{n_shards:05}")
        n_shards += 1
        n_candidates += shard.n_candidates
    save_index(pool.index, base / "features")
    pool.vocab().save(base / "words")
    manifest = {
        "format": _FORMAT,
        "version": _VERSION,
        "n_shards": n_shards,
        "n_candidates": n_candidates,
        "n_features": len(pool.index),
        "n_words": len(pool.words),
        "dense": sorted(pool.dense),
        "score_names": list(pool.score_names),
    }
    replace_bytes(base / "pool.json", json.dumps(manifest, indent=1).encode() + b"\n")
    return replace(load_pool(base), index=pool.index, words=pool.words, metric=pool.metric)


def _write_shard(shard: Shard, path: Path) -> None:
    arrays = {field.name: getattr(shard, field.name) for field in fields(Shard)}
    table: dict[str, dict[str, Any]] = {}
    at = 0
    for name, array in arrays.items():
        table[name] = {"at": at, "shape": list(array.shape)}
        at += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    header = json.dumps({"format": _FORMAT, "version": _VERSION, "n_bytes": at, "arrays": table}).encode()
    n_header = -(-(len(header) + 1) // _ALIGNMENT) * _ALIGNMENT
    with atomic_output(path) as stream:
        stream.write(header.ljust(n_header - 1) + b"\n")
        for name, array in arrays.items():
            data = np.ascontiguousarray(array, dtype=_ARRAYS[name][0])
            stream.write(data.data.cast("B") if data.nbytes else b"")
            stream.write(b"\0" * (-data.nbytes % _ALIGNMENT))


def _map_shard(path: Path) -> Shard:
    try:
        with path.open("rb") as stream:
            header = stream.readline(_MAX_HEADER_BYTES)
        n_file = path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error
    damaged = InputError("not a shard of a pool, or damaged; write the pool again", path=path)
    try:
        content = json.loads(header)
        if content["format"] != _FORMAT or content["version"] != _VERSION:
            raise damaged
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=0) if n_file else np.zeros(0, np.uint8)
        if len(header) + content["n_bytes"] != n_file:
            raise InputError(
                f"the file has {n_file} bytes, its header says {len(header) + content['n_bytes']}; it is damaged",
                path=path,
            )
        arrays = {name: _view(data, len(header), name, content["arrays"][name]) for name in _ARRAYS}
        return Shard(**arrays)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise damaged from error


def _view(data: np.ndarray, start: int, name: str, entry: dict[str, Any]) -> np.ndarray:
    dtype, rank = _ARRAYS[name]
    shape = [int(n) for n in entry["shape"]]
    begin = start + int(entry["at"])
    n_bytes = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
    if len(shape) != rank or min(shape) < 0 or begin < start or begin + n_bytes > len(data) or begin % 8:
        raise ValueError(name)
    return data[begin : begin + n_bytes].view(np.ndarray).view(dtype).reshape(shape)


def _read_manifest(base: Path) -> dict[str, Any]:
    path = base / "pool.json"
    try:
        manifest = json.loads(path.read_bytes())
        types = {
            "n_shards": int,
            "n_candidates": int,
            "n_features": int,
            "n_words": int,
            "dense": list,
            "score_names": list,
        }
        good = manifest["format"] == _FORMAT and all(isinstance(manifest[key], t) for key, t in types.items())
        version = manifest["version"]
    except OSError as error:
        raise InputError(f"no pool here: {error.strerror or error}", path=path) from error
    except (ValueError, KeyError, TypeError):
        good, version = False, None
    if not good or version != _VERSION:
        raise InputError("not a pool of this version of dragoman; write the pool again", path=path)
    result: dict[str, Any] = manifest
    return result
