"""What work costs: wall time, CPU time, memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "StageCost",
    "allocated_bytes",
    "cpu_seconds",
    "format_bytes",
    "free_unused",
    "measured",
    "n_cores",
    "peak_allocated",
    "peak_memory",
]

_SAMPLE_S = 0.01
_peaks: dict[object, int] = {}
"""Of each block whose memory is being measured, the peak before another one inside it began anew."""


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
    block, peak = object(), _peak_bytes()
    for around in _peaks:
        _peaks[around] = max(_peaks[around], peak)
    _peaks[block] = 0
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    try:
        yield lambda: max(_peaks.get(block, 0), _peak_bytes())
    finally:
        del _peaks[block]


@contextlib.contextmanager
def peak_allocated() -> Iterator[Callable[[], int]]:
    """The greatest memory without mapped files since the block began, looked at every 10 ms by a thread."""
    found = [allocated_bytes()]
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_SAMPLE_S):
            found[0] = max(found[0], allocated_bytes())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield lambda: found[0]
    finally:
        ended.set()
        thread.join()


def allocated_bytes() -> int:
    """Memory of this process without mapped files; where the system cannot tell (not Linux), the greatest so far."""
    return _status("RssAnon") or _peak_bytes()


def free_unused() -> None:
    """Give memory that was freed back to the system, where the C library can (glibc); others do it by themselves."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def format_bytes(n_bytes: float) -> str:
    """Such as 1.5 GiB."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":
            break
        n_bytes /= 1024
    return f"{n_bytes:.0f} {unit}" if n_bytes >= 100 or unit == "bytes" else f"{n_bytes:.3g} {unit}"


def _peak_bytes() -> int:
    if found := _status("VmHWM"):
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(name: str) -> int:
    """A size that Linux tells of this process; 0 where it does not."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return 0
