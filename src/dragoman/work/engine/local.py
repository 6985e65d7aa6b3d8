"""Work on this machine, in this process: one worker whose native threads share every item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from dragoman.work.engine.base import Engine, Item, Job, Result

__all__ = ["LocalEngine"]


class LocalEngine(Engine):
    """One worker in this process; an item is shared by `n_threads` native threads."""

    name: ClassVar[str] = "local"

    def __init__(self, n_threads: int = 1) -> None:
        self.n_workers = 1
        self.n_threads = n_threads

    def map(self, job: Job[Item, Result], items: Iterable[Item]) -> Iterator[Result]:
        work = job.open(self.n_threads)
        for item in items:
            yield work(item)
