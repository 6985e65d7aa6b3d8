"""What work costs: wall time, CPU time, memory."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["StageCost", "cpu_seconds", "measured", "n_cores", "peak_memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCost:
    """The cost of a stage of training or of an experiment, when it was made."""

    name: str
    wall_s: float
    cpu_s: float
    peak_bytes: int
    """Greatest resident memory of the process meanwhile, mapped files included."""
    cached: bool = False
    """Whether this run found the result ready."""


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def n_cores() -> int:
    """The cores that this process may use; not every system can tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def measured(name: str) -> Iterator[Callable[[], StageCost]]:
    """The cost of a block, once it has ended."""
    wall, cpu = time.monotonic(), cpu_seconds()
    found: list[StageCost] = []
    with peak_memory() as peak:
        yield lambda: found[0]
        found.append(
            StageCost(
                name=name,
                wall_s=round(time.monotonic() - wall, 3),
                cpu_s=round(cpu_seconds() - cpu, 3),
                peak_bytes=peak(),
            )
        )


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
