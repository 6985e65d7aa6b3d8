"""What an engine does, wherever its workers are: a job over many items, results in the order of the items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import ClassVar, Generic, Self, TypeVar

__all__ = ["Engine", "Item", "Job", "Result"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Job(ABC, Generic[Item, Result]):
    """What a worker does with every item. Pickled to each worker once, so it is small: systems by reference.

    Results must depend on the item and the job alone, not on what the worker did before.
    """

    repeatable: ClassVar[bool] = True
    """Whether two workers may do one item at the same time: not where they write to the same place."""

    @abstractmethod
    def open(self, n_threads: int) -> Callable[[Item], Result]:
        """What is to be called with the items of one worker, with its state (a loaded system) and native threads."""


class Engine(AbstractContextManager["Engine"]):
    """Workers for jobs. Closing it, or leaving its context, ends them."""

    name: ClassVar[str]
    n_workers: int
    n_threads: int
    """Native threads of each worker."""

    @abstractmethod
    def map(self, job: Job[Item, Result], items: Iterable[Item]) -> Iterator[Result]:
        """The result of every item, in their order. Items are taken a few at a time, as workers want them.

        A lost worker's items are done again. What a job raises is raised here. Workers keep the last job open: the
        same object again finds their state.
        """

    def close(self) -> None:
        """End the workers. Work that was begun and not waited for is lost."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
