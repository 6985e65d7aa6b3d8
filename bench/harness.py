"""How a case is measured: in a process of its own, at half and at full size, beside its peer.

Times are CPU seconds of the process (one thread unless a case says otherwise), medians over repeats. Ratios compare
ours with the peer in the same process. Growth is the time at full size over the time at half size: 2 means linear.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
ANCHORS = ROOT.parent / "shared" / "anchors"
RESULTS = ROOT / "build" / "bench"

Work = Callable[[], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What one case does at one size."""

    n_items: int
    ours: Work
    peer: Work | None = None
    repeats: int = 5
    peer_repeats: int = 1
    peer_share: float = 1.0
    """The share of the items that the (slow) peer works on; its time is scaled up."""
    note: Callable[[], str] | None = None
    """What the work achieved, asked for after it was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A named measurement; `prepare(scale)` loads the data and is not timed."""

    name: str
    area: str
    unit: str
    prepare: Callable[[float], Workload]
    peer_name: str | None = None
    target: str = ""
    needs_data: bool = False
    wall: bool = False
    """Measure wall-clock instead of CPU time: for threaded work."""

    @property
    def slug(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in f"{self.area} {self.name}".lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One case at one size."""

    scale: float
    n_items: int
    seconds: float
    peer_seconds: float | None
    peak_bytes: int
    """Most memory the process held resident up to the end of our runs, the data included."""
    note: str = ""


def measure(case: Case, scale: float) -> Measurement:
    """Run one case in this process."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    load = case.prepare(scale)
    clock = time.perf_counter if case.wall else time.process_time
    seconds = _median(load.ours, load.repeats, clock)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    peer = _median(load.peer, load.peer_repeats, clock) / load.peer_share if load.peer else None
    return Measurement(
        scale=scale,
        n_items=load.n_items,
        seconds=seconds,
        peer_seconds=peer,
        peak_bytes=peak,
        note=load.note() if load.note else "",
    )


def _median(work: Work, repeats: int, clock: Callable[[], float]) -> float:
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return statistics.median(times)


def measure_apart(case: Case, scale: float) -> Measurement:
    """Run one case in a fresh process, so that its peak memory is its own."""
    command = [sys.executable, "-m", "bench", "--worker", case.slug, "--scale", str(scale)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Measurement(**json.loads(done.stdout.splitlines()[-1]))


def save(case: Case, measurements: list[Measurement]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    record = {
        "name": case.name,
        "area": case.area,
        "unit": case.unit,
        "peer": case.peer_name,
        "target": case.target,
        "measurements": [asdict(m) for m in measurements],
    }
    (RESULTS / f"{case.slug}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
