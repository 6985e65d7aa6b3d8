"""Named arrays in one file, that appears whole or not at all.

A file is a line of JSON, padding, and the arrays, little-endian and aligned to 8 bytes. The line says where each array
is and holds the checksums of itself and of the arrays. Each array has the smallest type that holds its values exactly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.errors import InputError
from dragoman.files.store import seal, unseal
from dragoman.text import atomic_output
from dragoman.types import PathLike

__all__ = ["ArrayFile", "ArrayFormat"]

_ALIGNMENT = 8
_MAX_HEADER_BYTES = 1 << 20
_INTEGERS = ("<u1", "<i1", "<u2", "<i2", "<u4", "<i4", "<i8")
_TYPES = {*_INTEGERS, "<f4", "<f8"}


@dataclass(frozen=True, slots=True, eq=False)
class ArrayFile:
    """What a file holds: plain data, and arrays. Mapped."""

    header: dict[str, Any]
    body: NDArray[np.uint8]

    def array(self, name: str, dtype: type[np.generic]) -> NDArray[Any]:
        """An array in memory. Raises ValueError, KeyError or TypeError where the file does not have it as expected."""
        entry = self.header["arrays"][name]
        if entry["type"] not in _TYPES:
            raise ValueError(entry["type"])
        stored = np.dtype(entry["type"])
        begin, n_bytes = int(entry["at"]), int(entry["size"]) * stored.itemsize
        if begin < 0 or n_bytes < 0 or begin + n_bytes > len(self.body) or begin % _ALIGNMENT:
            raise ValueError("an array is not inside the file")
        values: NDArray[Any] = self.body[begin : begin + n_bytes].view(stored).astype(dtype)
        return values


@dataclass(frozen=True, slots=True)
class ArrayFormat:
    """A kind of such files: `what` they are called in messages, `remade` how one gets a new one."""

    name: str
    version: int
    what: str
    remade: str

    def write(self, path: PathLike, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
        """Write arrays and plain data; the file appears by rename once all of it is on disk."""
        table: dict[str, dict[str, Any]] = {}
        body = bytearray()
        for name, array in arrays.items():
            small = _smallest(array)
            table[name] = {"type": small.dtype.str.replace("|", "<"), "at": len(body), "size": len(small)}
            body += small.tobytes()
            body += bytes(-len(body) % _ALIGNMENT)
        record = {
            "format": self.name,
            "version": self.version,
            **about,
            "n_bytes": len(body),
            "content": _checksum(np.frombuffer(body, np.uint8)),
            "arrays": table,
        }
        header = json.dumps(seal(record), ensure_ascii=False).encode()
        n_header = -(-(len(header) + 1) // _ALIGNMENT) * _ALIGNMENT
        with atomic_output(path) as stream:
            stream.write(header.ljust(n_header - 1) + b"\n")
            stream.write(body)

    def read(self, path: Path) -> ArrayFile:
        """The file, compared with its checksums. Raises InputError, without the file's name, when it is damaged."""
        try:
            with path.open("rb") as stream:
                line = stream.readline(_MAX_HEADER_BYTES)
                n_file = stream.seek(0, 2)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}") from error
        try:
            header = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not a {self.what}, or its beginning is damaged") from error
        if not isinstance(header, dict) or header.get("format") != self.name:
            raise InputError(f"is not a {self.what}")
        header = unseal(header, self.what)
        if header.get("version") != self.version:
            raise InputError(f"has version {header.get('version')}; this dragoman reads {self.version}: {self.remade}")
        n_bytes = header.get("n_bytes")
        if type(n_bytes) is not int:
            raise InputError(f"has a header with other fields than expected; the {self.what} is damaged")
        if n_file != len(line) + n_bytes:
            raise InputError(f"has {n_file} bytes, {len(line) + n_bytes} were expected; the {self.what} is damaged")
        data = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)[len(line) :]
        if _checksum(data) != header.get("content"):
            raise InputError(f"does not match its checksum; the {self.what} is damaged")
        return ArrayFile(header, data)


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
