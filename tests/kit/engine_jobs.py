"""Jobs for tests of engines, in a module that workers can import."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.errors import InputError
from dragoman.work.engine import Job


@dataclass(frozen=True, slots=True)
class Square(Job):
    """Numbers and their squares, with the worker that did it."""

    slow_s: float = 0.0

    def open(self, n_threads):
        def work(number):
            time.sleep(self.slow_s * (number % 3))
            return number * number, os.getpid(), n_threads

        return work


@dataclass(frozen=True, slots=True)
class Vectors(Job):
    """Random numbers that depend on the item alone."""

    n: int

    def open(self, n_threads):
        return lambda seed: np.random.default_rng(seed).standard_normal(self.n)


@dataclass(frozen=True, slots=True)
class Deadly(Job):
    """Kills its worker at item `at`, until it has done so `times` times; a file counts."""

    marks: Path
    at: int
    times: int

    def open(self, n_threads):
        def work(number):
            if number == self.at and len(list(self.marks.iterdir())) < self.times:
                (self.marks / f"{os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return 10 * number

        return work


@dataclass(frozen=True, slots=True)
class Mortal(Job):
    """Another job, whose worker is killed when it is given the lines from `at` on for the first time."""

    job: Job
    mark: Path
    at: int

    def open(self, n_threads):
        work = self.job.open(n_threads)

        def work_or_die(lines):
            if lines[0] == self.at and not self.mark.exists():
                self.mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return work(lines)

        return work_or_die


@dataclass(frozen=True, slots=True)
class Hanging(Job):
    """Stops its worker at item `at`, as a host that swaps or a disk that is gone would, `times` times."""

    marks: Path
    at: int
    times: int = 1

    def open(self, n_threads):
        def work(number):
            if number == self.at and len(list(self.marks.iterdir())) < self.times:
                (self.marks / f"{os.getpid()}").touch()
                os.kill(os.getpid(), signal.SIGSTOP)
                time.sleep(60)  # this thread may run on for a moment until the process stops
            return 10 * number

        return work


@dataclass(frozen=True, slots=True)
class Writing(Job):
    """Makes a new file an item, and takes its time for the third."""

    folder: Path
    slow_s: float
    repeatable = False

    def open(self, n_threads):
        def work(number):
            (self.folder / str(number)).touch(exist_ok=False)
            time.sleep(self.slow_s * (number == 2))
            return number

        return work


class NoPickleError(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


@dataclass(frozen=True, slots=True)
class Failing(Job):
    """Raises at item 3."""

    kind: str

    def open(self, n_threads):
        if self.kind == "open":
            raise InputError("cannot be opened", path="somewhere")

        def work(number):
            if number == 3:
                if self.kind == "input":
                    raise InputError("is wrong", path="dev.de", line=7)
                if self.kind == "unpicklable":
                    raise NoPickleError(1, 2)
                raise KeyError("missing")
            return number

        return work
