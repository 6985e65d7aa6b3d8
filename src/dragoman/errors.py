"""The exceptions of Dragoman.

DragomanError                 everything Dragoman raises on purpose
├── InputError                the user's files or options are wrong: exit status 2
│   └── MismatchError         files that should fit together do not
└── FailedError               the operation itself failed: exit status 1

A message says what is wrong, where, what was expected, and what to do.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

__all__ = ["DragomanError", "FailedError", "InputError", "MismatchError", "naming", "needing"]


class DragomanError(Exception):
    """Base class of all errors that Dragoman raises on purpose."""

    exit_status = 1

    @property
    def message(self) -> str:
        """What is wrong, without where."""
        return str(self.args[0])

    def reword(self, change: Callable[[str], str]) -> None:
        """Say the same in the words of whoever shows it."""
        self.args = (change(self.message),)


class InputError(DragomanError):
    """Invalid user input, with the file and the line number (from 1) where known."""

    exit_status = 2

    def __init__(self, message: str, *, path: str | os.PathLike[str] | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = None if path is None else os.fspath(path)
        self.line = line

    def at(self, path: str | os.PathLike[str]) -> InputError:
        """The same error with the file name added, for readers that do not know it."""
        return type(self)(self.message, path=path, line=self.line)

    def __str__(self) -> str:
        where = [part for part in (self.path, f"line {self.line}" if self.line else None) if part]
        return f"{', '.join(where)}: {self.message}" if where else self.message


class MismatchError(InputError):
    """Two inputs do not match each other (line counts, formats, sizes)."""


class FailedError(DragomanError):
    """The operation failed although the input was valid."""


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add this file name to InputErrors raised inside the block without one."""
    try:
        yield
    except InputError as error:
        if error.path:
            raise
        raise error.at(path) from error.__cause__


@contextlib.contextmanager
def needing(distribution: str) -> Iterator[None]:
    """Say what to install where an import inside the block finds nothing."""
    try:
        yield
    except ImportError as error:
        raise InputError(f"{error.name} is not installed; install {distribution}") from error
