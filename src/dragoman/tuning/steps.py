"""Steps of a tuning on disk, under a digest of all that they depend on, so that tunings share them.

STEPS/gradient-1a2b…/step.json    key, content, and checksums of the files; written last
STEPS/gradient-1a2b…/work/        a step in the making, with which a stopped one goes on
STEPS/gradient-1a2b…/lock         held while a process makes it
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.cost import measured
from dragoman.errors import FailedError
from dragoman.files.store import Format, digest_json, make_folder
from dragoman.types import PathLike

__all__ = ["MadeStep", "StepFiles", "Steps"]

_FORMAT = Format("dragoman-step", 1, "step of a tuning", "step.json")
_WORK = "work"


@dataclass(frozen=True, slots=True)
class StepFiles:
    """What a step leaves: files in its folder, and plain data."""

    names: Sequence[str]
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeStep:
    """A finished step. `found` says that it was there before; time is what making it cost, since the last stop."""

    folder: Path
    content: Mapping[str, Any]
    wall_s: float
    cpu_s: float
    found: bool


class Steps:
    """A folder of steps that several processes may use at the same time."""

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)

    def make(self, kind: str, key: Mapping[str, Any], work: Callable[[Path, Path], StepFiles]) -> MadeStep:
        """The step of a key: found, or made by `work`, given its folder and one for what is needed only meanwhile.

        A step that another process is making is waited for. Raises InputError for a damaged one.
        """
        key = {"kind": kind, "dragoman": version("dragoman"), **key}
        folder = self.folder / f"{kind}-{digest_json(key)[:24]}"
        if not (folder / _FORMAT.manifest).exists():
            make_folder(folder)
            try:
                lock = (folder / "lock").open("a+")
            except OSError as error:
                raise FailedError(f"{folder}: cannot be written: {error.strerror or error}") from error
            with lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not (folder / _FORMAT.manifest).exists():
                    with measured(kind) as cost:
                        files = work(folder, folder / _WORK)
                    spent = {"wall_s": cost().wall_s, "cpu_s": cost().cpu_s}
                    _FORMAT.write(folder, files.names, {"key": key, "content": dict(files.content), **spent})
                    shutil.rmtree(folder / _WORK, ignore_errors=True)
                    return _read(folder, found=False)
        return _read(folder, found=True)


def _read(folder: Path, *, found: bool) -> MadeStep:
    manifest = _FORMAT.read(folder)
    for name in manifest.files:
        manifest.check(name)
    content = manifest.content
    return MadeStep(
        folder=folder, content=content["content"], wall_s=content["wall_s"], cpu_s=content["cpu_s"], found=found
    )
