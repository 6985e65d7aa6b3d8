"""Results of steps on disk, under a digest of all that they depend on.

    STORE/KIND-HASH/          the result of a step, with step.json: key, content, cost, size and checksum of every file
    STORE/KIND-HASH.new/      a step in progress, or one that was killed
    STORE/KIND-HASH.part/     the same of a step that goes on where it was stopped; work/ in it is needed only meanwhile
    STORE/locks/KIND-HASH     held while a process makes the step

A result is renamed into place when all its files are on disk. Its checksums are verified when a store first uses it; a
damaged one is reported and made again.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.cost import StageCost, measured
from dragoman.errors import FailedError, InputError
from dragoman.files.store import Format, Manifest, digest_json, make_folder
from dragoman.text import sync_path
from dragoman.types import PathLike
from dragoman.work.code import code_digest, core_digest

__all__ = ["Made", "Step", "Store"]

_FORMAT = Format("dragoman-step", 2, "result of a step", "step.json")
_LOCKS, _WORK, _NEW, _PART = "locks", "work", ".new", ".part"
_WAIT_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Work, and all that its result depends on: `key` names data and settings, `modules` have the code that does it.

    `work` fills the first folder, and may use the second for what is needed only meanwhile; what it returns, as JSON
    has it, is kept beside the files. If it `resumes`, it finds both folders as a stopped process left them.
    """

    kind: str
    key: Mapping[str, Any]
    modules: Sequence[str]
    work: Callable[[Path, Path], Mapping[str, Any] | None]
    resumes: bool = False

    def identity(self) -> dict[str, Any]:
        """The key with the program."""
        code = {module: code_digest(module) for module in self.modules}
        program = {"dragoman": version("dragoman"), "core": core_digest(), "code": code}
        return {"kind": self.kind, **program, "key": dict(self.key)}

    @property
    def name(self) -> str:
        """Of its folder in a store."""
        return f"{self.kind.replace(' ', '-')}-{digest_json(self.identity())[:24]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The result of a step: a folder, what stands beside its files, and what making it cost since the last stop."""

    folder: Path
    content: Mapping[str, Any]
    cost: StageCost

    @property
    def found(self) -> bool:
        """Whether it was there before."""
        return self.cost.cached


class Store:
    """A folder of results that several processes may use at the same time."""

    def __init__(self, folder: PathLike, say: Callable[[str], None] = lambda _: None) -> None:
        self.folder = Path(folder)
        self._say = say
        self._checked: set[str] = set()

    def has(self, step: Step) -> bool:
        """Whether the result is there; its files are not checked."""
        return (self.place(step) / _FORMAT.manifest).exists()

    def place(self, step: Step) -> Path:
        """The folder of a step's result, whether it is there or not."""
        return self.folder / step.name

    def make(self, step: Step) -> Made:
        """The result of a step: found, or made if it is missing or damaged.

        A step that another process is making is waited for. Raises FailedError where the store cannot be written.
        """
        with contextlib.suppress(InputError):
            if found := self._find(step):
                return found
        with self._failing(), self._locked(step):
            try:
                found = self._find(step)
            except InputError as error:
                self._say(f"{step.kind}: the result in {self.place(step)} is damaged ({error}); it will be made again")
                found = None
                self._remove(self.place(step))
            return found or self._make(step)

    def _find(self, step: Step) -> Made | None:
        """Raises InputError for damage."""
        folder = self.place(step)
        if not folder.exists():
            return None
        manifest = _FORMAT.read(folder)
        if folder.name not in self._checked:
            manifest.check_all()
            self._checked.add(folder.name)
        made = _made(manifest, step.kind)
        shutil.rmtree(folder / _WORK, ignore_errors=True)  # a kill came before it was removed
        return made

    def _make(self, step: Step) -> Made:
        self._sweep()
        goal = self.place(step)
        part = goal.with_name(goal.name + (_PART if step.resumes else _NEW))
        try:
            if not step.resumes:
                shutil.rmtree(part, ignore_errors=True)
            with measured(step.kind) as measure:
                content = step.work(make_folder(part), part / _WORK)
            cost = measure()
            fields = {name: value for name, value in asdict(cost).items() if name not in ("name", "cached")}
            files = [path.relative_to(part) for path in sorted(part.rglob("*")) if path.is_file()]
            names = [path.as_posix() for path in files if path.parts[0] not in (_WORK, _FORMAT.manifest)]
            _FORMAT.write(part, names, {**step.identity(), "content": dict(content or {}), "cost": fields})
            part.rename(goal)
            sync_path(self.folder)
        finally:
            if not step.resumes:
                shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(goal / _WORK, ignore_errors=True)
        self._checked.add(goal.name)
        return replace(_made(_FORMAT.read(goal), step.kind), cost=cost)

    def _sweep(self) -> None:
        """Remove what killed processes left that nobody can go on with."""
        for left in self.folder.glob(f"*{_NEW}"):
            with contextlib.suppress(BlockingIOError), (self.folder / _LOCKS / left.stem).open("a+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)

    def _remove(self, result: Path) -> None:
        left = result.with_name(result.name + _NEW)
        shutil.rmtree(left, ignore_errors=True)
        result.rename(left)  # a process that dies here leaves no half of it
        shutil.rmtree(left, ignore_errors=True)

    @contextlib.contextmanager
    def _locked(self, step: Step) -> Iterator[None]:
        with (make_folder(self.folder / _LOCKS) / step.name).open("a+") as lock:
            waiting = False
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not waiting:
                        self._say(f"{step.kind}: another process is making it; waiting")
                    waiting = True
                    time.sleep(_WAIT_S)
            yield

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FailedError(
                f"{self.folder}: results of steps cannot be written: {error.strerror or error}"
            ) from error


def _made(manifest: Manifest, kind: str) -> Made:
    cost = StageCost(name=kind, cached=True, **manifest.content["cost"])
    return Made(folder=manifest.base, content=manifest.content["content"], cost=cost)
