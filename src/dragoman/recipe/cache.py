"""Results of stages, found again by what they were made from.

    CACHE/HASH/            what a stage made, with entry.json: its key, cost, and the size and checksum of every file
    CACHE/.HASH.RANDOM/    a stage at work, or one that was killed
    CACHE/locks/HASH       held while a process makes HASH

HASH covers the stage's name, its settings, the content of its inputs, the version of this program, its native core and
the Python code that makes stages.
An entry appears by a rename when all its files are on disk. It is compared with its checksums when a process first
uses it; a damaged one is said to be so and made again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman import _core
from dragoman.errors import FailedError, InputError
from dragoman.run import StageCost
from dragoman.system.stages import peak_memory
from dragoman.text import replace_bytes, sync_path
from dragoman.tune.loop import cpu_seconds
from dragoman.types import PathLike

__all__ = ["Cache", "Made", "StageKey", "digest_of", "measured", "program_name"]

ENTRY = "entry.json"
_FORMAT = 1
_WAIT_S = 0.2
_STAGE_CODE = ("text", "corpus", "align", "lm", "features", "grammar", "forest", "search", "system", "recipe")
"""Packages whose code makes the stages."""
_CELL_CODE = ("metric", "pool", "optim", "tune", "evaluate")
"""Those whose code makes the rest of a cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageKey:
    """What the result of a stage depends on."""

    stage: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    """Hashes of other entries, or digests of files."""

    def content(self) -> dict[str, Any]:
        """Plain data."""
        program = {"format": _FORMAT, "dragoman": version("dragoman"), "core": _core_digest(), "code": _code_digest()}
        return {"stage": self.stage, "settings": self.settings, "inputs": dict(self.inputs), **program}

    @property
    def hash(self) -> str:
        """Names the entry."""
        text = json.dumps(self.content(), sort_keys=True, ensure_ascii=False, allow_nan=False)
        return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a stage made: a folder, and the cost of making it."""

    folder: Path
    hash: str
    cost: StageCost


class Cache:
    """A folder of entries that several processes may use at the same time."""

    def __init__(self, folder: PathLike, say: Callable[[str], None] = lambda _: None) -> None:
        self.folder = Path(folder)
        self._say = say
        self._checked: set[str] = set()

    def has(self, key: StageKey) -> bool:
        """Whether the entry is there; its content is not looked at."""
        return (self.folder / key.hash / ENTRY).exists()

    def make(self, key: StageKey, work: Callable[[Path], int | None]) -> Made:
        """The entry of a key; where it is missing or damaged, `work` fills a folder that becomes it.

        `work` returns the greatest memory that it measured itself, if it did.
        """
        name = key.hash
        found = self._find(key.stage, name)
        if found is None:
            with self._locked(key.stage, name):
                found = self._find(key.stage, name) or self._make(key, name, work)
        return found

    def _find(self, stage: str, name: str) -> Made | None:
        folder = self.folder / name
        try:
            record = json.loads((folder / ENTRY).read_bytes())
            cost = StageCost(name=stage, cached=True, **record["cost"])
            if name not in self._checked:
                _compare(folder, record["files"])
                self._checked.add(name)
        except FileNotFoundError as error:
            if folder.exists():
                self._say(f"{stage}: the cached result {folder} is damaged ({error.filename} is missing)")
            return None
        except (OSError, ValueError, KeyError, TypeError, InputError) as error:
            self._say(f"{stage}: the cached result {folder} is damaged ({error}); it will be made again")
            return None
        return Made(folder=folder, hash=name, cost=cost)

    def _make(self, key: StageKey, name: str, work: Callable[[Path], int | None]) -> Made:
        try:
            for leftover in self.folder.glob(f".{name}.*"):  # of a process that was killed: the lock is ours
                shutil.rmtree(leftover)
            scratch = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=self.folder))
        except OSError as error:
            raise self._failed(error) from error
        try:
            with measured(key.stage) as measure:
                peak = work(scratch) or 0
            cost = dataclasses.replace(measure(), peak_bytes=max(peak, measure().peak_bytes))
            files = {}
            for path in sorted(path for path in scratch.rglob("*") if path.is_file()):
                files[path.relative_to(scratch).as_posix()] = [path.stat().st_size, digest_of(path)]
                sync_path(path)
            fields = dataclasses.asdict(cost)
            del fields["name"], fields["cached"]
            record = {"key": key.content(), "cost": fields, "files": files}
            replace_bytes(scratch / ENTRY, json.dumps(record, indent=1, ensure_ascii=False).encode("utf-8") + b"\n")
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
            (self.folder / "locks").mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "locks" / name).open("a+")
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


@contextlib.contextmanager
def measured(name: str) -> Iterator[Callable[[], StageCost]]:
    """What a block costs, once it has ended. The peak is the greatest resident memory of the process meanwhile."""
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


def digest_of(path: PathLike) -> str:
    """A checksum of a file's content."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error


@cache
def _core_digest() -> str:
    return digest_of(str(_core.__file__))


@cache
def program_name() -> str:
    """The version, and a few digits that tell apart what makes figures: the native core and the code."""
    digest = hashlib.blake2b(f"{_core_digest()} {_code_digest((*_STAGE_CODE, *_CELL_CODE))}".encode(), digest_size=4)
    return f"{version('dragoman')}+{digest.hexdigest()}"


@cache
def _code_digest(packages: tuple[str, ...] = _STAGE_CODE) -> str:
    """Of this package's Python code below the recipes: what makes the stages."""
    root = Path(__file__).parent.parent
    digest = hashlib.blake2b(digest_size=16)
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _compare(folder: Path, files: Mapping[str, Any]) -> None:
    for name, (n_bytes, digest) in files.items():
        path = folder / name
        if path.stat().st_size != n_bytes or digest_of(path) != digest:
            raise ValueError(f"{name} has other content than when it was made")
