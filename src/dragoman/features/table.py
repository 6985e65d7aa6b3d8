"""Named sparse vectors that processes exchange and files keep: features sorted by key, with columns of numbers.

A file is a line of JSON (padded with spaces) and arrays, little-endian, each at a multiple of 64 bytes after it:

    {"format": "dragoman-features", "version": 1, "n_features": 2, "n_name_bytes": 9, "columns": {"weight": "<f8"},
     "about": {…}, "checksums": ["…", …], "checksum": "…"}

The arrays are the keys (uint64, ascending), the offsets of the names (int64, one more), the names (UTF-8), and the
columns. `checksums` are theirs in that order; the last checksum is that of the line itself.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.errors import InputError, naming
from dragoman.features.index import FeatureIndex
from dragoman.features.weights import Weights
from dragoman.files.store import seal, unseal
from dragoman.text import atomic_output
from dragoman.types import Int32Array, Int64Array, PathLike

__all__ = ["Column", "FeatureTable", "is_feature_table"]

Column: TypeAlias = NDArray[np.float64 | np.int64]

_FORMAT, _VERSION, _WHAT = "dragoman-features", 1, "feature table"
_MAGIC = f'{{"format": "{_FORMAT}"'.encode()
_ALIGNMENT = 64
_MAX_HEADER_BYTES = 1 << 20
_DTYPES = ("<f8", "<i8")


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features in the order of their 64-bit keys, and one number for each in every column.

    The same features give the same table in every process, whatever their ids there. `about` is what the file says
    beside its numbers (plain JSON); sums do not have it.
    """

    features: _core.FeatureNames
    columns: Mapping[str, Column]
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if column.shape != (len(self.features),) or column.dtype.str not in _DTYPES:
                raise ValueError(f"the column {name!r} needs a float64 or int64 for each of {len(self)} features")

    @classmethod
    def from_ids(
        cls, index: FeatureIndex, ids: Int32Array, columns: Mapping[str, Column], about: Mapping[str, Any] | None = None
    ) -> FeatureTable:
        """Features of an index; element i of a column belongs to ids[i]. Raises ValueError for a duplicate id."""
        features, order = _core.sort_features(index, np.ascontiguousarray(ids, dtype=np.int32))
        return cls(features, {name: np.asarray(column)[order] for name, column in columns.items()}, about or {})

    @classmethod
    def from_weights(cls, weights: Weights, column: str = "weight") -> FeatureTable:
        """The weights that are not 0."""
        ids = weights.ids()
        return cls.from_ids(weights.index, ids, {column: weights.values[ids]})

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return f"FeatureTable({len(self)} features, columns {', '.join(self.columns)})"

    def names(self, places: Int64Array | None = None) -> list[str]:
        """The names of the features at these places, by default of all."""
        return self.features.names(np.arange(len(self)) if places is None else places)

    def take(self, places: Int64Array) -> FeatureTable:
        """The table of the features at these places (ascending)."""
        columns = {name: column[places] for name, column in self.columns.items()}
        return FeatureTable(self.features.take(np.ascontiguousarray(places)), columns)

    def with_columns(self, columns: Mapping[str, Column]) -> FeatureTable:
        """Other numbers for the same features."""
        return FeatureTable(self.features, columns)

    def add(self, other: FeatureTable) -> FeatureTable:
        """The sum, column by column; a feature that a table lacks is 0 there.

        Raises InputError for other columns, and when two features of different names have the same key.
        """
        kinds = [{name: column.dtype for name, column in table.columns.items()} for table in (self, other)]
        if kinds[0] != kinds[1]:
            raise InputError(f"the columns {', '.join(kinds[0])} cannot be added to {', '.join(kinds[1])}")
        features, left, right = self.features.merge(other.features)
        columns: dict[str, Column] = {}
        for name, column in self.columns.items():
            total: NDArray[Any] = np.zeros(len(features), column.dtype)
            total[left] = column
            total[right] += other.columns[name]
            columns[name] = total
        return FeatureTable(features, columns)

    def weights(self, column: str, index: FeatureIndex | None = None, *, places: str | None = None) -> Weights:
        """A column as weights over an index, to which missing names are added.

        They are added in the order of the keys, or of the int64 column `places`, a permutation of 0, 1, …; otherwise
        InputError is raised. An empty index uses the table's own names, mapped or not, instead of copying them.
        """
        index = FeatureIndex() if index is None else index
        ids = index.extend_table(
            self.features, None if places is None else self.columns[places].astype(np.int64, copy=False)
        )
        weights = Weights(index)
        weights.values[ids] = self.columns[column]
        return weights

    def save(self, path: PathLike) -> None:
        """Write the table to a file, which appears whole or not at all."""
        arrays = [array.astype(array.dtype.newbyteorder("<"), copy=False) for array in self._arrays()]
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "n_features": len(self),
            "n_name_bytes": len(self.features.blob),
            "columns": {name: column.dtype.str for name, column in self.columns.items()},
            "about": dict(self.about),
            "checksums": [_checksum(array) for array in arrays],
        }
        line = json.dumps(seal(header)).encode()
        if len(line) >= _MAX_HEADER_BYTES:
            raise ValueError(f"the header of the {_WHAT} has {len(line)} bytes; the maximum is {_MAX_HEADER_BYTES}")
        with atomic_output(path) as stream:
            stream.write(line.ljust(_padded(len(line) + 1) - 1) + b"\n")
            for array in arrays:
                stream.write(array.data.cast("B") if array.nbytes else b"")
                stream.write(b"\0" * (_padded(array.nbytes) - array.nbytes))

    @classmethod
    def load(cls, path: PathLike) -> FeatureTable:
        """Map a table that `save` wrote. Raises InputError when it is another file, or damaged."""
        with naming(path):
            return cls._load(Path(path))

    @classmethod
    def _load(cls, path: Path) -> FeatureTable:
        header, n_header = _read_header(path)
        n, n_name_bytes = header["n_features"], header["n_name_bytes"]
        kinds = [("<u8", n), ("<i8", n + 1), ("|u1", n_name_bytes), *((kind, n) for kind in header["columns"].values())]
        sizes = [length * np.dtype(kind).itemsize for kind, length in kinds]
        expected = n_header + sum(_padded(size) for size in sizes)
        mapping = _map(path)
        data = np.frombuffer(mapping, dtype=np.uint8)
        if len(data) != expected:
            raise InputError(f"has {len(data)} bytes, {expected} were expected; the {_WHAT} is damaged")
        arrays: list[Any] = []
        begin = n_header
        for (kind, _), size, checksum in zip(kinds, sizes, header["checksums"], strict=True):
            part = data[begin : begin + size]
            if _checksum(part) != checksum:
                raise InputError(f"does not match its checksum; the {_WHAT} is damaged or was edited")
            arrays.append(part.view(kind).astype(np.dtype(kind).newbyteorder("="), copy=False))
            begin += _padded(size)
        features = _core.FeatureNames(arrays[0], arrays[1], arrays[2])
        mapping.madvise(mmap.MADV_DONTNEED)  # what was read to check it does not stay in memory
        return cls(features, dict(zip(header["columns"], arrays[3:], strict=True)), header["about"])

    def _arrays(self) -> list[NDArray[Any]]:
        parts = [self.features.keys, self.features.offsets, self.features.blob, *self.columns.values()]
        return [np.ascontiguousarray(part) for part in parts]

    def __reduce__(self) -> tuple[Any, ...]:
        keys, offsets, blob, *columns = self._arrays()
        return _restored, (keys, offsets, blob, dict(zip(self.columns, columns, strict=True)), dict(self.about))


