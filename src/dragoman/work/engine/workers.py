"""What engines with many workers share: items handed out as workers want them, results in order, lost workers replaced.

Every worker has a thread here that starts it, hands it one item after the other and waits for the answers. So workers
go on while the results are used. At most two items a worker are taken ahead of the result that is asked for.

Whoever waits for a result looks after the workers meanwhile. One that is late (`Patience`) may hang, and would be
waited for without end: its item is done again by another, the first answer counts, and then the late one is ended.
Where all are late, a spare worker is started.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dragoman.errors import FailedError
from dragoman.work.engine.base import Engine, Item, Job, Result
from dragoman.work.engine.opened import PackedJob, unpacked
from dragoman.work.engine.patience import Durations, Patience

__all__ = ["Worker", "WorkerEngine", "WorkerLostError"]

_AHEAD = 2
_ATTEMPTS = 3
_LOOK_S = 0.25


class WorkerLostError(Exception):
    """A worker ended before it answered; the message says how."""


class Worker(ABC):
    """Something that answers items, one at a time: a process here or elsewhere."""

    place: str
    """Which process this is, and on which host if it is not this one."""

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
    durations: Durations
    repeatable: bool
    n_lost: int = 0
    n_repeated: int = 0
    answer: bytes | None = None
    error: Exception | None = None
    abandoned: bool = False

    @property
    def done(self) -> bool:
        return self.answer is not None or self.error is not None or self.abandoned


@dataclass(slots=True, eq=False)
class _Attempt:
    """A worker at an item."""

    task: _Task
    worker: Worker
    opening: bool
    began: float = field(default_factory=time.monotonic)
    told: bool = False
    repeated: bool = False

    def seconds(self) -> float:
        return time.monotonic() - self.began


class WorkerEngine(Engine):
    """Workers that are started when there is work, and stay until the engine is closed.

    `warn` is told of workers that are late.
    """

    def __init__(
        self, n_workers: int, *, patience: Patience | None = None, warn: Callable[[str], None] | None = None
    ) -> None:
        self.n_workers = n_workers
        self._patience = patience or Patience()
        self._warn = warn or (lambda _: None)
        self._state = threading.Condition()
        self._tasks: deque[_Task] = deque()
        self._attempts: set[_Attempt] = set()
        self._workers: set[Worker] = set()
        self._threads: list[threading.Thread] = []
        self._n_jobs = 0
        self._last: tuple[Job[Any, Any], PackedJob] | None = None
        self._closed = False
        self._broken: Exception | None = None

    @abstractmethod
    def _start(self, *, spare: bool) -> Worker | None:
        """A new worker; None if the engine was closed meanwhile. Raises WorkerLostError where another may succeed.

        A spare one stands in for workers that seem to hang and still hold what they were given.
        """

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
        durations = Durations()
        source = (
            _Task(packed, number, pickle.dumps(item, pickle.HIGHEST_PROTOCOL), durations, job.repeatable)
            for number, item in enumerate(items)
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
                    task.abandoned = True
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
            self._start_thread(spare=False)

    def _start_thread(self, *, spare: bool) -> None:
        name = f"dragoman-worker-{len(self._threads)}"
        thread = threading.Thread(target=self._serve, kwargs={"spare": spare}, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _offer(self, task: _Task, *, first: bool = False) -> None:
        with self._state:
            self._tasks.insert(0 if first else len(self._tasks), task)
            self._state.notify_all()

    def _result(self, task: _Task) -> Any:
        with self._state:
            while not self._state.wait_for(lambda: task.done or self._broken is not None or self._closed, _LOOK_S):
                self._look_after_workers()
        if error := task.error or self._broken:
            raise error
        if task.answer is None:
            raise ValueError("the engine was closed before all results were there")
        return unpacked(task.answer)

    def _look_after_workers(self) -> None:
        """Tell of workers that are late, and have others do their items too."""
        useless = []
        for attempt in self._attempts:
            task, median = attempt.task, attempt.task.durations.median(opening=attempt.opening)
            if attempt.repeated or attempt.seconds() < self._patience.limit_s(median):
                continue
            if task.done:
                useless.append(attempt.worker)
                continue
            attempt.repeated = task.repeatable and median is not None and task.n_repeated < _ATTEMPTS
            if attempt.repeated:
                task.n_repeated += 1
                self._offer(task, first=True)
            if attempt.repeated or not attempt.told:
                attempt.told = True
                self._warn(_late(attempt, median))
        for worker in useless:
            worker.end()
        if self._tasks and self._all_late():
            self._start_thread(spare=True)

    def _all_late(self) -> bool:
        """Whether nobody is left, or about to start, who could do what waits."""
        late = {attempt.worker for attempt in self._attempts if attempt.repeated}
        n_threads = sum(thread.is_alive() for thread in self._threads)
        return n_threads == len(self._workers) and self._workers <= late

    def _serve(self, *, spare: bool) -> None:
        """What the thread of a worker does."""
        n_lost = 0
        while self._wait_for_work():
            try:
                worker = self._start(spare=spare)
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
            if self._is_replaced():
                return

    def _is_replaced(self) -> bool:
        """Whether a spare worker took the place of one that is lost."""
        with self._state:
            return len(self._workers) >= self.n_workers

    def _break(self, error: Exception) -> None:
        """There can be no more workers: whoever waits for results hears of it."""
        with self._state:
            self._broken = error
            self._state.notify_all()

    def _work_with(self, worker: Worker) -> None:
        """Hand out items until the worker is lost or the engine closed."""
        job = -1
        while self._wait_for_work():
            with self._state:
                task = self._tasks.popleft() if self._tasks else None
                if task is None or task.done:
                    continue
                attempt = _Attempt(task, worker, opening=task.job.number != job)
                self._attempts.add(attempt)
            job = task.job.number
            try:
                self._take(attempt, worker.answer(task.job, task.item))
            except WorkerLostError as lost:
                self._lose(attempt, lost)
                return
            except Exception as error:  # of the engine, not of the job: whoever waits must hear of it
                task.error = error
                return
            finally:
                with self._state:
                    self._attempts.discard(attempt)
                    self._state.notify_all()

    def _take(self, attempt: _Attempt, answer: bytes) -> None:
        """The first answer of an item counts; a late worker that is still at it is ended."""
        task = attempt.task
        with self._state:
            if not task.done:
                task.answer = answer
                task.durations.add(attempt.seconds(), opening=attempt.opening)
            self._attempts.discard(attempt)
            late = [one.worker for one in self._attempts if one.task is task and one.repeated]
            self._state.notify_all()
        for worker in late:
            worker.end()

    def _lose(self, attempt: _Attempt, lost: WorkerLostError) -> None:
        task = attempt.task
        if task.done:  # by another worker, and this one was ended because it was late
            return
        task.n_lost += 1
        if task.n_lost < _ATTEMPTS:
            self._offer(task, first=True)
            return
        task.error = FailedError(
            f"{task.n_lost} workers were lost, one after the other, at item {task.number} (the last {lost}); "
            "if memory ran out, use fewer workers or smaller settings"
        )

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


def _late(attempt: _Attempt, median: float | None) -> str:
    usual = "none is done yet" if median is None else f"the median is {median:.2f} s"
    then = "another worker does it too" if attempt.repeated else "it is waited for"
    return (
        f"{attempt.worker.place} has been at item {attempt.task.number} for {attempt.seconds():.0f} s ({usual}); {then}"
    )
