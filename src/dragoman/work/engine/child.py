"""A worker process: `python -m dragoman.work.engine.child SOCKET N_THREADS`, started by ProcessEngine alone."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue

from dragoman.work.engine.opened import OpenJob, PackedJob

__all__: list[str] = []


def main(descriptor: int, n_threads: int) -> None:
    """Answer items until the parent closes the socket or is gone. Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(descriptor)
    sys.path[:] = pickle.loads(connection.recv_bytes())
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests), daemon=True).start()
    opened = OpenJob(n_threads)
    job = PackedJob(-1, b"")
    while True:
        request = requests.get()
        if request.startswith(b"j"):
            number, _, data = request[1:].partition(b":")
            job = PackedJob(int(number), data)
        else:
            connection.send_bytes(opened.answer(job, request[1:]))


def _receive(connection: Connection, requests: SimpleQueue[bytes]) -> None:
    """Read ahead, so that the end of the parent ends this process in the middle of an item too."""
    try:
        while True:
            requests.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
