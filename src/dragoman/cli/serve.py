"""`dragoman serve`: a live page on systems."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.session import Json, Quiet, Session, Threads
from dragoman.errors import needing
from dragoman.view.serve import Explorer, Limits, read_recorded

__all__ = ["serve"]

_PORT = 8765


def serve(
    systems: Annotated[list[Path], typer.Argument(metavar="SYSTEM...", help="Folders of systems.")],
    run: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A run to show too: of `dragoman run` or `tune --run`, or a tuned system."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of 127.0.0.1 to answer on; 0 takes any that is free.")
    ] = _PORT,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Open a page in the browser where systems translate while one types, and show why they translate so.

    Derivations, features, candidates, the search space, weights as sliders; systems side by side. For this machine
    alone (127.0.0.1); the API is described at /docs, and POST /translate is LibreTranslate's. Ctrl-C ends it. Needs the
    extra dragoman[web].

    Example: dragoman serve system tuned --run tuned
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    with needing("dragoman[web]"):
        from dragoman.view.serve.server import open_socket
        from dragoman.view.serve.server import serve as answer
    recorded = None if run is None else read_recorded(run)
    explorer = Explorer.load(systems, run=recorded, limits=Limits(workers=session.n_threads))
    listening = open_socket(port)

    def ready(address: str) -> None:
        session.emit({"url": address, "systems": list(explorer.systems)})
        if not json:
            session.say(f"{', '.join(explorer.systems)} at {address} (Ctrl-C ends it)")

    with contextlib.suppress(KeyboardInterrupt):
        answer(explorer, listening, ready=ready)
