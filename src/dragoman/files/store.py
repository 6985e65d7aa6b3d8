"""Folders of files with checksums: a folder appears whole or not at all, and a damaged file is named, never used.

A manifest is a JSON file that lists the other files:

    {"format": "dragoman-pool", "version": 2, …, "files": {"words": {"bytes": 120, "checksum": "…"}}, "checksum": "…"}

The last checksum is that of the record itself, so that a changed digit in it is noticed too. Checksums have 64 bits and
are computed at the speed of memory; they tell damage. `digest` (128 bits, slower) tells what a file contains.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.errors import FailedError, InputError, naming
from dragoman.text import replace_bytes, sync_path
from dragoman.types import PathLike, Progress

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "Format",
    "Manifest",
    "check_files",
    "checksum",
    "digest",
    "digest_json",
    "from_plain",
    "make_folder",
    "map_array",
    "new_folder",
    "read_json",
    "seal",
    "unseal",
    "write_json",
]

_Record = TypeVar("_Record", bound="DataclassInstance")


def make_folder(path: PathLike) -> Path:
    """Make a folder, and those above it, where they are missing."""
    base = Path(path)
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedError(f"{base}: cannot be made: {error.strerror or error}") from error
    return base


@contextlib.contextmanager
def new_folder(folder: PathLike) -> Iterator[Path]:
    """A scratch folder that becomes `folder` (which must not exist) when the block ends well."""
    goal = Path(folder)
    if goal.exists():
        raise InputError("exists already; remove it or choose another folder", path=goal)
    try:
        goal.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=goal.parent, prefix=f".{goal.name}.") as scratch:
            work = Path(scratch) / goal.name
            work.mkdir()
            yield work
            work.rename(goal)
    except OSError as error:
        raise FailedError(f"{goal}: cannot be written: {error.strerror or error}") from error


def checksum(path: PathLike) -> str:
    """Tells whether a file is as it was written."""
    data = _mapped(Path(path))
    return f"{_core.checksum(data):016x}"


def digest(path: PathLike, n_bytes: int = -1) -> str:
    """Names the content of a file, or of its first bytes."""
    try:
        with Path(path).open("rb") as stream:
            if n_bytes >= 0:
                return hashlib.blake2b(stream.read(n_bytes), digest_size=16).hexdigest()
            return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error


def digest_json(value: object) -> str:
    """Names what plain data say, whatever the order of their keys."""
    text = json.dumps(value, sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def write_json(path: PathLike, value: object) -> None:
    """Replace a JSON file in one step."""
    replace_bytes(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")


def read_json(path: PathLike, what: str) -> dict[str, Any]:
    """Read a JSON object; the InputError of another file says that `what` is damaged."""
    try:
        value = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}; the {what} is damaged", path=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error}); the {what} is damaged", path=path) from error
    if not isinstance(value, dict):
        raise InputError(f"is not a JSON object; the {what} is damaged", path=path)
    return value


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record, as JSON has it, with a checksum of its own."""
    plain: dict[str, Any] = json.loads(json.dumps(record, allow_nan=False))
    return {**plain, "checksum": _checksum_of(plain)}


def unseal(record: Mapping[str, Any], what: str) -> dict[str, Any]:
    """What `seal` was given. Raises InputError when it has changed since."""
    content = {key: value for key, value in record.items() if key != "checksum"}
    if record.get("checksum") != _checksum_of(content):
        raise InputError(f"does not match its checksum; the {what} is damaged or was edited")
    return content


def from_plain(cls: type[_Record], data: object, **given: object) -> _Record:
    """The dataclass that `dataclasses.asdict` made into JSON, but for the fields that are given as they are.

    Raises InputError where a field has another type.
    """
    if not isinstance(data, dict):
        raise InputError(f"expected an object with the fields of a {cls.__name__}, not {_short(data)}")
    hints = get_type_hints(cls)
    known = {field.name: field for field in dataclasses.fields(cls)}
    for name in data:
        if name not in known:
            raise InputError(f"'{name}' is no field of a {cls.__name__}")
    for name, field in known.items():
        if name not in data and name not in given and field.default is field.default_factory is dataclasses.MISSING:
            raise InputError(f"lacks '{name}'")
    return cls(**given, **{name: _typed(hints[name], value, name) for name, value in data.items()})


