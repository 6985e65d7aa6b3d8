"""Training stages: each is run once, timed, and recorded, so that an interrupted training can be resumed."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from dragoman.cost import StageCost, measured
from dragoman.run import RunFolder
from dragoman.types import Progress

__all__ = ["Monitor", "Silent", "Stages"]


class Monitor(Protocol):
    """Progress reporting: messages and progress bars."""

    def say(self, text: str) -> None: ...

    def progress(self, what: str, total: int | None = None) -> AbstractContextManager[Progress]: ...


class Silent:
    """A progress reporter that discards everything."""

    def say(self, text: str) -> None:
        """Discards the message."""

    def progress(self, what: str, total: int | None = None) -> AbstractContextManager[Progress]:
        return contextlib.nullcontext(lambda _: None)


class Stages:
    """The stages of one training, recorded in its run folder."""

    def __init__(self, run: RunFolder, monitor: Monitor) -> None:
        self._run = run
        self._monitor = monitor
        self.finished: dict[str, StageCost] = {}
        for entry in run.trace():
            if entry["event"] == "stage":
                names = [field.name for field in dataclasses.fields(StageCost) if field.name in entry]
                with contextlib.suppress(KeyError, TypeError):  # an incomplete entry: the stage is done again
                    self.finished[entry["name"]] = StageCost(**{name: entry[name] for name in names})

    def do(self, name: str, work: Callable[[], None], *, makes: Path | None = None) -> None:
        """Run a stage unless it was already finished and its result still exists."""
        if name in self.finished and (makes is None or makes.exists()):
            self._monitor.say(f"{name}: done before")
            return
        if makes is not None and makes.is_dir():
            shutil.rmtree(makes)  # a kill came before it was logged
        with measured(name) as cost:
            work()
        stage = cost()
        self._run.log("stage", **dataclasses.asdict(stage))
        self.finished[name] = stage
        self._monitor.say(f"{name}: {stage.wall_s:.1f} s, {stage.peak_bytes / 2**20:,.0f} MiB")
