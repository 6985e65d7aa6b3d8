"""Folders that a job refers to by path, and their copies on hosts that do not have the path.

What a job holds by reference (a system) says so while it is pickled, with `refer`, and asks `located` where the folder
is when it is unpickled. An engine that reaches other hosts collects the references and sees to the copies.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FolderCopy", "Reference", "copies_at", "located", "refer", "references"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A folder, what identifies its content, and all files that belong to it, inside or beside it."""

    folder: Path
    identity: str
    files: Callable[[], Iterable[Path]]

    def paths(self) -> tuple[Path, str, list[tuple[Path, str]]]:
        """The files with their places in a copy, under a common root, and the place of the folder itself."""
        found = sorted({Path(os.path.normpath(path)) for path in self.files()})
        root = Path(os.path.commonpath([self.folder, *found]))
        return root, self.folder.relative_to(root).as_posix(), [(p, p.relative_to(root).as_posix()) for p in found]


_references: ContextVar[list[Reference] | None] = ContextVar("references", default=None)
_copies: ContextVar[Mapping[str, Path] | None] = ContextVar("copies", default=None)


def refer(reference: Reference) -> None:
    """Say that what is being pickled refers to a folder."""
    if (found := _references.get()) is not None:
        found.append(reference)


@contextlib.contextmanager
def references() -> Iterator[list[Reference]]:
    """The references of what is pickled inside the block."""
    found: list[Reference] = []
    token = _references.set(found)
    try:
        yield found
    finally:
        _references.reset(token)


def located(folder: str) -> str:
    """Where a folder is on this host: at its path, or a copy."""
    copy = (_copies.get() or {}).get(folder)
    return folder if copy is None else str(copy)


@contextlib.contextmanager
def copies_at(copies: Mapping[str, Path]) -> Iterator[None]:
    """Inside the block, these folders are found at their copies."""
    token = _copies.set(copies)
    try:
        yield
    finally:
        _copies.reset(token)


class FolderCopy:
    """A copy of a folder in the host's temporary folder, shared by all processes that want it; the last removes it.

    Each holds a shared lock, which a killed process loses. Its copy is then found, and removed, by the next.
    """

    def __init__(self, folder: str, identity: str, fill: Callable[[Path], str]) -> None:
        """`fill` writes the files under a new folder and returns the place of the folder there."""
        name = hashlib.blake2b(f"{folder}\n{identity}".encode(), digest_size=12).hexdigest()
        self._base = Path(tempfile.gettempdir()) / f"dragoman-{os.getuid()}-{name}"
        self._lock = self._locked(fcntl.LOCK_EX)
        self._base.mkdir(mode=0o700, exist_ok=True)
        place, files = self._base / "place", self._base / "files"
        if self._base.stat().st_uid != os.getuid():
            raise PermissionError(f"{self._base} belongs to somebody else")
        if not place.exists():
            shutil.rmtree(files, ignore_errors=True)
            files.mkdir()
            found = fill(files)
            place.with_suffix(".new").write_text(found)
            place.with_suffix(".new").rename(place)
        self.folder = files / place.read_text()
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def release(self) -> None:
        """Remove the copy if nobody else uses it."""
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(self._base, ignore_errors=True)
            self._base.with_suffix(".lock").unlink(missing_ok=True)
        os.close(self._lock)

    def _locked(self, how: int) -> int:
        path = self._base.with_suffix(".lock")
        while True:
            lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(lock, how)
            with contextlib.suppress(FileNotFoundError):
                if os.fstat(lock).st_ino == path.stat().st_ino:
                    return lock
            os.close(lock)  # the last user has removed it meanwhile
