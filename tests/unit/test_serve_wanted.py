"""Work for a client that has gone ends, so that a page that asks anew at every key does not wait for what it asked."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest

from dragoman.view.serve import Explorer, Limits
from dragoman.view.serve.api import Workers, make_app
from dragoman.view.serve.opened import deadline
from dragoman.view.serve.wanted import NotWantedError, watching


def asked(app, leaves):
    """The messages that answer a request whose client closes the connection once `leaves` is set."""
    body = json.dumps({"system": "phrase", "text": "der"}).encode()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/explain",
        "raw_path": b"/api/explain",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }
    sent = []

    async def run():
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            if messages:
                return messages.pop()
            await asyncio.to_thread(leaves.wait)
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        try:
            await app(scope, receive, send)
        finally:
            leaves.set()  # of a client that stayed

    asyncio.run(run())
    return sent


def test_a_search_ends_when_its_client_has_gone(made, monkeypatch):
    explorer = Explorer.load([made / "phrase"], limits=Limits(timeout_s=600))
    leaves, ended = threading.Event(), []

    def endless(*_, **__):
        stop = deadline(60)
        leaves.set()
        try:
            while True:
                stop(0)
                time.sleep(0.01)
        except Exception as error:
            ended.append(str(error))
            raise

    monkeypatch.setattr(explorer, "explain", endless)
    asked(make_app(explorer), leaves)
    assert len(ended) == 1
    assert "the client has gone" in ended[0]


def test_work_is_not_begun_for_a_client_that_has_gone():
    workers, free, begun = Workers(Limits(workers=1)), threading.Event(), []

    async def gone():
        return {"type": "http.disconnect"}

    async def both():
        first = asyncio.create_task(workers.run(free.wait))  # the only thread is busy
        async with watching(gone) as watcher:
            second = asyncio.create_task(workers.run(lambda: begun.append(1)))
            await watcher
            free.set()
            with pytest.raises(NotWantedError):
                await second
        assert await first

    asyncio.run(both())
    assert begun == []


def test_who_stays_is_answered(made):
    explorer = Explorer.load([made / "phrase"])
    sent = asked(make_app(explorer), threading.Event())
    assert sent[0]["status"] == 200
    assert json.loads(sent[1]["body"])["candidates"]
