"""What stands before the API: who may ask, how much, and what a browser may do with the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from dragoman.view.serve.wanted import watching

__all__ = ["App", "Guard"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
"""A page of another name that resolves to this machine (DNS rebinding) is refused."""
_SECURITY = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Guard:
    """An ASGI application before another one: checks Host and Origin, reads the body within limits, adds headers."""

    def __init__(self, app: App, *, body_bytes: int, body_s: float = 10.0) -> None:
        self._app = app
        self._body_bytes = body_bytes
        self._body_s = body_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            _check_names(scope)
            body = await self._body(scope, receive)
        except _RefusedError as refused:
            await _answer(send, refused.status, str(refused))
            return
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                await asyncio.shield(watcher)
                return {"type": "http.disconnect"}
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_SECURITY.items()]
            await send(message)

        async with watching(receive) as watcher:
            await self._app(scope, replay, secured)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        declared = _header(scope, b"content-length")
        if declared.isdigit() and int(declared) > self._body_bytes:
            raise _RefusedError(413, f"the request has {int(declared):,} bytes; {self._less()}")
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._body_s):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise _RefusedError(400, "the request ended early; send it again, whole")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self._body_bytes:
                        raise _RefusedError(413, f"the request is too large; {self._less()}")
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise _RefusedError(
                408, f"the request took longer than {self._body_s:g} s to arrive; send it again, at once or in parts"
            ) from None

    def _less(self) -> str:
        return f"the maximum is {self._body_bytes:,} bytes. Send the text in parts"


def _check_names(scope: Scope) -> None:
    host = _header(scope, b"host")
    if _name_of(f"//{host}") not in HOSTS:
        raise _RefusedError(
            403,
            "the host must be 127.0.0.1 or localhost: the server is for this machine alone. From another one, forward "
            "its port (ssh -L) and open that port of localhost",
        )
    origin = _header(scope, b"origin")
    if origin and (urlsplit(origin).scheme != "http" or urlsplit(origin).netloc.lower() != host.lower()):
        raise _RefusedError(
            403,
            f"a page of another origin may not ask; open http://{host}/ instead, or ask from a program, without the "
            "header Origin",
        )
    # Browsers name no origin where a page only loads something; following a link is no harm.
    if (
        _header(scope, b"sec-fetch-site") in {"cross-site", "same-site"}
        and _header(scope, b"sec-fetch-mode") != "navigate"
    ):
        raise _RefusedError(403, f"a page of another site may not load this; open http://{host}/ instead")


def _name_of(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return None if parts.username or parts.path else parts.hostname


def _header(scope: Scope, name: bytes) -> str:
    values = [value for key, value in scope["headers"] if key.lower() == name]
    if len(values) > 1:
        raise _RefusedError(400, f"the header {name.decode()} comes twice; send it once")
    return values[0].decode("latin-1").strip() if values else ""


async def _answer(send: Send, status: int, message: str) -> None:
    body = json.dumps({"error": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *_SECURITY.items()]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
