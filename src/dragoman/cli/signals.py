"""Signals to end, TERM and HUP: decoders, workers and scratch files go first, as with Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["ending_in_order"]


class _Ended(SystemExit):
    def __init__(self, ending: int) -> None:
        super().__init__(128 + ending)  # for the first process of a container, which does not end by signals
        self.signal = ending


def _end(ending: int, _frame: FrameType | None) -> None:
    raise _Ended(ending)


@contextlib.contextmanager
def ending_in_order() -> Iterator[None]:
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
