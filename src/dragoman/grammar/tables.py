"""The files of a grammar: arrays, vocabularies and a manifest in a folder that appears whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman._core import GrammarTables, map_grammar
from dragoman.errors import FailedError, InputError
from dragoman.text import replace_bytes
from dragoman.types import PathLike

__all__ = ["ARRAYS", "map_arrays", "map_tables", "naming", "new_folder", "read_manifest", "verify", "write_manifest"]

_FORMAT = "dragoman-grammar"
_VERSION = 2
_VOCABS = ("source.vocab", "target.vocab")
_COUNTS = ("n_folds", "n_pairs", "n_given_reordering")
KINDS = ("phrases", "rules")

ARRAYS: dict[str, type[np.generic]] = {
    "sources.offsets": np.int64,
    "sources.symbols": np.int32,
    "sources.pairs": np.int64,
    "targets.offsets": np.int64,
    "targets.symbols": np.int32,
    "pairs.target": np.int32,
    "pairs.events": np.int64,
    "events": np.uint64,
    "events.mass": np.uint64,
    "source_counts.offsets": np.int64,
    "source_counts.values": np.uint64,
    "target_counts.offsets": np.int64,
    "target_counts.values": np.uint64,
    "alignments.offsets": np.int64,
    "alignments.links": np.uint8,
    "trie.symbols": np.int32,
    "trie.children": np.int64,
    "trie.source": np.int32,
    "word_pairs.rows": np.int64,
    "word_pairs.keys": np.uint64,
    "word_pairs.offsets": np.int64,
    "word_pairs.values": np.uint64,
    "source_words.offsets": np.int64,
    "source_words.values": np.uint64,
    "target_words.offsets": np.int64,
    "target_words.values": np.uint64,
    "given.scores": np.float32,
    "given.reordering": np.float32,
}


@contextlib.contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Input errors inside are about this file."""
    try:
        yield
    except InputError as error:
        raise error.at(path) from None


@contextlib.contextmanager
def new_folder(folder: PathLike) -> Iterator[Path]:
    """A scratch folder that becomes `folder` (which must not exist) when the block ends well."""
    goal = Path(folder)
    if goal.exists():
        raise InputError("exists already; remove it or choose another folder", path=goal)
    try:
        goal.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=goal.parent, prefix=f".{goal.name}.") as scratch:
            work = Path(scratch) / "grammar"
            work.mkdir()
            yield work
            work.rename(goal)
    except OSError as error:
        raise FailedError(f"{goal}: cannot be written: {error.strerror or error}") from error


def write_manifest(work: Path, content: dict[str, Any], *, n_threads: int = 1) -> None:
    """Record the sizes and checksums of all files, and what else the grammar wants to say of itself."""
    names = [*ARRAYS, *_VOCABS]
    with ThreadPoolExecutor(n_threads) as pool:
        sums = list(pool.map(_settle, [work / name for name in names]))
    files = {
        name: {"bytes": (work / name).stat().st_size, "blake2b": checksum}
        for name, checksum in zip(names, sums, strict=True)
    }
    manifest = {"format": _FORMAT, "version": _VERSION, **content, "files": files}
    replace_bytes(work / "manifest.json", json.dumps(manifest, indent=1).encode() + b"\n")


def read_manifest(base: Path) -> dict[str, Any]:
    """The manifest, its own fields checked."""
    path = base / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"is not a grammar: {path.name}: {error.strerror}", path=base) from error
    except ValueError as error:
        raise InputError(f"is not JSON ({error}); the grammar is damaged", path=path) from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise InputError("is not the manifest of a grammar", path=path)
    if manifest.get("version") != _VERSION:
        raise InputError(f"has format version {manifest.get('version')}; this program reads {_VERSION}", path=path)
    files = manifest.get("files")
    if not isinstance(files, dict) or not all(_is_record(files.get(name)) for name in (*ARRAYS, *_VOCABS)):
        raise InputError("lacks the sizes of its files; the grammar is damaged", path=path)
    if not all(isinstance(manifest.get(name), int) and manifest[name] >= 0 for name in _COUNTS):
        raise InputError("lacks its counts; the grammar is damaged", path=path)
    if manifest.get("kind") not in KINDS or not all(
        _is_names(manifest.get(name)) for name in ("labels", "score_names")
    ):
        raise InputError("lacks its kind or the names of labels and scores; the grammar is damaged", path=path)
    least = manifest.get("min_count")
    if manifest["kind"] == "rules" and not (manifest["labels"] and isinstance(least, int) and least >= 1):
        raise InputError("lacks the labels or the least count of its rules; the grammar is damaged", path=path)
    return manifest


def map_tables(base: Path, manifest: dict[str, Any]) -> GrammarTables:
    """The mapped tables; InputError where they do not fit together."""
    given = manifest["score_names"]
    return map_grammar(
        map_arrays(base, manifest),
        n_given_reordering=manifest["n_given_reordering"],
        n_given_scores=-1 if given is None else len(given),
        is_rules=manifest["kind"] == "rules",
    )


def map_arrays(base: Path, manifest: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """All arrays; a file's size is checked before it is mapped."""
    return {name: _map(base / name, manifest["files"][name]["bytes"], dtype) for name, dtype in ARRAYS.items()}


def verify(folder: PathLike) -> None:
    """Compare every file with its checksum; raises InputError at the first that differs."""
    base = Path(folder)
    for name, record in read_manifest(base)["files"].items():
        try:
            found = _checksum(base / name)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=base / name) from error
        if found != record["blake2b"]:
            raise InputError("does not match its checksum; the grammar is damaged", path=base / name)


def _is_names(names: object) -> bool:
    return names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names))


def _is_record(record: object) -> bool:
    return isinstance(record, dict) and isinstance(record.get("bytes"), int) and isinstance(record.get("blake2b"), str)


def _settle(path: Path) -> str:
    """See to it that a file is on disk; returns its checksum."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
    return _checksum(path)


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _map(path: Path, expected: int, dtype: type[np.generic]) -> NDArray[Any]:
    try:
        actual = path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if actual != expected or actual % np.dtype(dtype).itemsize:
        raise InputError(f"has {actual} bytes, {expected} were expected; the grammar is damaged", path=path)
    if actual == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)
