"""The command line. Only here do we print, exit or read options."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from dragoman.cli.app import app
from dragoman.errors import DragomanError, FailedError

__all__ = ["main"]


def main() -> None:
    """Run the `dragoman` command: exit status 0, 1 (failed) or 2 (bad usage or bad input)."""
    _prepare_streams()
    try:
        with _ending_in_order():
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


class _Ended(SystemExit):
    """TERM or HUP: decoders, workers and scratch files go first, as with Ctrl-C."""

    def __init__(self, ending: int) -> None:
        super().__init__(128 + ending)  # for the first process of a container, which does not end by signals
        self.signal = ending


def _end(ending: int, _frame: FrameType | None) -> None:
    raise _Ended(ending)


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Inside the block, TERM and HUP unwind the stack; then this process ends by them, as the sender expects."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {ending: signal.getsignal(ending) for ending in (signal.SIGTERM, signal.SIGHUP)}
    taken = [ending for ending, handler in handlers.items() if handler is signal.SIG_DFL]  # nohup ignores HUP
    for ending in taken:
        signal.signal(ending, _end)
    try:
        yield
    except _Ended as ended:
        signal.signal(ended.signal, signal.SIG_DFL)
        os.kill(os.getpid(), ended.signal)
        raise
    finally:
        for ending in taken:
            signal.signal(ending, signal.SIG_DFL)


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
