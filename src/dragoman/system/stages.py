"""Training stages: each is run once, timed, and recorded, so that an interrupted training can be resumed."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from dragoman.cost import StageCost, format_bytes, free_unused, measured, peak_allocated
from dragoman.run import RunFolder
from dragoman.types import Progress

__all__ = ["Monitor", "Silent", "Stages"]


class Monitor(Protocol):
    """Progress reporting: messages, warnings that nobody should miss, and progress bars."""

    def say(self, text: str) -> None: ...

    def warn(self, text: str) -> None: ...

    def progress(self, what: str, total: int | None = None) -> AbstractContextManager[Progress]: ...


class Silent:
    """A progress reporter that discards everything."""

    def say(self, text: str) -> None:
        """Discards the message."""

    def warn(self, text: str) -> None:
        """Says it as a warning."""
        self.say(f"warning: {text}")

    def progress(self, what: str, total: int | None = None) -> AbstractContextManager[Progress]:
        return contextlib.nullcontext(lambda _: None)


class Stages:
    """The stages of one training, recorded in its run folder."""

    limit: int | None = None
    """Bytes of memory that no stage should allocate more than; what they do is then measured and recorded."""

    def __init__(self, run: RunFolder, monitor: Monitor) -> None:
        self._run = run
        self._monitor = monitor
        self.finished: dict[str, StageCost] = {}
        self.found: dict[str, Mapping[str, float]] = {}
        for entry in run.trace():
            if entry["event"] == "found":
                self.found[entry["what"]] = entry["numbers"]
            if entry["event"] == "stage":
                names = [field.name for field in dataclasses.fields(StageCost) if field.name in entry]
                with contextlib.suppress(KeyError, TypeError):  # an incomplete entry: the stage is done again
                    self.finished[entry["name"]] = StageCost(**{name: entry[name] for name in names})

    def tell(self, what: str, found: Mapping[str, float]) -> None:
        """Record numbers that a stage found out."""
        self._run.log("found", what=what, numbers=dict(found))
        self.found[what] = dict(found)

    def do(self, name: str, work: Callable[[], None], *, makes: Path | None = None) -> None:
        """Run a stage unless it was already finished and its result still exists."""
        if name in self.finished and (makes is None or makes.exists()):
            self._monitor.say(f"{name}: done before")
            return
        if makes is not None and makes.is_dir():
            shutil.rmtree(makes)  # a kill came before it was logged
        with measured(name) as cost, contextlib.ExitStack() as stack:
            allocated = None if self.limit is None else stack.enter_context(peak_allocated())
            work()
        stage = cost()
        free_unused()
        peak = None if allocated is None else allocated()
        self._run.log("stage", **dataclasses.asdict(stage), **({} if peak is None else {"allocated_bytes": peak}))
        self.finished[name] = stage
        shown = f", {peak / 2**20:,.0f} of them without mapped files" if peak is not None else ""
        self._monitor.say(f"{name}: {stage.wall_s:.1f} s, {stage.peak_bytes / 2**20:,.0f} MiB{shown}")
        if peak is not None and self.limit is not None and peak > self.limit:
            self._monitor.warn(
                f"the {name} allocated {format_bytes(peak)}, more than `memory={format_bytes(self.limit)}`"
            )