def _typed(hint: Any, value: object, name: str) -> Any:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is UnionType:
        return None if value is None else _typed(next(part for part in parts if part is not NoneType), value, name)
    if kind is tuple and isinstance(value, list):
        return tuple(_typed(parts[0], item, f"{name}[{i}]") for i, item in enumerate(value))
    if kind is Mapping and isinstance(value, dict):
        return {key: _typed(parts[1], item, f"{name}.{key}") for key, item in value.items()}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return from_plain(kind, value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    if kind is Any or (kind in {int, str, bool} and type(value) is kind):
        return value
    raise InputError(f"'{name}' is {_short(value)}; expected {getattr(kind, '__name__', kind)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def map_array(path: PathLike, dtype: type[np.generic], n_bytes: int, what: str) -> NDArray[Any]:
    """A file of numbers, mapped. Its size is checked first."""
    path = Path(path)
    actual = _size(path)
    if actual != n_bytes or actual % np.dtype(dtype).itemsize:
        raise InputError(f"has {actual} bytes, {n_bytes} were expected; the {what} is damaged", path=path)
    return _mapped(path, dtype)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The size and checksum of a file when it was written."""

    n_bytes: int
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a folder's manifest says. `content` is what the format has to say beside its files."""

    base: Path
    format: Format
    content: Mapping[str, Any]
    files: Mapping[str, FileRecord]

    def damaged(self, why: str, name: str | None = None) -> InputError:
        """An error about a file, by default the manifest."""
        return InputError(f"{why}; the {self.format.what} is damaged", path=self.base / (name or self.format.manifest))

    def counts(self, *names: str) -> list[int]:
        """Numbers that are not negative, from the content."""
        found = [self.content.get(name) for name in names]
        for name, value in zip(names, found, strict=True):
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise self.damaged(f"lacks the count {name}")
        return [int(value) for value in found if value is not None]

    def map_array(self, name: str, dtype: type[np.generic]) -> NDArray[Any]:
        """A file of numbers, mapped. Its size is compared; its content only by `check`."""
        return map_array(self.base / name, dtype, self._record(name).n_bytes, self.format.what)

    def check(self, name: str) -> Path:
        """The path of a file. Raises InputError when size or content differ from what was written."""
        record, path = self._record(name), self.base / name
        if (size := _size(path)) != record.n_bytes:
            raise self.damaged(f"has {size} bytes, {record.n_bytes} were expected", name)
        if checksum(path) != record.checksum:
            raise InputError(f"does not match its checksum; the {self.format.what} is damaged or was edited", path=path)
        return path

    def checks(self) -> list[tuple[int, Callable[[], Path]]]:
        """Each file's, for `check_files`."""
        return [(record.n_bytes, partial(self.check, name)) for name, record in self.files.items()]

    def check_all(self) -> None:
        """Compare every file with its checksum."""
        check_files(self.checks())

    def _record(self, name: str) -> FileRecord:
        if name not in self.files:
            raise self.damaged(f"does not list {name}")
        return self.files[name]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of folder: what its manifest says of itself, and what people call it."""

    name: str
    version: int
    what: str
    manifest: str = "manifest.json"

    def write(self, base: Path, names: Iterable[str], content: Mapping[str, Any], *, n_threads: int = 1) -> None:
        """Write the manifest, once all files are on disk."""
        names = list(names)
        try:
            with ThreadPoolExecutor(n_threads) as pool:
                records = list(pool.map(_settle, [base / name for name in names]))
        except OSError as error:
            raise FailedError(f"{base}: cannot be written: {error.strerror or error}") from error
        files = {
            name: {"bytes": record.n_bytes, "checksum": record.checksum}
            for name, record in zip(names, records, strict=True)
        }
        write_json(
            base / self.manifest,
            seal({"format": self.name, "version": self.version, **content, "files": files}),
        )

    def read_record(self, base: Path) -> dict[str, Any]:
        """What stands in the manifest, when it is of this format and version."""
        path = base / self.manifest
        if not path.exists():
            raise InputError(f"is not a {self.what}: there is no {self.manifest} in it", path=base)
        record = read_json(path, self.what)
        if record.get("format") != self.name:
            raise InputError(f"is not the manifest of a {self.what}", path=path)
        if (found := record.get("version")) != self.version:
            older = isinstance(found, int) and found < self.version
            raise InputError(
                f"has format version {found}, made by {'an older' if older else 'another'} version of dragoman; this "
                f"one reads {self.version}: make the {self.what} again",
                path=path,
            )
        return record

    def read(self, folder: PathLike) -> Manifest:
        """Read and check the manifest; its files are checked where they are used."""
        base = Path(folder)
        path = base / self.manifest
        with naming(path):
            content = unseal(self.read_record(base), self.what)
        try:
            files = {str(k): FileRecord(int(v["bytes"]), str(v["checksum"])) for k, v in content["files"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"does not list its files; the {self.what} is damaged", path=path) from error
        content = {key: value for key, value in content.items() if key not in {"format", "version", "files"}}
        return Manifest(base=base, format=self, content=content, files=files)


def check_files(
    checks: Iterable[tuple[int, Callable[[], Path]]], *, n_threads: int = 1, progress: Progress | None = None
) -> list[Path]:
    """What the checks give, in order; each comes with the bytes of its file. Raises what the first of them raises.

    `progress` is told the megabytes that are read.
    """
    listed = list(checks)
    found, n_bytes = [], 0
    with ThreadPoolExecutor(n_threads) as pool:
        for (size, _), path in zip(listed, pool.map(lambda one: one[1](), listed), strict=True):
            found.append(path)
            n_bytes += size
            if progress is not None:
                progress(n_bytes >> 20)
    return found


def _settle(path: Path) -> FileRecord:
    """See to it that a file is on disk."""
    sync_path(path)
    return FileRecord(path.stat().st_size, checksum(path))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error


def _mapped(path: Path, dtype: type[np.generic] = np.uint8) -> NDArray[Any]:
    try:
        # An empty file cannot be mapped.
        return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray) if _size(path) else np.empty(0, dtype=dtype)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error


def _checksum_of(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True)
    return f"{_core.checksum(np.frombuffer(text.encode(), np.uint8)):016x}"
