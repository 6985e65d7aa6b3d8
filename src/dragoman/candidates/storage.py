"""Pools on disk: one file per shard, mapped when loaded, so that a pool may be larger than memory.

A folder has `features` and `words` (one per line, the line number is the id), `shard-00000`, ..., and `pool.json` with
their checksums. A shard file is a line of JSON with the offset of each array, padding, and the arrays, little-endian
and aligned to 64 bytes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.candidates.lazy import LazyShards
from dragoman.candidates.merge import aligned, merged_shards
from dragoman.candidates.missing import missing_means, with_means
from dragoman.candidates.pool import Pool, new_words
from dragoman.candidates.readers import NbestFormat, read_in_parts
from dragoman.candidates.shard import Shard
from dragoman.corpus import Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, load_index, save_index
from dragoman.files.store import Format, make_folder
from dragoman.settings import takes_text
from dragoman.text import atomic_output
from dragoman.types import PathLike, Paths, one_or_many

__all__ = ["SHARD_CANDIDATES", "load_pool", "merge_to_disk", "read_to_disk", "save_pool", "spooled"]

SHARD_CANDIDATES = 1 << 18
"""Approximate number of candidates in a shard on disk; one shard at a time is in memory."""

_FORMAT = Format("dragoman-pool", 2, "pool", "pool.json")
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
    """Write a pool and load it memory-mapped. The metric itself is not stored, only its statistics.

    `shards` may come one at a time instead of the pool's own, for pools larger than memory.
    """
    return _save(pool, pool.shards if shards is None else shards, Path(folder))


def load_pool(folder: PathLike) -> Pool:
    """A pool with memory-mapped arrays, after verifying the checksums of all files."""
    manifest = _FORMAT.read(folder)
    dense, score_names = (manifest.content.get(name) for name in ("dense", "score_names"))
    if not isinstance(dense, list) or not isinstance(score_names, list):
        raise manifest.damaged("does not name its features and scores")
    (n_shards,) = manifest.counts("n_shards")
    return Pool(
        index=load_index(manifest.check("features")),
        words=Vocab.load(manifest.check("words")).table,
        shards=tuple(_map_shard(manifest.check(_shard_name(i))) for i in range(n_shards)),
        dense=frozenset(dense),
        score_names=tuple(score_names),
    )


def merge_to_disk(
    pools: Sequence[Pool], folder: PathLike, *, n_candidates: int = SHARD_CANDIDATES, n_threads: int = 1
) -> Pool:
    """Merge pools, possibly larger than memory, into a new one on disk without duplicate candidates."""
    same = aligned(pools)
    return _save(same[0], merged_shards(same, n_candidates=n_candidates, n_threads=n_threads), Path(folder))


@takes_text
def read_to_disk(
    paths: Paths,
    folder: PathLike,
    *,
    format_: NbestFormat | None = None,
    n_candidates: int = SHARD_CANDIDATES,
    n_threads: int = 1,
) -> Pool:
    """Read n-best lists larger than memory: parts are written, merged by sentence, and removed.

    A feature that is null in JSON Lines gets the mean of its list, as in memory.
    """
    paths = one_or_many(paths)
    base = Path(folder)
    index, words = FeatureIndex(), new_words()
    parts: list[Pool] = []
    files: list[Path] = []
    make_folder(base)
    try:
        for number, path in enumerate(paths):
            begin = len(parts)
            for part in read_in_parts(
                path, format_=format_, round_number=number, index=index, words=words, n_candidates=n_candidates
            ):
                files.append(base / f"part-{len(files):05}")
                _write_shard(part.shards[0], files[-1])
                parts.append(replace(part, shards=(_map_shard(files[-1]),)))
            parts[begin:] = _filled(parts[begin:], files[begin:])
        return merge_to_disk(parts, base, n_candidates=n_candidates, n_threads=n_threads)
    finally:
        for file in files:
            file.unlink(missing_ok=True)


def _filled(parts: Sequence[Pool], files: Sequence[Path]) -> list[Pool]:
    """The parts of a list with means where features are missing, written again one at a time."""
    means = missing_means(parts[0].index, (part.shards[0] for part in parts)) if parts else {}
    if not means:
        return list(parts)
    for part, file in zip(parts, files, strict=True):
        _write_shard(with_means(part.shards[0], means), file)
    return [replace(part, shards=(_map_shard(file),)) for part, file in zip(parts, files, strict=True)]


def spooled(shards: Sequence[Shard]) -> Sequence[Shard]:
    """Shards that can be had all at once: lazy ones are made and mapped from scratch files, which nobody else sees."""
    if not isinstance(shards, LazyShards):
        return shards
    with tempfile.TemporaryDirectory(prefix="dragoman-pool-") as scratch:
        paths = [Path(scratch) / _shard_name(number) for number in range(len(shards))]
        for path, shard in zip(paths, shards, strict=True):
            _write_shard(shard, path)
        # What is mapped stays until it is unmapped, although the files are gone.
        return tuple(_map_shard(path) for path in paths)


def _save(pool: Pool, shards: Iterable[Shard], base: Path) -> Pool:
    make_folder(base)
    (base / _FORMAT.manifest).unlink(missing_ok=True)
    paths: list[Path] = []
    for shard in shards:
        paths.append(base / _shard_name(len(paths)))
        _write_shard(shard, paths[-1])
    save_index(pool.index, base / "features")
    pool.vocab().save(base / "words")
    saved = replace(pool, shards=tuple(_map_shard(path) for path in paths))
    content = {
        "n_shards": len(paths),
        "n_candidates": saved.n_candidates,
        "n_features": len(pool.index),
        "n_words": len(pool.words),
        "dense": sorted(pool.dense),
        "score_names": list(pool.score_names),
    }
    _FORMAT.write(base, ["features", "words", *(path.name for path in paths)], content)
    return saved


def _shard_name(number: int) -> str:
    return f"shard-{number:05}"


def _write_shard(shard: Shard, path: Path) -> None:
    arrays = {name: getattr(shard, name) for name in _ARRAYS}
    table: dict[str, dict[str, Any]] = {}
    at = 0
    for name, array in arrays.items():
        table[name] = {"at": at, "shape": list(array.shape)}
        at += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    header = json.dumps({"n_bytes": at, "arrays": table}).encode()
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
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=0) if n_file else np.zeros(0, np.uint8)
        if len(header) + content["n_bytes"] != n_file:
            raise InputError(
                f"the file has {n_file} bytes, its header says {len(header) + content['n_bytes']}; it is damaged",
                path=path,
            )
        arrays: dict[str, Any] = {name: _view(data, len(header), name, content["arrays"][name]) for name in _ARRAYS}
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
