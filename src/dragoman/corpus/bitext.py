"""Parallel text as id arrays in memory-mapped files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dragoman._core import assign_folds
from dragoman.corpus.vocab import N_RESERVED, Vocab, VocabBuilder
from dragoman.errors import InputError, MismatchError, naming
from dragoman.files.store import Format, new_folder
from dragoman.text import read_blocks
from dragoman.types import Int32Array, Int64Array, PathLike, Progress, offsets_of, rows_of

__all__ = ["MAX_FOLDS", "Bitext", "Side", "read_folds"]

MAX_FOLDS = 255
_FORMAT = Format("dragoman-bitext", 2, "bitext")
_SIDES = ("source", "target")


@dataclass(frozen=True, slots=True)
class Side:
    """One language of a bitext. Sentence i is ids[offsets[i]:offsets[i + 1]]."""

    vocab: Vocab
    offsets: Int64Array
    ids: Int32Array

    @classmethod
    def read(cls, *paths: PathLike, start: Vocab | None = None, progress: Progress | None = None) -> Side:
        """Encode text files in memory, with a vocabulary of their own, which continues that of `start`."""
        builder = VocabBuilder(start)
        blocks = [block for path in paths for block in _encoded(path, builder, progress)]
        lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(block.offsets) for block in blocks)])
        ids = np.concatenate([np.zeros(0, np.int32), *(block.ids for block in blocks)])
        return cls(builder.freeze(), offsets_of(lengths), ids)

    def __repr__(self) -> str:
        return f"Side({len(self)} lines, {len(self.vocab)} words)"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Int32Array:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    @property
    def n_types(self) -> int:
        """Words of the vocabulary, without reserved symbols."""
        return len(self.vocab) - N_RESERVED

    def lengths(self) -> Int64Array:
        return np.diff(self.offsets)

    def text(self, i: int) -> str:
        return self.vocab.decode(self[i])

    def take(self, lines: Int64Array) -> Side:
        """These sentences, in memory."""
        if len(lines) and not 0 <= lines.min() <= lines.max() < len(self):
            raise IndexError(f"lines {lines.min()} to {lines.max()} of {len(self)}")
        offsets, places = rows_of(self.offsets, lines)
        return Side(self.vocab, offsets, self.ids[places])


@dataclass(frozen=True, slots=True)
class Bitext:
    """Sentence pairs with a fold each; identical source sentences share a fold."""

    source: Side
    target: Side
    folds: NDArray[np.uint8]
    n_folds: int

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"Bitext({len(self)} pairs, {self.n_folds} folds)"

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
        with new_folder(folder) as work:
            _encode_files(work, source, target, n_folds, seed, progress)
        return cls.load(folder)

    @classmethod
    def load(cls, folder: PathLike, *, vocabs: tuple[Vocab, Vocab] | None = None) -> Bitext:
        """Map a stored bitext. Sizes are checked before anything is mapped; `verify` also checks the content.

        `vocabs` are those of source and target, for a caller that has loaded them already.
        """
        manifest = _FORMAT.read(folder)
        n_pairs, n_folds = manifest.counts("n_pairs", "n_folds")
        sides = []
        for number, name in enumerate(_SIDES):
            offsets = manifest.map_array(f"{name}.offsets", np.int64)
            ids = manifest.map_array(f"{name}.ids", np.int32)
            if len(offsets) != n_pairs + 1 or offsets[0] != 0 or offsets[-1] != len(ids):
                raise manifest.damaged("offsets and ids do not fit", f"{name}.offsets")
            if np.any(offsets[1:] < offsets[:-1]):
                raise manifest.damaged("offsets decrease", f"{name}.offsets")
            vocab = Vocab.load(manifest.base / f"{name}.vocab") if vocabs is None else vocabs[number]
            sides.append(Side(vocab, offsets, ids))
        folds = manifest.map_array("folds", np.uint8)
        if len(folds) != n_pairs:
            raise manifest.damaged(f"holds {len(folds)} folds for {n_pairs} pairs", "folds")
        return cls(sides[0], sides[1], folds, n_folds)

    @staticmethod
    def verify(folder: PathLike) -> None:
        """Compare every file with its checksum; raises InputError at the first that differs."""
        _FORMAT.read(folder).check_all()


def read_folds(source: PathLike, n_folds: int, seed: int = 0) -> NDArray[np.uint8]:
    """The fold of each line of a file, as in a bitext with this source side."""
    builder = VocabBuilder()
    parts = [assign_folds(builder.table, b.offsets, b.ids, n_folds, seed) for b in _encoded(source, builder, None)]
    return np.concatenate([np.zeros(0, np.uint8), *parts])


@dataclass(frozen=True, slots=True)
class _Block:
    """Some lines of a text as ids; `n_before` is how many words came before them."""

    offsets: Int64Array
    ids: Int32Array
    n_before: int


def _encoded(path: PathLike, builder: VocabBuilder, progress: Progress | None) -> Iterator[_Block]:
    n_lines = n_words = 0
    for block in read_blocks(path):
        with naming(path):
            offsets, ids = builder.encode_block(block)
        yield _Block(offsets, ids, n_words)
        n_words += len(ids)
        n_lines += len(offsets) - 1
        if progress:
            progress(n_lines)


def _encode_files(
    work: Path, source: PathLike, target: PathLike, n_folds: int, seed: int, progress: Progress | None
) -> None:
    counts = {}
    for name, path in zip(_SIDES, (source, target), strict=True):
        builder = VocabBuilder()
        with ExitStack() as stack:
            offsets, ids, *folds = (
                stack.enter_context((work / file).open("wb"))
                for file in (f"{name}.offsets", f"{name}.ids", *(["folds"] if name == "source" else []))
            )
            offsets.write(np.zeros(1, np.int64).tobytes())
            for block in _encoded(path, builder, progress):
                offsets.write((block.offsets[1:] + block.n_before).tobytes())
                ids.write(block.ids.tobytes())
                for stream in folds:
                    stream.write(assign_folds(builder.table, block.offsets, block.ids, n_folds, seed).tobytes())
            counts[name] = offsets.tell() // 8 - 1
        builder.freeze().save(work / f"{name}.vocab")
    if counts["source"] != counts["target"]:
        raise MismatchError(
            f"line-aligned files must have equally many lines, but {os.fspath(source)} has {counts['source']}, "
            f"{os.fspath(target)} has {counts['target']}"
        )
    names = [f"{side}.{part}" for side in _SIDES for part in ("offsets", "ids", "vocab")] + ["folds"]
    _FORMAT.write(work, names, {"n_pairs": counts["source"], "n_folds": n_folds, "seed": seed})
