"""A worker on a Ray cluster: what runs inside the actor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.engine.folders import FolderCopy, copies_at
from dragoman.engine.opened import OpenJob, PackedJob

__all__ = ["RayActor"]


class RayActor:
    """Answers items as a worker process does. Folders that its host lacks are sent to it before the job."""

    def __init__(self, n_threads: int) -> None:
        self._opened = OpenJob(n_threads)
        self._job = PackedJob(-1, b"")
        self._copies: dict[str, FolderCopy] = {}

    def version(self) -> str:
        return version("dragoman")

    def missing(self, folders: Sequence[str]) -> list[str]:
        """Those that are neither on this host nor copied to it."""
        return [folder for folder in folders if folder not in self._copies and not Path(folder).is_dir()]

    def copy(self, folder: str, identity: str, place: str, files: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Make a copy of a folder, from references to the chunks of every file."""

        def fill(base: Path) -> str:
            for name, chunks in files:
                path = base / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as stream:
                    stream.writelines(_fetched(chunks))
            return place

        self._copies[folder] = FolderCopy(folder, identity, fill)

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


def _fetched(chunks: Sequence[Any]) -> Iterable[bytes]:
    import ray

    return (ray.get(chunk) for chunk in chunks)
