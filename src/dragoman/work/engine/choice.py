"""Engines by name."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from dragoman.cost import n_cores
from dragoman.errors import InputError
from dragoman.settings import takes_text
from dragoman.work.engine.base import Engine
from dragoman.work.engine.local import LocalEngine

__all__ = ["EngineName", "open_engine"]


class EngineName(StrEnum):
    """Where workers are: on this machine, or on a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


@takes_text
def open_engine(
    name: EngineName = EngineName.LOCAL,
    *,
    n_workers: int | None = None,
    n_threads: int = 0,
    address: str | None = None,
    warn: Callable[[str], None] | None = None,
) -> Engine:
    """An engine; close it, or use it as a context.

    Local: this process, or `n_workers` processes. Ray: actors on the cluster at `address` (HOST:PORT; by default as
    many as it has cores for), or without one on a cluster of this machine alone. `n_threads` are those of each worker;
    0: the cores of this machine shared among its workers, on a cluster one. `warn` is told of workers that are late.
    """
    if name is EngineName.LOCAL:
        if address is not None:
            raise InputError(f"the address {address} is that of a Ray cluster; choose the engine ray")
        if n_workers is None:
            return LocalEngine(n_threads or n_cores())
        from dragoman.work.engine.processes import ProcessEngine

        return ProcessEngine(n_workers, n_threads or max(1, n_cores() // n_workers), warn=warn)
    from dragoman.work.engine.ray_engine import RayEngine

    return RayEngine(n_workers, n_threads, address, warn=warn)
