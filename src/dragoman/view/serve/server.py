"""The server process: a socket of this machine alone, and uvicorn behind it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from dragoman.errors import FailedError
from dragoman.view.serve.api import make_app
from dragoman.view.serve.explorer import Explorer

__all__ = ["HOST", "open_socket", "serve"]

HOST = "127.0.0.1"
_WAITING = 512
"""Connections that may wait to be accepted."""


def open_socket(port: int) -> socket.socket:
    """A listening socket of 127.0.0.1; port 0 takes a free one. Raises FailedError if the port is taken."""
    # Of a socket whose protocol is named, asyncio sends small parts at once; else an answer waits 40 ms for a receipt.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
        made.listen(_WAITING)
    except OSError as error:
        made.close()
        raise FailedError(
            f"port {port} of {HOST} cannot be used: {error.strerror or error}; choose another with `port`, 0 for any"
        ) from error
    return made


def serve(explorer: Explorer, listening: socket.socket, *, ready: Callable[[str], None]) -> None:
    """Answer until Ctrl-C or SIGTERM. `ready` is told the address once the socket listens."""
    config = uvicorn.Config(
        make_app(explorer),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_keep_alive=10,
        timeout_graceful_shutdown=3,
        backlog=_WAITING,
    )
    ready(f"http://{HOST}:{listening.getsockname()[1]}/")
    uvicorn.Server(config).run(sockets=[listening])
