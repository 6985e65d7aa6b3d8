"""Workers on a Ray cluster: this machine alone, or the hosts that joined one."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from dragoman.cost import n_cores
from dragoman.errors import FailedError, InputError
from dragoman.work.engine.base import Job
from dragoman.work.engine.folders import Reference, references
from dragoman.work.engine.opened import PackedJob
from dragoman.work.engine.patience import Patience
from dragoman.work.engine.ray_actor import RayActor
from dragoman.work.engine.workers import Worker, WorkerEngine, WorkerLostError

__all__ = ["RayEngine"]

_CONNECT_S = 5.0
_START_S = 120.0
_LEAVE_S = 3.0
_POLL_S = 0.5
_CHUNK_BYTES = 1 << 26


class RayEngine(WorkerEngine):
    """Actors of `n_threads` cores each. An actor that is lost, with its host or alone, is started again elsewhere."""

    name: ClassVar[str] = "ray"

    def __init__(
        self,
        n_workers: int | None = None,
        n_threads: int = 0,
        address: str | None = None,
        *,
        patience: Patience | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self._ray = _import_ray()
        self._owns = not self._ray.is_initialized()
        if address is not None:
            _check_address(address)
            if not self._owns and (other := self._ray.get_runtime_context().gcs_address) != address:
                raise InputError(f"this process uses the Ray cluster at {other} already, so it cannot use {address}")
        else:
            n_workers = n_workers or max(1, n_cores() // (n_threads or 1))
            n_threads = n_threads or max(1, n_cores() // n_workers)
        n_threads = n_threads or 1
        if self._owns:
            _connect(self._ray, address, n_cpus=(n_workers or 1) * n_threads)
        self.n_threads = n_threads
        n_workers = n_workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)) // n_threads)
        super().__init__(n_workers, patience=patience, warn=warn)
        self._actor_class = self._ray.remote(num_cpus=n_threads, concurrency_groups={"control": 1})(RayActor)
        self._folders: dict[int, list[Reference]] = {}
        self._sending = threading.Lock()
        self._sent_job: tuple[int, Any] | None = None
        self._sent_folders: dict[tuple[str, str], Any] = {}

    def close(self) -> None:
        super().close()
        self._sent_job = None
        self._sent_folders.clear()
        if self._owns:
            self._ray.shutdown()
            self._owns = False

    def _pack(self, job: Job[Any, Any]) -> PackedJob:
        with references() as folders:
            packed = super()._pack(job)
        self._folders = {packed.number: folders}
        return packed

    def _start(self, *, spare: bool) -> Worker | None:
        # A spare actor has no cores of its own: it uses those that one that hangs still holds.
        n_cpus = 0 if spare else self.n_threads
        actor = self._actor_class.options(scheduling_strategy="SPREAD", num_cpus=n_cpus).remote(self.n_threads)
        ready = actor.hello.remote()
        began = time.monotonic()
        while not self._ray.wait([ready], timeout=_POLL_S)[0]:
            if self._closed:
                self._ray.kill(actor)
                return None
            if time.monotonic() - began > _START_S and not self._workers:
                free = self._ray.available_resources().get("CPU", 0)
                raise FailedError(
                    f"no worker could be started in {_START_S:.0f} s: each needs {self.n_threads} cores, the cluster "
                    f"has {free:g} free"
                )
        try:
            there, place = self._ray.get(ready)
        except self._ray.exceptions.RayError as error:
            raise WorkerLostError(f"on the cluster: {_reason(error)}") from error
        if there != version("dragoman"):
            raise InputError(
                f"a host of the cluster has dragoman {there}, this one {version('dragoman')}; install the same on all"
            )
        return _Actor(self, actor, place)

    def job_data(self, job: PackedJob) -> Any:
        """A reference to a job in the object store, where it is put once."""
        with self._sending:
            if self._sent_job is None or self._sent_job[0] != job.number:
                self._sent_job = (job.number, self._ray.put(job.data))
            return self._sent_job[1]

    def folders(self, job: PackedJob) -> list[Reference]:
        return self._folders.get(job.number, [])

    def folder_data(self, reference: Reference) -> Any:
        """References to the chunks of all files of a folder in the object store, where they are put once."""
        key = (str(reference.folder), reference.identity)
        with self._sending:
            if key not in self._sent_folders:
                _, place, paths = reference.paths()
                files = [(name, [self._ray.put(chunk) for chunk in _chunks(path)]) for path, name in paths]
                self._sent_folders[key] = (place, files)
            return self._sent_folders[key]

    @property
    def ray(self) -> Any:
        return self._ray


class _Actor(Worker):
    def __init__(self, engine: RayEngine, actor: Any, place: str) -> None:
        self.place = place
        self._engine = engine
        self._ray = engine.ray
        self._actor = actor
        self._job = -1
        self._copied = False
        self._ended = threading.Lock()

    def answer(self, job: PackedJob, item: bytes) -> bytes:
        errors = self._ray.exceptions
        try:
            if self._job != job.number:
                self._open(job)
            answer: bytes = self._ray.get(self._actor.answer.remote(item))
            return answer
        except (errors.RayActorError, errors.ObjectLostError, errors.NodeDiedError, errors.OutOfMemoryError) as error:
            raise WorkerLostError(f"with its host or alone: {_reason(error)}") from error
        except errors.RayError as error:
            raise FailedError(f"the Ray cluster failed: {_reason(error)}") from error

    def _open(self, job: PackedJob) -> None:
        by_name = {str(reference.folder): reference for reference in self._engine.folders(job)}
        for folder in self._ray.get(self._actor.missing.remote(list(by_name))) if by_name else ():
            self._copy(by_name[folder])
        self._ray.get(self._actor.open.remote(job.number, self._engine.job_data(job)))
        self._job = job.number

    def _copy(self, reference: Reference) -> None:
        folder = str(reference.folder)
        self._copied = True
        if self._ray.get(self._actor.begin_copy.remote(folder, reference.identity)):
            place, files = self._engine.folder_data(reference)
            for name, chunks in files:
                for chunk in chunks:
                    self._ray.get(self._actor.write.remote(folder, name, chunk))
            self._ray.get(self._actor.end_copy.remote(folder, place))

    def end(self) -> None:
        if not self._ended.acquire(blocking=False):
            return
        with contextlib.suppress(self._ray.exceptions.RayError):
            if self._copied:
                self._ray.get(self._actor.leave.options(concurrency_group="control").remote(), timeout=_LEAVE_S)
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._actor)


def _import_ray() -> Any:
    # What Ray says to people goes to its logs; it tells nobody about its use.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # That a worker died is printed to standard output even without log_to_driver.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        import ray
    except ImportError as error:
        raise InputError("the engine ray needs Ray; install dragoman[ray]") from error
    return ray


def _connect(ray: Any, address: str | None, *, n_cpus: int) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is None:
            ray.init(address="local", num_cpus=n_cpus, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = "on this machine" if address is None else f"at {address}"
        raise FailedError(f"a Ray cluster {where} cannot be used: {_reason(error)}") from error


def _check_address(address: str) -> None:
    """Raise InputError unless something listens there: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InputError(f"'{address}' is not the address of a Ray cluster; expected HOST:PORT, such as 10.0.0.5:6379")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except OSError as error:
        raise InputError(
            f"nothing answers at {address} ({error.strerror or error}); start a cluster with `ray start --head`, and "
            "see that this host may reach it"
        ) from error


def _chunks(path: Path) -> Iterator[bytes]:
    """The parts of a file, one of them empty if the file is."""
    with path.open("rb") as stream:
        yield stream.read(_CHUNK_BYTES)
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk


def _reason(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
