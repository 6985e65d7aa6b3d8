"""Atomic file replacement (write, fsync, rename): readers see the old content or the new, never a part of it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import itertools
import lzma
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

import zstandard

from dragoman.errors import FailedError
from dragoman.types import PathLike

__all__ = ["LineWriter", "atomic_output", "open_binary_output", "open_output", "replace_bytes", "sync_path"]

_MOST_WRITERS = 100
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}
"""Some file systems of clusters have no locks."""


class LineWriter:
    """Writes lines of text to a binary stream; `line_buffered`: each goes out at once."""

    def __init__(self, stream: IO[bytes], *, line_buffered: bool = False) -> None:
        self._stream = stream
        self._line_buffered = line_buffered

    def write(self, line: str) -> None:
        self.write_block(line.encode("utf-8") + b"\n")

    def write_block(self, lines: bytes) -> None:
        """Write complete lines that are already encoded, line feeds included."""
        self._stream.write(lines)
        if self._line_buffered:
            self._stream.flush()


@contextlib.contextmanager
def atomic_output(path: PathLike) -> Iterator[BinaryIO]:
    """A binary stream that replaces `path` when the block succeeds, and is discarded otherwise.

    The target of a symbolic link is replaced, not the link; devices and pipes are written to directly.
    """
    if _is_special(path):
        with _as_it_is(path) as stream:
            yield stream
        return
    target = Path(path).resolve() if Path(path).is_symlink() else Path(path)
    try:
        with _scratch(target) as (stream, temporary):
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            temporary.replace(target)
    except OSError as error:
        raise FailedError(f"{target}: cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _scratch(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """An empty file beside the target, removed unless it was renamed; its lock is held to the end."""
    stream, path = _open_scratch(target)
    with stream:
        try:
            yield stream, path
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _open_scratch(target: Path) -> tuple[BinaryIO, Path]:
    """A file that no other writer has, under the first of a few names: so what a killed one left is used again."""
    paths = [target.with_name(f".{target.name}.{number}.part") for number in range(_MOST_WRITERS)]
    for number, path in enumerate(paths):
        try:
            if (stream := _locked(path)) is not None:
                _remove_left(paths[number + 1 :])
                return stream, path
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            path.unlink(missing_ok=True)
            break
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    return os.fdopen(descriptor, "wb"), Path(name)


def _remove_left(paths: Iterable[Path]) -> None:
    """Those of writers that were killed while others wrote the same."""
    for path in itertools.takewhile(Path.exists, paths):
        if (stream := _locked(path)) is not None:
            with stream:
                path.unlink()


def _locked(path: Path) -> BinaryIO | None:
    """The file at a path, empty; None where it is somebody else's or another writer has it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EACCES, errno.EISDIR} and os.path.lexists(path):
            return None
        raise
    stream = os.fdopen(descriptor, "wb")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and os.path.samestat(found, path.lstat()):
            stream.truncate(0)
            return stream
    except (BlockingIOError, FileNotFoundError):  # locked, or renamed by its writer before we had the lock
        pass
    except BaseException:
        stream.close()
        raise
    stream.close()
    return None


def _is_special(path: PathLike) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except OSError:  # it does not exist yet, or mkstemp will report the error
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextlib.contextmanager
def _as_it_is(path: PathLike) -> Iterator[BinaryIO]:
    try:
        with Path(path).open("wb") as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FailedError(f"{path}: cannot be written: {error.strerror or error}") from error


def replace_bytes(path: PathLike, data: bytes) -> None:
    """Replace a file's content atomically."""
    with atomic_output(path) as stream:
        stream.write(data)


def sync_path(path: PathLike) -> None:
    """Flush a file, or the entries of a folder, to disk (fsync)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def open_output(path: PathLike, *, line_buffered: bool = False) -> Iterator[LineWriter]:
    """Write lines to `path` (compressed when it ends in .gz, .xz or .zst; `-`: standard output)."""
    with open_binary_output(path) as stream:
        yield LineWriter(stream, line_buffered=line_buffered)


@contextlib.contextmanager
def open_binary_output(path: PathLike) -> Iterator[IO[bytes]]:
    """Write bytes to `path` (compressed when it ends in .gz, .xz or .zst; `-`: standard output)."""
    name = os.fspath(path)
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with atomic_output(name) as stream, _compressor(name, stream) as compressed:
        yield compressed


def _compressor(name: str, stream: BinaryIO) -> contextlib.AbstractContextManager[IO[bytes]]:
    match Path(name).suffix:
        case ".gz":
            # No file name or time stamp in the header: equal content gives equal bytes.
            return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0))
        case ".xz":
            return cast("IO[bytes]", lzma.LZMAFile(stream, "wb"))
        case ".zst":
            writer = zstandard.ZstdCompressor().stream_writer(stream, closefd=False)
            return cast("contextlib.AbstractContextManager[IO[bytes]]", writer)
        case _:
            return contextlib.nullcontext(stream)
