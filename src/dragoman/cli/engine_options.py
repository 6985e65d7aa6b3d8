"""The options of commands whose work can be shared among workers, and the engine that they name."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from dragoman.cli.session import Session
from dragoman.errors import InputError
from dragoman.work.engine import Engine, EngineName, open_engine

__all__ = ["Address", "EngineOption", "Workers", "engine_of"]

_workers = partial(typer.Option, rich_help_panel="Workers")
EngineOption = Annotated[
    EngineName, _workers("--engine", help="Where workers are: on this machine, or on a Ray cluster (dragoman[ray]).")
]
Workers = Annotated[
    int | None,
    _workers(
        min=1,
        metavar="N",
        help="Worker processes (ray: actors) of --threads each; unless given, the threads of this process (ray: a "
        "worker for each core of the cluster). Results do not depend on it.",
    ),
]
Address = Annotated[
    str | None,
    _workers(metavar="HOST:PORT", help="A running Ray cluster; without it, one is started on this machine."),
]


def engine_of(
    session: Session, engine: EngineName, workers: int | None, address: str | None, *, threads: int
) -> Engine:
    """The engine that the options name; `threads` is the option as it was given, 0 for all cores."""
    if address is not None and engine is not EngineName.RAY:
        raise InputError("--address names a Ray cluster; add --engine ray")

    def warn(text: str) -> None:
        session.warn(text)

    return open_engine(engine, n_workers=workers, n_threads=threads, address=address, warn=warn)
