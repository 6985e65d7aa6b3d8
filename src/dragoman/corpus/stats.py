"""Corpus statistics."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from dragoman.corpus.vocab import VocabBuilder
from dragoman.errors import MismatchError, naming
from dragoman.text import read_blocks
from dragoman.types import Int64Array, PathLike, Paths, Progress, one_or_many

__all__ = ["SideStats", "TextStats", "describe_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideStats:
    """Counts of lines, words (tokens) and distinct words (types) of one file."""

    path: str
    n_lines: int
    n_words: int
    n_types: int
    n_hapaxes: int
    n_empty: int
    n_duplicate_lines: int
    mean_length: float
    median_length: float
    max_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStats:
    """Statistics of line-aligned files; length ratio and correlation only for exactly two."""

    sides: tuple[SideStats, ...]
    length_ratio: float | None
    length_correlation: float | None


def describe_files(paths: Paths, *, progress: Progress | None = None) -> TextStats:
    """Statistics of line-aligned files. Raises MismatchError when their line counts differ."""
    paths = one_or_many(paths)
    described = [_describe(path, progress) for path in paths]
    first, *others = [side for side, _ in described]
    for other in others:
        if other.n_lines != first.n_lines:
            raise MismatchError(
                f"line-aligned files must have the same number of lines, but {first.path} has {first.n_lines}, "
                f"{other.path} has {other.n_lines}"
            )
    if len(described) != 2 or not first.n_words:
        return TextStats(sides=tuple(side for side, _ in described), length_ratio=None, length_correlation=None)
    lengths = [length for _, length in described]
    varied = first.n_lines > 1 and all(np.ptp(length) > 0 for length in lengths)
    return TextStats(
        sides=tuple(side for side, _ in described),
        length_ratio=others[0].n_words / first.n_words,
        length_correlation=float(np.corrcoef(lengths[0], lengths[1])[0, 1]) if varied else None,
    )


def _describe(path: PathLike, progress: Progress | None) -> tuple[SideStats, Int64Array]:
    builder = VocabBuilder()
    n_reserved = len(builder.table)
    counts = np.zeros(1 << 16, dtype=np.int64)
    lengths: list[Int64Array] = []
    n_lines = 0
    distinct: set[int] = set()
    for block in read_blocks(path):
        with naming(path):
            offsets, ids = builder.encode_block(block)
        while len(builder.table) > len(counts):
            counts = np.concatenate([counts, np.zeros_like(counts)])
        counts += np.bincount(ids, minlength=len(counts))
        lengths.append(np.diff(offsets))
        distinct.update(hash(ids[a:b].tobytes()) for a, b in itertools.pairwise(offsets))
        n_lines += len(offsets) - 1
        if progress:
            progress(n_lines)
    length = np.concatenate(lengths) if lengths else np.zeros(0, np.int64)
    side = SideStats(
        path=str(path),
        n_lines=n_lines,
        n_words=int(length.sum()),
        n_types=len(builder.table) - n_reserved,
        n_hapaxes=int((counts == 1).sum()),
        n_empty=int((length == 0).sum()),
        n_duplicate_lines=n_lines - len(distinct),
        mean_length=float(length.mean()) if n_lines else 0.0,
        median_length=float(np.median(length)) if n_lines else 0.0,
        max_length=int(length.max(initial=0)),
    )
    return side, length
