"""Shards of lists on disk: one file each, that appears whole or not at all.

A file is a line of JSON, padding, and the arrays, little-endian and aligned to 8 bytes. The line says where each array
is, names the dense features, and holds the checksums of itself and of the arrays. Matrices are stored by columns. Each
array has the smallest type that holds its values exactly, offsets are stored as lengths: a few dozen bytes a candidate.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.errors import InputError, naming
from dragoman.forest import Derivations
from dragoman.lists.shard import ListShard
from dragoman.store import seal, unseal
from dragoman.text import atomic_output
from dragoman.types import PathLike, offsets_of

__all__ = ["map_shard", "write_shard"]

_FORMAT, _VERSION, _WHAT = "dragoman-lists-shard", 1, "shard of lists"
_ALIGNMENT = 8
_MAX_HEADER_BYTES = 1 << 20
_INTEGERS = ("<u1", "<i1", "<u2", "<i2", "<u4", "<i4", "<i8")
_TYPES = {*_INTEGERS, "<f4", "<f8"}


def write_shard(path: PathLike, shard: ListShard) -> None:
    """Write a shard; the file appears by rename once all of it is on disk."""
    derivations = shard.derivations
    arrays: dict[str, NDArray[Any]] = {
        "lines": shard.lines,
        "folds": shard.folds,
        "source_lengths": shard.source_lengths,
        "candidates": np.diff(shard.sentences),
        "listed": np.diff(derivations.sentences),
        "rules": derivations.rules,
        "begins": derivations.begins,
        "lengths": derivations.ends - derivations.begins,
        "applied": np.diff(derivations.rows),
        "applications": derivations.applications,
        "totals": shard.totals,
        **{f"dense-{i}": shard.dense[:, i] for i in range(shard.dense.shape[1])},
        **{f"stats-{i}": shard.stats[:, i] for i in range(shard.stats.shape[1])},
    }
    table: dict[str, dict[str, Any]] = {}
    body = bytearray()
    for name, array in arrays.items():
        small = _smallest(array)
        table[name] = {"type": small.dtype.str.replace("|", "<"), "at": len(body), "size": len(small)}
        body += small.tobytes()
        body += bytes(-len(body) % _ALIGNMENT)
    record = {
        "format": _FORMAT,
        "version": _VERSION,
        "dense": list(shard.dense_names),
        "n_stats": shard.stats.shape[1],
        "n_bytes": len(body),
        "content": _checksum(np.frombuffer(body, np.uint8)),
        "arrays": table,
    }
    header = json.dumps(seal(record), ensure_ascii=False).encode()
    n_header = -(-(len(header) + 1) // _ALIGNMENT) * _ALIGNMENT
    with atomic_output(path) as stream:
        stream.write(header.ljust(n_header - 1) + b"\n")
        stream.write(body)


def map_shard(path: PathLike) -> ListShard:
    """Read a shard. Raises InputError, with the file's name, when it is damaged."""
    path = Path(path)
    with naming(path):
        header, body = _read(path)
        try:
            return _shard(header, body)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(f"its arrays do not fit together; the {_WHAT} is damaged") from error


def _shard(header: dict[str, Any], body: NDArray[np.uint8]) -> ListShard:
    def array(name: str, dtype: type[np.generic]) -> NDArray[Any]:
        return _view(body, header["arrays"][name]).astype(dtype)

    def matrix(name: str, n_columns: int, dtype: type[np.generic]) -> NDArray[Any]:
        columns = [array(f"{name}-{i}", dtype) for i in range(n_columns)]
        return np.stack(columns, axis=1) if columns else np.zeros((len(totals), 0), dtype)

    totals = array("totals", np.float64)
    begins = array("begins", np.int32)
    derivations = Derivations(
        offsets_of(array("listed", np.int64)),
        array("rules", np.int64),
        begins,
        begins + array("lengths", np.int32),
        offsets_of(array("applied", np.int64)),
        array("applications", np.int32),
    )
    n_listed, n_applied = int(derivations.sentences[-1]), int(derivations.rows[-1])
    if not len(derivations.rules) == len(begins) == n_listed or len(derivations.applications) != n_applied:
        raise ValueError("derivations")
    dense, stats = matrix("dense", len(header["dense"]), np.float32), matrix("stats", header["n_stats"], np.float64)
    if not (np.isfinite(dense).all() and np.isfinite(stats).all()):
        raise ValueError("numbers that are not finite")
    return ListShard(
        lines=array("lines", np.int32),
        folds=array("folds", np.int16),
        source_lengths=array("source_lengths", np.int32),
        sentences=offsets_of(array("candidates", np.int64)),
        derivations=derivations,
        dense_names=tuple(header["dense"]),
        dense=dense,
        stats=stats,
        totals=totals,
    )


def _read(path: Path) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """The header and the arrays' bytes, both compared with their checksums."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(_MAX_HEADER_BYTES)
            n_file = stream.seek(0, 2)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from error
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not a {_WHAT}, or its beginning is damaged") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise InputError(f"is not a {_WHAT}")
    header = unseal(header, _WHAT)
    if header.get("version") != _VERSION:
        raise InputError(f"has version {header.get('version')}; this dragoman reads {_VERSION}: make the lists again")
    n_bytes, n_stats, names = header.get("n_bytes"), header.get("n_stats"), header.get("dense")
    if not (
        type(n_bytes) is type(n_stats) is int
        and n_stats >= 0
        and isinstance(names, list)
        and all(type(name) is str for name in names)
    ):
        raise InputError(f"has a header with other fields than expected; the {_WHAT} is damaged")
    if n_file != len(line) + n_bytes:
        raise InputError(f"has {n_file} bytes, {len(line) + n_bytes} were expected; the {_WHAT} is damaged")
    data = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)[len(line) :]
    if _checksum(data) != header.get("content"):
        raise InputError(f"does not match its checksum; the {_WHAT} is damaged")
    return header, data


def _view(body: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[Any]:
    if entry["type"] not in _TYPES:
        raise ValueError(entry["type"])
    dtype = np.dtype(entry["type"])
    begin, n_bytes = int(entry["at"]), int(entry["size"]) * dtype.itemsize
    if begin < 0 or n_bytes < 0 or begin + n_bytes > len(body) or begin % _ALIGNMENT:
        raise ValueError("an array is not inside the file")
    return body[begin : begin + n_bytes].view(dtype)


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    """The values in the smallest type that holds them exactly, to the bit."""
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        if not _same(whole.astype(array.dtype), array):
            single = array.astype("<f4")
            return single if _same(single.astype(array.dtype), array) else np.ascontiguousarray(array, "<f8")
        array = whole
    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    chosen = next(t for t in _INTEGERS if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
    return array.astype(chosen)


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether all bits are equal: not -0 and 0."""
    return a.tobytes() == np.ascontiguousarray(b).tobytes()


def _checksum(data: NDArray[np.uint8]) -> str:
    return f"{_core.checksum(data):016x}"
