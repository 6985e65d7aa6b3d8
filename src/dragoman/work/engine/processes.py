"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import ClassVar

from dragoman.errors import FailedError
from dragoman.work.engine.opened import PackedJob
from dragoman.work.engine.patience import Patience
from dragoman.work.engine.workers import Worker, WorkerEngine, WorkerLostError

__all__ = ["ProcessEngine"]

_PATIENCE_S = 2.0


class ProcessEngine(WorkerEngine):
    """`n_workers` processes of `n_threads` native threads each, started afresh: they share no state with this one."""

    name: ClassVar[str] = "processes"

    def __init__(
        self,
        n_workers: int,
        n_threads: int = 1,
        *,
        patience: Patience | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(n_workers, patience=patience, warn=warn)
        self.n_threads = n_threads

    def _start(self, *, spare: bool) -> Worker:
        return _Process(self.n_threads)


class _Process(Worker):
    """A child and the socket to it. The child ends when the other end of the socket is closed, however that happens."""

    def __init__(self, n_threads: int) -> None:
        ours, theirs = socket.socketpair()
        # -P: modules of the current folder are not those of Python.
        command = [sys.executable, "-P", "-m", "dragoman.work.engine.child", str(theirs.fileno()), str(n_threads)]
        with theirs:
            try:
                self._process = subprocess.Popen(
                    command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2
                )
            except OSError as error:
                ours.close()
                raise FailedError(f"a worker process cannot be started: {error.strerror or error}") from error
        self.place = f"worker process {self._process.pid}"
        self._socket = ours
        self._connection = Connection(os.dup(ours.fileno()))
        self._job = -1
        with contextlib.suppress(OSError):  # a child that is gone is noticed at the first item
            self._connection.send_bytes(pickle.dumps(sys.path))

    def answer(self, job: PackedJob, item: bytes) -> bytes:
        try:
            if self._job != job.number:
                self._connection.send_bytes(b"j%d:%b" % (job.number, job.data))
                self._job = job.number
            self._connection.send_bytes(b"i" + item)
            return self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise WorkerLostError(self._how_it_ended()) from error

    def end(self) -> None:
        with contextlib.suppress(OSError), self._socket:
            self._socket.shutdown(socket.SHUT_RDWR)
        self._reap()

    def _how_it_ended(self) -> str:
        status = self._reap()
        return f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"

    def _reap(self) -> int:
        try:
            return self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
