"""A job at a worker, in bytes: what arrives, what goes back, and errors that travel with their type."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dragoman.errors import DragomanError, FailedError
from dragoman.work.engine.base import Job

__all__ = ["OpenJob", "PackedJob", "unpacked"]


@dataclass(frozen=True, slots=True)
class PackedJob:
    """A job as workers get it. Numbers tell jobs of one engine apart."""

    number: int
    data: bytes


class OpenJob:
    """The job that a worker holds open, one at a time."""

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads
        self._number = -1
        self._work: Callable[[Any], Any] | None = None

    def has(self, number: int) -> bool:
        """Whether this job is the open one."""
        return self._number == number and self._work is not None

    def answer(self, packed: PackedJob, item: bytes) -> bytes:
        """The pickled result of an item, or the error that the job raised."""
        try:
            if not self.has(packed.number):
                self._work = None  # the state of the last job goes before that of the next one comes
                job: Job[Any, Any] = pickle.loads(packed.data)
                self._number, self._work = packed.number, job.open(self._n_threads)
            assert self._work is not None
            return pickle.dumps((True, self._work(pickle.loads(item))), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            return _dump(error)


def unpacked(answer: bytes) -> Any:
    """The result in an answer. What the job raised is raised here."""
    good, value = pickle.loads(answer)
    if good:
        return value
    raise value


def _dump(error: Exception) -> bytes:
    text = "".join(traceback.format_exception(error))
    if not isinstance(error, DragomanError):
        error.add_note(f"In the worker:\n{text}")
    try:
        data = pickle.dumps((False, error))
        pickle.loads(data)
    except Exception:
        return pickle.dumps((False, FailedError(f"{type(error).__name__} in a worker: {error}\n{text}")))
    return data
