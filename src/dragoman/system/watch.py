"""Long work reads a system for hours: its files must be the same at the end as at the beginning."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from dragoman.errors import InputError
from dragoman.system.manifest import MANIFEST
from dragoman.system.system import System

__all__ = ["SystemWatch"]


class SystemWatch:
    """Notices files of a system that change while it is used, those of its grammar included."""

    def __init__(self, system: System) -> None:
        base, grammar = system.folder, system.grammar.manifest
        self._checks: dict[Path, Callable[[], object]] = {base / MANIFEST: partial(_refuse, base / MANIFEST)}
        for record in system.manifest.files.values():
            self._checks[base / record.path] = partial(record.check, base, whole=True)
        for name in grammar.files:
            self._checks[grammar.base / name] = partial(grammar.check, name)
        self._stamps = {path: _stamp(path) for path in self._checks}

    def check(self) -> None:
        """Raise InputError for a file with other content."""
        for path, before in self._stamps.items():
            if (now := _stamp(path)) != before:
                self._checks[path]()
                self._stamps[path] = now


def _refuse(path: Path) -> None:
    raise InputError("the system was changed while it was being used; start anew", path=path)


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read any more: {error.strerror or error}; bring it back", path=path) from error
    return found.st_ino, found.st_size, found.st_mtime_ns
