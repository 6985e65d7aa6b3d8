"""Long work reads a system for hours: its files must be the same at the end as at the beginning."""

from __future__ import annotations

from pathlib import Path

from dragoman.errors import InputError
from dragoman.system.manifest import MANIFEST
from dragoman.system.system import System

__all__ = ["SystemWatch"]


class SystemWatch:
    """Notices files of a system that change while it is used."""

    def __init__(self, system: System) -> None:
        self._base = system.folder
        self._records = {self._base / record.path: record for record in system.manifest.files.values()}
        self._stamps = {path: _stamp(path) for path in (*self._records, self._base / MANIFEST)}

    def check(self) -> None:
        """Raise InputError for a file with other content."""
        for path, before in self._stamps.items():
            if (now := _stamp(path)) != before:
                record = self._records.get(path)
                if record is None:
                    raise InputError("the system was changed while it was being used; start anew", path=path)
                record.check(self._base, whole=True)
                self._stamps[path] = now


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read any more: {error.strerror or error}; bring it back", path=path) from error
    return found.st_ino, found.st_size, found.st_mtime_ns
