"""Training step by step: each stage is done once, timed, and recorded, so that a stopped training can go on."""

from __future__ import annotations

import contextlib
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dragoman.run import RunFolder
from dragoman.types import Progress

__all__ = ["Monitor", "Silent", "Stage", "Stages", "peak_memory"]


class Monitor(Protocol):
    """Somebody who watches: prose, and a progress bar for a piece of work."""

    def say(self, text: str) -> None:
        """A line of prose."""
        ...

    def progress(self, what: str, total: int | None = None) -> AbstractContextManager[Progress]:
        """A bar for the time of a block."""
        ...


class Silent:
    """Nobody watches."""

    def say(self, text: str) -> None:
        """Said to nobody."""

    def progress(self, what: str, total: int | None = None) -> AbstractContextManager[Progress]:
        """A callback that shows nothing."""
        return contextlib.nullcontext(lambda _: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a stage cost."""

    name: str
    wall_s: float
    cpu_s: float
    peak_bytes: int
    """Greatest resident memory of the process while it ran, mapped files included."""


class Stages:
    """The stages of one training, recorded in its run folder."""

    def __init__(self, run: RunFolder, monitor: Monitor) -> None:
        self._run = run
        self._monitor = monitor
        self.finished: dict[str, Stage] = {}
        for entry in run.trace():
            if entry["event"] == "stage":
                fields: dict[str, Any] = {key: entry[key] for key in Stage.__slots__}
                self.finished[entry["name"]] = Stage(**fields)

    def do(self, name: str, work: Callable[[], None], *, makes: Path | None = None) -> None:
        """Do a stage unless it was finished before and what it makes is still there."""
        if name in self.finished and (makes is None or makes.exists()):
            self._monitor.say(f"{name}: done before")
            return
        if makes is not None and makes.is_dir():
            shutil.rmtree(makes)  # a kill came before it was logged
        wall, cpu = time.monotonic(), time.process_time()
        with peak_memory() as peak:
            work()
        stage = Stage(
            name=name,
            wall_s=round(time.monotonic() - wall, 3),
            cpu_s=round(time.process_time() - cpu, 3),
            peak_bytes=peak(),
        )
        self._run.log("stage", **{key: getattr(stage, key) for key in Stage.__slots__})
        self.finished[name] = stage
        self._monitor.say(f"{name}: {stage.wall_s:.1f} s, {stage.peak_bytes / 2**20:,.0f} MiB")


@contextlib.contextmanager
def peak_memory() -> Iterator[Callable[[], int]]:
    """The greatest memory since the block began where the system can tell (Linux), else since the process began."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    yield _peak_bytes


def _peak_bytes() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
