"""The manifest of a system folder: settings, and every file with its size and checksums.

A file is named by its path relative to the folder. Those of a tuned system's tables lead to its parent
(`../parent/lm.bin`): they are never copied. At load, the size and a checksum of a file's first bytes are compared,
where the headers of our binary files keep a checksum of the rest; `verify` compares everything.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.errors import InputError, naming
from dragoman.files.store import Format, digest, digest_json, write_json
from dragoman.system.settings import SystemSettings

__all__ = [
    "MANIFEST",
    "TRAIN_RECORD",
    "TUNE_RECORD",
    "FileRecord",
    "Manifest",
    "read_manifest",
    "record_of",
    "refuse_unfinished",
    "write_manifest",
]

MANIFEST = "system.json"
TRAIN_RECORD, TUNE_RECORD = "train", "tune"
"""Folders in a system's own: the run of its training, and that of its tuning."""
_FORMAT = Format("dragoman-system", 2, "system", MANIFEST)
_HEAD_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """A file of the system. `path` is relative to the system's folder."""

    path: str
    n_bytes: int
    head: str
    blake2b: str

    def check(self, base: Path, *, whole: bool = False) -> Path:
        """The path of the file. Raises InputError if it differs from the record."""
        path = base / self.path
        try:
            size = path.stat().st_size
            known = size == self.n_bytes and digest(path, _HEAD_BYTES) == self.head
            if known and whole:
                known = digest(path) == self.blake2b
        except OSError as error:
            why = (
                "the parent system is gone; this tuned system has no tables of its own, so bring it back to its place"
                if self.path.startswith("..") and isinstance(error, FileNotFoundError)
                else f"cannot be read: {error.strerror or error}"
            )
            raise InputError(why, path=path) from error
        if not known:
            found = f"has {size} bytes instead of {self.n_bytes}" if size != self.n_bytes else "has other content"
            why = (
                f"{found}: the parent system has changed since this system was tuned; tune again, or bring it back"
                if self.path.startswith("..")
                else f"{found}; the system is damaged"
            )
            raise InputError(why, path=path)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of the manifest. Files are named by role: `grammar`, `lm`, `lm.fold-0`, `weights`."""

    settings: SystemSettings
    files: dict[str, FileRecord]
    parent: str | None
    """The relative folder of the system that a tuned system was tuned from."""
    about: dict[str, Any]
    """Information: versions, sizes of the tables, details of training or tuning."""

    def content(self) -> dict[str, Any]:
        """The JSON-serialisable functional content, without `about`."""
        files = {
            name: {"path": r.path, "bytes": r.n_bytes, "head": r.head, "blake2b": r.blake2b}
            for name, r in self.files.items()
        }
        return {"settings": self.settings.to_json(), "parent": self.parent, "files": files}

    def identity(self) -> str:
        """A digest of tables, weights and settings, except what can be changed: sparse features and languages."""
        text = replace(self.settings.text, source_language=None, target_language=None)
        return digest_json(replace(self, settings=replace(self.settings, features=(), text=text)).content())


def record_of(base: Path, path: Path) -> FileRecord:
    """The record of a file in its current state."""
    return FileRecord(
        path=Path(os.path.relpath(path, base)).as_posix(),
        n_bytes=path.stat().st_size,
        head=digest(path, _HEAD_BYTES),
        blake2b=digest(path),
    )


def write_manifest(base: Path, manifest: Manifest) -> None:
    """Write the manifest, which completes the system."""
    head = {"format": _FORMAT.name, "version": _FORMAT.version}
    write_json(base / MANIFEST, {**head, **manifest.content(), "about": manifest.about})


def read_manifest(base: Path) -> Manifest:
    """Read and check the manifest itself; the files are checked where they are used."""
    path = base / MANIFEST
    refuse_unfinished(base)
    data = _FORMAT.read_record(base)
    try:
        files = {
            str(name): FileRecord(
                path=_plain_path(r["path"]), n_bytes=int(r["bytes"]), head=str(r["head"]), blake2b=str(r["blake2b"])
            )
            for name, r in data["files"].items()
        }
        parent, about = data["parent"], dict(data["about"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"lacks the records of its files ({error}); the system is damaged", path=path) from error
    with naming(path):
        settings = SystemSettings.from_json(data.get("settings"))
    if missing := [name for name in ("grammar", "lm", "weights") if name not in files]:
        raise InputError(f"names no {missing[0]}; the system is damaged", path=path)
    return Manifest(settings=settings, files=files, parent=None if parent is None else str(parent), about=about)


def refuse_unfinished(base: Path) -> None:
    """Raise InputError for the folder of a training or tuning that was stopped before its end."""
    if (base / MANIFEST).exists():
        return
    for command, record in (("train", TRAIN_RECORD), ("tune", TUNE_RECORD)):
        if (base / record).is_dir():
            raise InputError(
                f"is an unfinished system: `dragoman {command}` was stopped before its end; "
                "go on with the same command and `resume=True`",
                path=base,
            )


def _plain_path(path: object) -> str:
    if not isinstance(path, str) or not path or Path(path).is_absolute():
        raise ValueError(f"'{path}' is not a relative path")
    return path