def is_feature_table(path: PathLike) -> bool:
    """Whether a file begins as `FeatureTable.save` writes it. What comes through a pipe is not looked at."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _restored(
    keys: NDArray[np.uint64],
    offsets: Int64Array,
    blob: NDArray[np.uint8],
    columns: dict[str, Column],
    about: dict[str, Any],
) -> FeatureTable:
    return FeatureTable(_core.FeatureNames(keys, offsets, blob), columns, about)


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """What the first line says, with every field of the type it must have, and its length in bytes."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(_MAX_HEADER_BYTES)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from error
    if not line.startswith(_MAGIC):
        raise InputError(f"is not a {_WHAT}: it does not begin with {_MAGIC.decode()}")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"has no readable header ({error}); the {_WHAT} is damaged") from error
    if (version := record.get("version")) != _VERSION:
        raise InputError(f"has format version {version}; this version of dragoman reads {_VERSION}")
    header = unseal(record, _WHAT)
    counts = [header.get("n_features"), header.get("n_name_bytes")]
    columns, checksums = header.get("columns"), header.get("checksums")
    fits = (
        all(type(count) is int and 0 <= count < 1 << 48 for count in counts)
        and isinstance(columns, dict)
        and all(kind in _DTYPES for kind in columns.values())
        and isinstance(checksums, list)
        and len(checksums) == 3 + len(columns)
        and isinstance(header.get("about"), dict)
        and len(line) % _ALIGNMENT == 0
    )
    if not fits:
        raise InputError(f"has a header with other fields than expected; the {_WHAT} is damaged")
    return header, len(line)


def _map(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}") from error


def _padded(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNMENT) * _ALIGNMENT


def _checksum(array: NDArray[Any]) -> str:
    return f"{_core.checksum(array.view(np.uint8)):016x}"
