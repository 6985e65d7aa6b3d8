"""Parallel text as id arrays in memory-mapped files."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dragoman._core import assign_folds
from dragoman.corpus.vocab import Vocab, VocabBuilder
from dragoman.errors import FailedError, InputError, MismatchError
from dragoman.text import LineBlock, read_blocks, replace_bytes
from dragoman.types import Int32Array, Int64Array, PathLike, Progress

__all__ = ["MAX_FOLDS", "Bitext", "Side"]

MAX_FOLDS = 255
_FORMAT = "dragoman-bitext"
_VERSION = 1
_SIDES = ("source", "target")


@dataclass(frozen=True, slots=True)
class Side:
    """One language of a bitext. Sentence i is ids[offsets[i]:offsets[i + 1]]."""

    vocab: Vocab
    offsets: Int64Array
    ids: Int32Array

    @classmethod
    def read(cls, path: PathLike, *, progress: Progress | None = None) -> Side:
        """Encode a text file in memory, with a vocabulary of its own."""
        builder = VocabBuilder()
        offsets, ids = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
        n_lines = n_ids = 0
        for block in read_blocks(path):
            try:
                block_offsets, block_ids = builder.encode_block(block)
            except InputError as error:
                raise error.at(path) from error
            offsets.append(block_offsets[1:] + n_ids)
            ids.append(block_ids)
            n_ids += len(block_ids)
            n_lines += len(block_offsets) - 1
            if progress:
                progress(n_lines)
        return cls(builder.freeze(), np.concatenate(offsets), np.concatenate(ids))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Int32Array:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    def lengths(self) -> Int64Array:
        """Words per sentence."""
        return np.diff(self.offsets)

    def text(self, i: int) -> str:
        """Sentence i as words."""
        return self.vocab.decode(self[i])


@dataclass(frozen=True, slots=True)
class Bitext:
    """Sentence pairs with a fold each; identical source sentences share a fold."""

    source: Side
    target: Side
    folds: NDArray[np.uint8]
    n_folds: int

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for i in range(len(self)):
            yield self.source.text(i), self.target.text(i)

    @classmethod
    def build(
        cls,
        source: PathLike,
        target: PathLike,
        folder: PathLike,
        *,
        n_folds: int = 1,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Bitext:
        """Encode two line-aligned files into `folder` (which must not exist) and map it.

        Memory is bounded by the vocabularies. The fold of a pair depends on its source words and the seed alone.
        """
        if not 1 <= n_folds <= MAX_FOLDS:
            raise InputError(f"the number of folds must be from 1 to {MAX_FOLDS}, not {n_folds}")
        goal = Path(folder)
        if goal.exists():
            raise InputError("exists already; remove it or choose another folder", path=goal)
        goal.parent.mkdir(parents=True, exist_ok=True)
        # Everything is made in a folder beside and renamed at the end: a bitext exists whole or not at all.
        with tempfile.TemporaryDirectory(dir=goal.parent, prefix=f".{goal.name}.") as scratch:
            work = Path(scratch) / "bitext"
            work.mkdir()
            try:
                _encode_files(work, source, target, n_folds, seed, progress)
                work.rename(goal)
            except OSError as error:
                raise FailedError(f"{goal}: cannot be written: {error.strerror or error}") from error
        return cls.load(goal)

    @classmethod
    def load(cls, folder: PathLike) -> Bitext:
        """Map a stored bitext. Sizes are checked before anything is mapped; `verify` also checks the content."""
        base = Path(folder)
        manifest = _read_manifest(base)
        n_pairs, n_folds = manifest["n_pairs"], manifest["n_folds"]
        sides = []
        for name in _SIDES:
            offsets = _map(base, manifest, f"{name}.offsets", np.int64)
            ids = _map(base, manifest, f"{name}.ids", np.int32)
            if len(offsets) != n_pairs + 1 or offsets[0] != 0 or offsets[-1] != len(ids):
                raise InputError("offsets and ids do not fit; the bitext is damaged", path=base / f"{name}.offsets")
            if np.any(offsets[1:] < offsets[:-1]):
                raise InputError("offsets decrease; the bitext is damaged", path=base / f"{name}.offsets")
            sides.append(Side(Vocab.load(base / f"{name}.vocab"), offsets, ids))
        folds = _map(base, manifest, "folds", np.uint8)
        if len(folds) != n_pairs:
            raise InputError(
                f"holds {len(folds)} folds for {n_pairs} pairs; the bitext is damaged", path=base / "folds"
            )
        return cls(sides[0], sides[1], folds, n_folds)

    @staticmethod
    def verify(folder: PathLike) -> None:
        """Compare every file with its checksum; raises InputError at the first that differs."""
        base = Path(folder)
        for name, record in _read_manifest(base)["files"].items():
            if _checksum(base / name) != record["blake2b"]:
                raise InputError("does not match its checksum; the bitext is damaged", path=base / name)


def _encode_files(
    work: Path, source: PathLike, target: PathLike, n_folds: int, seed: int, progress: Progress | None
) -> None:
    counts = {}
    for name, path in zip(_SIDES, (source, target), strict=True):
        with (work / f"{name}.offsets").open("wb") as offsets, (work / f"{name}.ids").open("wb") as ids:
            on_block = _fold_writer(work / "folds", n_folds, seed) if name == "source" else None
            counts[name] = _encode_side(path, offsets, ids, work / f"{name}.vocab", on_block, progress)
    if counts["source"] != counts["target"]:
        raise MismatchError(
            f"line-aligned files must have equally many lines, but {os.fspath(source)} has {counts['source']}, "
            f"{os.fspath(target)} has {counts['target']}"
        )
    names = [f"{side}.{part}" for side in _SIDES for part in ("offsets", "ids", "vocab")] + ["folds"]
    manifest = {
        "format": _FORMAT,
        "version": _VERSION,
        "n_pairs": counts["source"],
        "n_folds": n_folds,
        "seed": seed,
        "files": {n: {"bytes": (work / n).stat().st_size, "blake2b": _checksum(work / n)} for n in names},
    }
    replace_bytes(work / "manifest.json", json.dumps(manifest, indent=1).encode() + b"\n")


_OnBlock = Callable[[VocabBuilder, Int64Array, Int32Array], None]


def _encode_side(
    path: PathLike,
    offsets: BinaryIO,
    ids: BinaryIO,
    vocab: Path,
    on_block: _OnBlock | None,
    progress: Progress | None,
) -> int:
    builder = VocabBuilder()
    n_lines = n_ids = 0
    offsets.write(np.zeros(1, np.int64).tobytes())
    for block in read_blocks(path):
        try:
            block_offsets, block_ids = builder.encode_block(LineBlock(block.data, block.first_line))
        except InputError as error:
            raise error.at(path) from error
        offsets.write((block_offsets[1:] + n_ids).tobytes())
        ids.write(block_ids.tobytes())
        n_ids += len(block_ids)
        n_lines += len(block_offsets) - 1
        if on_block:
            on_block(builder, block_offsets, block_ids)
        if progress:
            progress(n_lines)
    builder.freeze().save(vocab)
    return n_lines


def _fold_writer(path: Path, n_folds: int, seed: int) -> _OnBlock:
    path.touch()

    def write(builder: VocabBuilder, offsets: Int64Array, ids: Int32Array) -> None:
        with path.open("ab") as stream:
            stream.write(assign_folds(builder.table, offsets, ids, n_folds, seed).tobytes())

    return write


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _read_manifest(base: Path) -> dict[str, Any]:
    path = base / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"is not a bitext: {path.name}: {error.strerror}", path=base) from error
    except ValueError as error:
        raise InputError(f"is not JSON ({error}); the bitext is damaged", path=path) from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise InputError("is not the manifest of a bitext", path=path)
    if manifest.get("version") != _VERSION:
        raise InputError(f"has format version {manifest.get('version')}; this program reads {_VERSION}", path=path)
    counts = [manifest.get("n_pairs"), manifest.get("n_folds")]
    if not isinstance(manifest.get("files"), dict) or not all(isinstance(n, int) and n >= 0 for n in counts):
        raise InputError("lacks its counts; the bitext is damaged", path=path)
    return manifest


def _map(base: Path, manifest: dict[str, Any], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    path = base / name
    expected = manifest["files"].get(name, {}).get("bytes")
    try:
        actual = path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if actual != expected or actual % np.dtype(dtype).itemsize:
        raise InputError(f"has {actual} bytes, {expected} were expected; the bitext is damaged", path=path)
    if actual == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)
