"""What engines with many workers share: items handed out as workers want them, results in order, lost workers replaced.

Every worker has a thread here that starts it, hands it one item after the other and waits for the answers. So workers
go on while the results are used. At most two items a worker are taken ahead of the result that is asked for.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dragoman.engine.base import Engine, Item, Job, Result
from dragoman.engine.opened import PackedJob, unpacked
from dragoman.errors import FailedError

__all__ = ["Worker", "WorkerEngine", "WorkerLostError"]

_AHEAD = 2
_ATTEMPTS = 3


class WorkerLostError(Exception):
    """A worker ended before it answered; the message says how."""


class Worker(ABC):
    """Something that answers items, one at a time: a process here or elsewhere."""

    @abstractmethod
    def answer(self, job: PackedJob, item: bytes) -> bytes:
        """What OpenJob.answer gives there. Raises WorkerLostError if the worker ends."""

    @abstractmethod
    def end(self) -> None:
        """End it now, from any thread; whoever waits for an answer gets WorkerLostError."""


@dataclass(slots=True, eq=False)
class _Task:
    job: PackedJob
    number: int
    item: bytes
    n_lost: int = 0
    answer: bytes | None = None
    error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.answer is not None or self.error is not None


class WorkerEngine(Engine):
    """Workers that are started when there is work, and stay until the engine is closed."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._state = threading.Condition()
        self._tasks: deque[_Task] = deque()
        self._workers: set[Worker] = set()
        self._threads: list[threading.Thread] = []
        self._n_jobs = 0
        self._last: tuple[Job[Any, Any], PackedJob] | None = None
        self._closed = False
        self._broken: Exception | None = None

    @abstractmethod
    def _start(self) -> Worker | None:
        """A new worker; None if the engine was closed meanwhile. Raises WorkerLostError where another may succeed."""

    def _pack(self, job: Job[Any, Any]) -> PackedJob:
        self._n_jobs += 1
        return PackedJob(self._n_jobs, pickle.dumps(job, pickle.HIGHEST_PROTOCOL))

    def _packed(self, job: Job[Any, Any]) -> PackedJob:
        """The same job again keeps its number, and what workers opened for it."""
        if self._last is None or self._last[0] is not job:
            self._last = (job, self._pack(job))
        return self._last[1]

    def map(self, job: Job[Item, Result], items: Iterable[Item]) -> Iterator[Result]:
        if self._closed:
            raise ValueError("the engine is closed")
        packed = self._packed(job)
        self._start_threads()
        source = (
            _Task(packed, number, pickle.dumps(item, pickle.HIGHEST_PROTOCOL)) for number, item in enumerate(items)
        )
        pending: deque[_Task] = deque()
        failure: Exception | None = None
        try:
            while True:
                while failure is None and len(pending) < _AHEAD * self.n_workers:
                    try:
                        task = next(source, None)
                    except Exception as error:  # raised after the results of what came before
                        failure = error
                        break
                    if task is None:
                        break
                    pending.append(task)
                    self._offer(task)
                if pending:
                    yield self._result(pending.popleft())
                elif failure is not None:
                    raise failure
                else:
                    return
        finally:
            with self._state:
                for task in pending:
                    with contextlib.suppress(ValueError):  # a worker has it, or had it
                        self._tasks.remove(task)

    def close(self) -> None:
        with self._state:
            self._closed = True
            self._tasks.clear()
            workers = list(self._workers)
            self._state.notify_all()
        for worker in workers:
            worker.end()
        for thread in self._threads:
            thread.join()

    def _start_threads(self) -> None:
        while len(self._threads) < self.n_workers:
            thread = threading.Thread(target=self._serve, name=f"dragoman-worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _offer(self, task: _Task, *, first: bool = False) -> None:
        with self._state:
            self._tasks.insert(0 if first else len(self._tasks), task)
            self._state.notify_all()

    def _result(self, task: _Task) -> Any:
        with self._state:
            self._state.wait_for(lambda: task.done or self._broken is not None or self._closed)
        if error := task.error or self._broken:
            raise error
        if task.answer is None:
            raise ValueError("the engine was closed before all results were there")
        return unpacked(task.answer)

    def _serve(self) -> None:
        """What the thread of a worker does."""
        n_lost = 0
        while self._wait_for_work():
            try:
                worker = self._start()
            except WorkerLostError as lost:
                n_lost += 1
                if n_lost < _ATTEMPTS:
                    continue
                self._break(FailedError(f"{n_lost} workers were lost while they started (the last {lost})"))
                return
            except Exception as error:
                self._break(error)
                return
            if worker is None or not self._join(worker):
                return
            n_lost = 0
            try:
                self._work_with(worker)
            finally:
                with self._state:
                    self._workers.discard(worker)
                worker.end()

    def _break(self, error: Exception) -> None:
        """There can be no more workers: whoever waits for results hears of it."""
        with self._state:
            self._broken = error
            self._state.notify_all()

    def _work_with(self, worker: Worker) -> None:
        """Hand out items until the worker is lost or the engine closed."""
        while self._wait_for_work():
            with self._state:
                task = self._tasks.popleft() if self._tasks else None
            if task is None:
                continue
            try:
                task.answer = worker.answer(task.job, task.item)
            except WorkerLostError as lost:
                task.n_lost += 1
                if task.n_lost < _ATTEMPTS:
                    self._offer(task, first=True)
                    return
                task.error = FailedError(
                    f"{task.n_lost} workers were lost, one after the other, at item {task.number} (the last {lost}); "
                    "if memory ran out, use fewer workers or smaller settings"
                )
                return
            except Exception as error:  # of the engine, not of the job: whoever waits must hear of it
                task.error = error
                return
            finally:
                with self._state:
                    self._state.notify_all()

    def _wait_for_work(self) -> bool:
        with self._state:
            self._state.wait_for(lambda: self._tasks or self._closed)
            return not self._closed

    def _join(self, worker: Worker) -> bool:
        """Count a worker in, unless the engine was closed while it started."""
        with self._state:
            if not self._closed:
                self._workers.add(worker)
                return True
        worker.end()
        return False
