"""Whether anybody still waits for an answer: a page that asks anew, or a client that has gone, does not."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from threading import Event
from typing import Any

from dragoman.errors import FailedError

__all__ = ["NotWantedError", "check_wanted", "watching"]

_GONE: ContextVar[Event | None] = ContextVar("gone", default=None)
"""Set once the client of the request that a thread works on has gone."""


class NotWantedError(FailedError):
    """Work for a client that has gone."""


def check_wanted() -> None:
    """Raise NotWantedError if the client of this request has gone."""
    gone = _GONE.get()
    if gone is not None and gone.is_set():
        raise NotWantedError("the client has gone; nobody waits for the answer")


@contextlib.asynccontextmanager
async def watching(receive: Callable[[], Awaitable[Any]]) -> AsyncIterator[asyncio.Task[None]]:
    """Watch a connection whose request has been read; the task ends when the client has gone."""
    gone = Event()

    async def leave() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    token = _GONE.set(gone)
    watcher = asyncio.create_task(leave())
    try:
        yield watcher
    finally:
        watcher.cancel()
        _GONE.reset(token)
