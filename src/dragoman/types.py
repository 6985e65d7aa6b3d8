"""Type aliases shared between modules."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError

__all__ = [
    "MAX_INT32",
    "Float32Array",
    "Float64Array",
    "Int32Array",
    "Int64Array",
    "PathLike",
    "Paths",
    "Progress",
    "joined_offsets",
    "offsets_of",
    "one_or_many",
    "rows_of",
    "sentences_of",
]

MAX_INT32 = 2**31 - 1
"""Upper limit of most counts in the native core, which are int32."""

PathLike: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = PathLike | Sequence[PathLike]
"""One file or several."""
Int32Array: TypeAlias = NDArray[np.int32]
Int64Array: TypeAlias = NDArray[np.int64]
Float32Array: TypeAlias = NDArray[np.float32]
Float64Array: TypeAlias = NDArray[np.float64]

Progress: TypeAlias = Callable[[int], None]
"""Called periodically with the number of items done so far."""


Lines = TypeVar("Lines")


def one_or_many(paths: Paths) -> tuple[PathLike, ...]:
    """The files, where one may be given by itself: a string would otherwise be a file for each of its letters."""
    return (paths,) if isinstance(paths, str | os.PathLike) else tuple(paths)


def sentences_of(lines: Lines, name: str = "sentences") -> Lines:
    """The same lines. Raises InputError for a string, whose letters would otherwise be the lines."""
    if isinstance(lines, str | bytes):
        raise InputError(f"{name} must be a list of lines, not one string; for one line write [{lines[:40]!r}]")
    return lines


def offsets_of(lengths: Sequence[int] | Int64Array) -> Int64Array:
    """Row offsets (int64, n + 1) of ragged data with these row lengths."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def rows_of(offsets: Int64Array, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Some rows of ragged data, which may repeat: the offsets of these rows, and the places of their elements."""
    begins = offsets[rows]
    lengths = offsets[rows + 1] - begins
    found = offsets_of(lengths)
    return found, np.arange(found[-1]) + np.repeat(begins - found[:-1], lengths)


def joined_offsets(parts: Sequence[Int64Array]) -> Int64Array:
    """Row offsets of ragged data put one after the other, from those of each."""
    starts = offsets_of(np.array([part[-1] for part in parts], dtype=np.int64))
    return np.concatenate([starts[:1], *(part[1:] + start for part, start in zip(parts, starts, strict=False))])
