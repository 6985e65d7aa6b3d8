"""Lines of UTF-8 text files. Only a line feed ends a line; a byte-order mark, and a carriage return before the
line feed, are dropped.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from dragoman.errors import InputError, MismatchError, naming
from dragoman.text.compression import decompressed
from dragoman.types import PathLike, Paths, one_or_many

__all__ = [
    "MAX_LINE_BYTES",
    "LineBlock",
    "count_lines",
    "count_words",
    "read_arriving_lines",
    "read_blocks",
    "read_content",
    "read_lines",
    "read_parallel",
]

MAX_LINE_BYTES = 1 << 24
"""Longer lines are an error: the file is probably not text with one sentence per line."""


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Consecutive complete lines of a file as bytes, and the line number (from 1) of the first."""

    data: bytes
    first_line: int


def read_content(path: PathLike) -> Iterator[bytes]:
    """Decompressed blocks of a plain, gz, xz or zst file (`-`: standard input)."""
    name = os.fspath(path)
    try:
        with naming(name), _open_binary(name) as stream:
            yield from decompressed(stream)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=name) from error


def read_blocks(path: PathLike) -> Iterator[LineBlock]:
    """Complete lines of a plain, gz, xz or zst file (`-`: standard input) in blocks of about 1 MiB.

    The bytes are not decoded yet. Every block but the last ends with a newline.
    """
    name = os.fspath(path)
    line = 1
    pending: list[bytes] = []  # pieces of an incomplete line
    pending_bytes = 0
    for block in _without_bom(read_content(path), name):
        cut = block.rfind(b"\n") + 1
        if cut:
            pending.append(block[:cut])
            data = b"".join(pending)
            yield LineBlock(data, line)
            line += data.count(b"\n")
            pending, pending_bytes = [], 0
        if cut < len(block):
            pending.append(block[cut:])
            pending_bytes += len(block) - cut
        if pending_bytes > MAX_LINE_BYTES:
            raise _too_long(name, line)
    if pending:
        yield LineBlock(b"".join(pending), line)


def read_lines(path: PathLike) -> Iterator[str]:
    """The lines of a file, without line ends. Raises InputError with file and line for invalid UTF-8."""
    for block in read_blocks(path):
        yield from _decoded(block, path)


def read_arriving_lines(path: PathLike) -> Iterator[str]:
    """The lines of a pipe or terminal, each as soon as it is there, not waiting for a block; never decompressed."""
    name = os.fspath(path)
    try:
        with naming(name), _open_binary(name) as stream:
            lines = iter(partial(stream.readline, MAX_LINE_BYTES + 1), b"")
            for number, line in enumerate(_without_bom(lines, name), start=1):
                if len(line) > MAX_LINE_BYTES:
                    raise _too_long(name, number)
                yield from _decoded(LineBlock(line, number), path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=name) from error


def _decoded(block: LineBlock, path: PathLike) -> list[str]:
    """The lines of a block, without line ends."""
    try:
        text = block.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = block.first_line + block.data.count(b"\n", 0, error.start)
        raise InputError(
            f"invalid UTF-8 (byte {block.data[error.start]}); convert the file to UTF-8, for instance with iconv",
            path=path,
            line=line,
        ) from None
    lines = text.split("\n")
    if text.endswith("\n"):
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _too_long(name: str, line: int) -> InputError:
    return InputError(
        f"a line of more than {MAX_LINE_BYTES >> 20} MiB; is this text with one sentence per line?",
        path=name,
        line=line,
    )


def read_parallel(paths: Paths) -> Iterator[tuple[str, ...]]:
    """Tuples of corresponding lines of line-aligned files. Raises MismatchError when their line counts differ."""
    paths = one_or_many(paths)
    iterators = [read_lines(path) for path in paths]
    n_lines = 0
    while True:
        lines = [next(iterator, None) for iterator in iterators]
        present = [line for line in lines if line is not None]
        if len(present) == len(lines):
            n_lines += 1
            yield tuple(present)
            continue
        if present:
            counts = [
                n_lines + (line is not None) + sum(1 for _ in iterator)
                for line, iterator in zip(lines, iterators, strict=True)
            ]
            shown = ", ".join(f"{os.fspath(path)} has {count}" for path, count in zip(paths, counts, strict=True))
            raise MismatchError(f"line-aligned files must have the same number of lines, but {shown}")
        return


def count_lines(path: PathLike) -> int:
    """Number of lines, including a last line without a line feed."""
    n_lines = 0
    for block in read_blocks(path):
        n_lines += block.data.count(b"\n") + (not block.data.endswith(b"\n"))
    return n_lines


def count_words(path: PathLike) -> int:
    """Number of words between white space."""
    return sum(len(block.data.split()) for block in read_blocks(path))


def _open_binary(name: str) -> BinaryIO:
    if name == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; give a file name")
        return io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
    if not name:
        raise InputError("empty file name")
    if Path(name).is_dir():
        raise InputError("is a folder; expected a file")
    return Path(name).open("rb")


def _without_bom(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    first = next(blocks, b"")
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError("looks like UTF-16; convert the file to UTF-8, for instance with iconv", path=name, line=1)
    if first := first.removeprefix(codecs.BOM_UTF8):
        yield first
    yield from blocks
