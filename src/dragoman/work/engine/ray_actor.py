"""A worker on a Ray cluster: what runs inside the actor."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from dragoman.work.engine.folders import FolderCopy, copies_at
from dragoman.work.engine.opened import OpenJob, PackedJob

__all__ = ["RayActor"]


class RayActor:
    """Answers items as a worker process does. Folders that its host lacks are sent to it before the job."""

    def __init__(self, n_threads: int) -> None:
        self._opened = OpenJob(n_threads)
        self._job = PackedJob(-1, b"")
        self._copies: dict[str, FolderCopy] = {}

    def hello(self) -> tuple[str, str]:
        """The version of dragoman, and which process this is."""
        return version("dragoman"), f"the worker on host {socket.gethostname()} (process {os.getpid()})"

    def missing(self, folders: Sequence[str]) -> list[str]:
        """Those that are neither on this host nor copied to it."""
        return [folder for folder in folders if folder not in self._copies and not Path(folder).is_dir()]

    def begin_copy(self, folder: str, identity: str) -> bool:
        """Whether the files of a folder must be written: not where another actor of this host has them."""
        copy = self._copies[folder] = FolderCopy(folder, identity)
        return copy.is_new

    def write(self, folder: str, name: str, chunk: bytes) -> None:
        """The next part of a file."""
        self._copies[folder].write(name, chunk)

    def end_copy(self, folder: str, place: str) -> None:
        self._copies[folder].finish(place)

    def open(self, number: int, data: bytes) -> None:
        """Take a job."""
        self._job = PackedJob(number, data)

    def answer(self, item: bytes) -> bytes:
        with copies_at({folder: copy.folder for folder, copy in self._copies.items()}):
            return self._opened.answer(self._job, item)

    def leave(self) -> None:
        """Let go of the copies, also in the middle of an item: what is mapped stays readable."""
        while self._copies:
            self._copies.popitem()[1].release()
