"""Requests to the explorer's application, without a network."""

from __future__ import annotations

import asyncio

import httpx

from dragoman.view.serve.api import make_app


def asking(explorer):
    """A function that sends one request and returns the answer."""
    app = make_app(explorer)

    def run(method, path, **more):
        async def request():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
                return await client.request(method, path, **more)

        return asyncio.run(request())

    return run
