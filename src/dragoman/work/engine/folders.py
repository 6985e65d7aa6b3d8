"""Folders that a job refers to by path, and their copies on hosts that do not have the path.

What a job holds by reference (a system) says so while it is pickled, with `refer`, and asks `located` where the folder
is when it is unpickled. An engine that reaches other hosts collects the references and sees to the copies.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FolderCopy", "Reference", "copies_at", "located", "refer", "references"]

_WAIT_S = 0.2


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

    def __init__(self, folder: str, identity: str) -> None:
        """Find the copy, or begin one (`is_new`), which nobody else gets before it is finished."""
        name = hashlib.blake2b(f"{folder}\n{identity}".encode(), digest_size=12).hexdigest()
        self._base = Path(tempfile.gettempdir()) / f"dragoman-{os.getuid()}-{name}"
        self._files, self._place = self._base / "files", self._base / "place"
        while (lock := self._try_lock()) is None:
            time.sleep(_WAIT_S * random.uniform(0.5, 1.5))
        self._lock = lock
        self._base.mkdir(mode=0o700, exist_ok=True)
        if self._base.stat().st_uid != os.getuid():
            raise PermissionError(f"{self._base} belongs to somebody else")
        self.is_new = not self._place.exists()
        if self.is_new:
            shutil.rmtree(self._files, ignore_errors=True)
            self._files.mkdir()

    @property
    def folder(self) -> Path:
        """Where the folder itself is in the copy."""
        return self._files / self._place.read_text()

    def write(self, name: str, chunk: bytes) -> None:
        """The next part of a file."""
        path = self._files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as stream:
            stream.write(chunk)

    def finish(self, place: str) -> None:
        """All files are there; `place` is that of the folder among them."""
        self._place.with_suffix(".new").write_text(place)
        self._place.with_suffix(".new").rename(self._place)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def release(self) -> None:
        """Remove the copy if nobody else uses it."""
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(self._base, ignore_errors=True)
            self._base.with_suffix(".lock").unlink(missing_ok=True)
        os.close(self._lock)

    def _try_lock(self) -> int | None:
        """A shared lock of a copy that is finished, an exclusive one of none; None: somebody is at work on it."""
        path = self._base.with_suffix(".lock")
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if not self._place.exists():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last user may have removed the file that was opened, or finished a copy meanwhile.
            if os.fstat(lock).st_ino == path.stat().st_ino:
                if self._place.exists():
                    fcntl.flock(lock, fcntl.LOCK_SH)
                return lock
        os.close(lock)
        return None
