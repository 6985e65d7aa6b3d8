"""A content-addressed cache of stage results.

    CACHE/HASH/            the result of a stage, with entry.json: key, cost, size and checksum of every file
    CACHE/.HASH.RANDOM/    a stage in progress, or one that was killed
    CACHE/locks/HASH       held while a process computes HASH

HASH covers the stage's name, its settings, the content of its inputs, and the version, native core and Python code of
this program. An entry is renamed into place when all its files are on disk. Its checksums are verified when a process
first uses it; a damaged entry is reported and recomputed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman import _core
from dragoman.cost import StageCost, measured
from dragoman.errors import FailedError, InputError
from dragoman.files.store import Format, digest, digest_json, make_folder
from dragoman.text import sync_path
from dragoman.types import PathLike

__all__ = ["Cache", "Made", "StageKey", "generator_digest", "program_name"]

ENTRY = Format("dragoman-stage", 1, "cached result", "entry.json")
_WAIT_S = 0.2
_STAGES, _CELL = "dragoman.experiments.stages", "dragoman.experiments.cell"
"""The modules that compute the shared stages, and the rest of a cell."""
_IMPORT = re.compile(r"^ *from (dragoman[\w.]*) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageKey:
    """Everything the result of a stage depends on."""

    stage: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    """Hashes of other entries, or digests of files."""
    module: str = _STAGES
    """The module that computes it."""

    def content(self) -> dict[str, Any]:
        program = {
            "format": ENTRY.version,
            "dragoman": version("dragoman"),
            "core": _core_digest(),
            "code": _code_digest(self.module),
        }
        return {"stage": self.stage, "settings": self.settings, "inputs": dict(self.inputs), **program}

    @property
    def hash(self) -> str:
        return digest_json(self.content())


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The result of a stage: a folder, and the cost of computing it."""

    folder: Path
    hash: str
    cost: StageCost


class Cache:
    """A folder of entries that several processes may use concurrently."""

    def __init__(self, folder: PathLike, say: Callable[[str], None] = lambda _: None) -> None:
        self.folder = Path(folder)
        self._say = say
        self._checked: set[str] = set()

    def has(self, key: StageKey) -> bool:
        """Whether the entry exists; its content is not checked."""
        return (self.folder / key.hash / ENTRY.manifest).exists()

    def make(self, key: StageKey, work: Callable[[Path], int | None]) -> Made:
        """The entry of a key; if it is missing or damaged, `work` fills a folder that becomes the entry.

        `work` returns the peak memory if it measured it itself.
        """
        name = key.hash
        found = self._find(key.stage, name)
        if found is None:
            with self._locked(key.stage, name):
                found = self._find(key.stage, name) or self._make(key, name, work)
        return found

    def _find(self, stage: str, name: str) -> Made | None:
        folder = self.folder / name
        if not folder.exists():
            return None
        try:
            entry = ENTRY.read(folder)
            cost = StageCost(name=stage, cached=True, **entry.content["cost"])
            if name not in self._checked:
                entry.check_all()
                self._checked.add(name)
        except (InputError, KeyError, TypeError) as error:
            self._say(f"{stage}: the cached result {folder} is damaged ({error}); it will be made again")
            return None
        return Made(folder=folder, hash=name, cost=cost)

    def _make(self, key: StageKey, name: str, work: Callable[[Path], int | None]) -> Made:
        try:
            for leftover in self.folder.glob(f".{name}.*"):  # from a killed process, since we hold the lock
                shutil.rmtree(leftover)
            scratch = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=self.folder))
        except OSError as error:
            raise self._failed(error) from error
        try:
            with measured(key.stage) as measure:
                peak = work(scratch) or 0
            cost = dataclasses.replace(measure(), peak_bytes=max(peak, measure().peak_bytes))
            files = sorted(path for path in scratch.rglob("*") if path.is_file())
            fields = dataclasses.asdict(cost)
            del fields["name"], fields["cached"]
            names = [path.relative_to(scratch).as_posix() for path in files]
            ENTRY.write(scratch, names, {"key": key.content(), "cost": fields})
            scratch.chmod(0o755)
            goal = self.folder / name
            if goal.exists():
                damaged = scratch.with_name(scratch.name + ".damaged")
                goal.rename(damaged)  # another process may still have it mapped
                shutil.rmtree(damaged, ignore_errors=True)
            scratch.rename(goal)
            sync_path(self.folder)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        self._checked.add(name)
        return Made(folder=goal, hash=name, cost=cost)

    @contextlib.contextmanager
    def _locked(self, stage: str, name: str) -> Iterator[None]:
        try:
            lock = (make_folder(self.folder / "locks") / name).open("a+")
        except OSError as error:
            raise self._failed(error) from error
        with lock:
            waiting = False
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not waiting:
                        self._say(f"{stage}: another process is making it; waiting")
                    waiting = True
                    time.sleep(_WAIT_S)
            yield

    def _failed(self, error: OSError) -> FailedError:
        return FailedError(f"{self.folder}: the cache cannot be written: {error.strerror or error}")


@cache
def _core_digest() -> str:
    return digest(str(_core.__file__))


@cache
def program_name() -> str:
    """The version, and a short digest of the native core and the code that results depend on."""
    name = hashlib.blake2b(f"{_core_digest()} {_code_digest(_CELL)}".encode(), digest_size=4).hexdigest()
    return f"{version('dragoman')}+{name}"


@cache
def _code_digest(module: str = _STAGES) -> str:
    """Digest of the Python code that a module runs."""
    root = Path(__file__).parent.parent
    return _digest_of(_code_of(module, root), root)


@cache
def generator_digest() -> str:
    """Digest of the generator of the embedded corpus, which is a distribution of its own, and its lexicon."""
    root = Path(str(resources.files("dragoman_synth")))
    return _digest_of({*root.rglob("*.py"), *root.rglob("*.txt")}, root)


def _digest_of(files: Iterable[Path], root: Path) -> str:
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(files):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def _code_of(module: str, root: Path) -> set[Path]:
    """The file of a module and all files of this package that it imports, directly or indirectly."""
    found: set[Path] = set()
    names = [module]
    while names:
        place = root.joinpath(*names.pop().split(".")[1:])
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if path.exists() and path not in found and place != root:
            found.add(path)
            for package, several, one in _IMPORT.findall(path.read_text(encoding="utf-8")):
                names += [package, *(f"{package}.{name}" for name in re.findall(r"\w+", several or one))]
    return found
