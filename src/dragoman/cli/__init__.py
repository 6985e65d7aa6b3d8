"""The command line. Only here do we print, exit or read options."""

from __future__ import annotations

import errno
import io
import os
import sys

from dragoman.cli.app import app
from dragoman.cli.signals import ending_in_order
from dragoman.errors import DragomanError, FailedError

__all__ = ["main"]


def main() -> None:
    """Run the `dragoman` command: exit status 0, 1 (failed) or 2 (bad usage or bad input)."""
    _prepare_streams()
    try:
        with ending_in_order():
            app()
    except DragomanError as error:
        _report(error)
        sys.exit(error.exit_status)
    except MemoryError:
        _report(DragomanError("out of memory; use smaller settings or a larger machine"))
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.EPIPE:  # else whoever read has seen enough
            where = error.filename or "standard output"
            _report(FailedError(f"{where}: cannot be read or written: {error.strerror or error}"))
        _forget_output()
        sys.exit(1)


def _report(error: DragomanError) -> None:
    """Print an error as plain text, line by line: messages may quote corpus text and the output of decoders."""
    from dragoman.text import printable

    lines = [printable(line) for line in f"error: {error}".split("\n")]
    sys.stderr.write("\n".join(lines) + "\n")


def _prepare_streams() -> None:
    """Closed ones are errors when they are used; characters that a stream cannot hold are none."""
    if sys.stdout is None:
        # For reading, so that writing raises.
        sys.stdout = io.TextIOWrapper(io.BufferedReader(io.FileIO(os.devnull)), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(os.devnull, "w")), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _forget_output() -> None:
    """What is still buffered cannot be written either: Python must not try at exit."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.close(descriptor)
