"""The run folder: settings, a trace, and one subfolder per finished round.

    RUN/run.json         format version, program version, resolved settings
    RUN/trace.jsonl      the events, one JSON object per line
    RUN/rounds/0001/     the results of round 1; complete or absent
    RUN/rounds/failed-0002/     what a decoder left when round 2 failed, until the run goes on
    RUN/lock             held while a process uses the run

A round is written to a scratch folder and renamed when complete, so that a run killed at any moment continues after its
last complete round. Names that start with a dot are scratch, of this process or of a killed one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from dragoman.errors import FailedError, InputError, naming
from dragoman.files.store import from_plain, read_json, seal, unseal, write_json
from dragoman.text import replace_bytes, sync_path
from dragoman.types import PathLike

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["RunFolder"]

_Record = TypeVar("_Record", bound="DataclassInstance")

_FORMAT = "dragoman-run"
_VERSION = 1
_UNFINISHED = ".run.json.*"
_FAILED = "failed-"
_MANY = 5
_CODE = "code."
"""Begins the names of settings that are digests of code from outside."""
"""Differences that a message names."""
_OWN = {"run.json", "trace.jsonl", "lock", "rounds"}


class RunFolder:
    """A run locked by this process. Use `RunFolder.open` as a context manager."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.settings = settings

    @classmethod
    @contextlib.contextmanager
    def open(
        cls, path: PathLike, settings: dict[str, Any], *, resume: bool = False, may_change: Collection[str] = ()
    ) -> Iterator[RunFolder]:
        """Start a run in a new or empty folder, or continue one with the same settings.

        `may_change` are settings that nothing recorded depends on yet; their new values are recorded.
        A run that recorded only its settings is restarted. Raises InputError if the folder has more and `resume` is
        false, if the settings differ, or if another process is using it.
        """
        base = Path(path)
        made = [folder for folder in (base, *base.parents) if not folder.exists()]
        with _clear_failures(base):
            base.mkdir(parents=True, exist_ok=True)
            lock = (base / "lock").open("a+")
        with lock:
            _take(lock, base)
            run = cls(base, json.loads(json.dumps(settings)))
            is_new = not (base / "run.json").exists()
            with _clear_failures(base):
                run._begin(resume, may_change)
            try:
                yield run
            except InputError:
                if is_new and base.exists() and _is_hollow(base):
                    run._forget(made)
                raise

    @classmethod
    def check(cls, path: PathLike, settings: dict[str, Any], *, may_change: Collection[str] = ()) -> bool:
        """Whether no setting has changed. Raises InputError if `open` could neither start nor resume a run.

        Writes nothing.
        """
        base = Path(path)
        if base.exists() and not base.is_dir():
            raise InputError("is not a folder; choose another", path=base)
        if (base / "run.json").exists() and not _is_hollow(base):
            return _check_same(base / "run.json", json.loads(json.dumps(settings)), may_change)
        if base.exists() and not (base / "run.json").exists():
            _check_empty(base)
        return True

    def rounds(self) -> list[Path]:
        """The folders of the finished rounds, in order without gaps."""
        found = []
        for number in range(1, 10_000):
            folder = self._round_path(number)
            if not folder.is_dir():
                break
            found.append(folder)
        return found

    @contextlib.contextmanager
    def new_round(self, *, keep_failed: bool = False) -> Iterator[Path]:
        """A scratch folder that becomes the next round when the block succeeds.

        `keep_failed`: when it raises a FailedError, the folder is kept for people to look at; the message names it.
        """
        goal = self._round_path(len(self.rounds()) + 1)
        with _clear_failures(self.path):
            goal.parent.mkdir(exist_ok=True)
            # A unique name: a decoder that outlived a killed run may still write to that run's scratch.
            scratch = Path(tempfile.mkdtemp(prefix=f".{goal.name}.", dir=goal.parent))
        try:
            yield scratch
        except FailedError as error:
            if not keep_failed:
                shutil.rmtree(scratch, ignore_errors=True)
                raise
            kept = goal.with_name(f"{_FAILED}{goal.name}")
            with _clear_failures(self.path):
                shutil.rmtree(kept, ignore_errors=True)
                scratch.rename(kept)
            text = str(error).replace(scratch.name, kept.name)
            raise FailedError(f"{text}\nthe files of this round are kept in {kept}") from error
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        with _clear_failures(self.path):
            umask = os.umask(0)
            os.umask(umask)
            scratch.chmod(0o777 & ~umask)
            for file in scratch.rglob("*"):
                if file.is_file():
                    sync_path(file)
            scratch.rename(goal)
            sync_path(goal.parent)

    def log(self, event: str, **fields: object) -> None:
        line = json.dumps({"event": event, "time": round(time.time(), 3), **fields}, allow_nan=False)
        with _clear_failures(self.path), (self.path / "trace.jsonl").open("ab", buffering=0) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)  # cells side by side share the trace
            n_bytes = stream.seek(0, os.SEEK_END)
            try:
                data = line.encode("utf-8") + b"\n"
                while data:
                    data = data[stream.write(data) :]
                os.fsync(stream.fileno())
            except OSError:
                stream.truncate(n_bytes)  # a partial line would corrupt the next one
                raise

    def trace(self) -> list[dict[str, Any]]:
        """The logged events, without lines truncated by a full disk or a kill."""
        file = self.path / "trace.jsonl"
        found = []
        for line in file.read_bytes().split(b"\n") if file.exists() else ():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return [entry for entry in found if isinstance(entry, dict) and "event" in entry]

    def log_record(self, event: str, record: DataclassInstance) -> None:
        """Append a record with a checksum to the trace."""
        self.log(event, **seal(dataclasses.asdict(record)))

    def _repr_html_(self) -> str:
        """What notebooks show: how far the run is, and its settings."""
        from markupsafe import Markup

        from dragoman.view.drawing import curve, fragment, label, table  # only notebooks need it

        rows = [[name, json.dumps(value, ensure_ascii=False)] for name, value in self.settings.items()]
        events = self.trace()
        scores = [entry["score"] for entry in events if entry["event"] == "decoded" and "score" in entry]
        shown = [100 * score for score in scores if isinstance(score, (int, float))]
        head = Markup("<p><b>{}</b>: {} rounds, {} events</p>")
        return fragment(
            head.format(label(str(self.path)), len(self.rounds()), len(events)),
            curve(shown, "Score on the development set by round"),
            table(["setting", "value"], rows),
        )

    def records(self, event: str, cls: type[_Record]) -> list[_Record]:
        """What `log_record` appended. Raises InputError for a damaged one."""
        with naming(self.path / "trace.jsonl"):
            found = [entry for entry in self.trace() if entry.pop("event") == event]
            plain = [{key: value for key, value in entry.items() if key != "time"} for entry in found]
            return [from_plain(cls, unseal(entry, "run")) for entry in plain]

    def save(self, name: str, value: object) -> None:
        """Write a JSON file of the run atomically."""
        with _clear_failures(self.path):
            write_json(self.path / name, value)

    def _round_path(self, number: int) -> Path:
        return self.path / "rounds" / f"{number:04d}"

    def _begin(self, resume: bool, may_change: Collection[str]) -> None:
        record = self.path / "run.json"
        if record.exists():
            if not _is_hollow(self.path):
                if not resume:
                    raise InputError(
                        "holds a run already; say `resume=True` to continue it, or name another", path=self.path
                    )
                if _check_same(record, self.settings, may_change):
                    self._repair()
                    return
            self._repair()
        else:
            _check_empty(self.path)
        for unfinished in self.path.glob(_UNFINISHED):
            unfinished.unlink(missing_ok=True)
        head = {"format": _FORMAT, "version": _VERSION, "dragoman": version("dragoman")}
        write_json(record, {**head, "python": platform.python_version(), "settings": self.settings})

    def _forget(self, made: Sequence[Path]) -> None:
        """Remove the run, and the empty folders that were created for it."""
        for name in ("run.json", "trace.jsonl", "lock"):
            (self.path / name).unlink(missing_ok=True)
        shutil.rmtree(self.path / "rounds", ignore_errors=True)
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()

    def _repair(self) -> None:
        """Remove the leftovers of a kill or a failure: scratch files, rounds, and an incomplete last trace line."""
        for pattern in (".*", f"{_FAILED}*"):
            for scratch in (self.path / "rounds").glob(pattern):
                shutil.rmtree(scratch, ignore_errors=True)
        for file in (*self.path.glob(".*"), *self.path.glob("rounds/*/.*"), *self.path.glob("rounds/*/state/.*")):
            file.unlink(missing_ok=True)
        trace = self.path / "trace.jsonl"
        if trace.exists():
            data = trace.read_bytes()
            if not data.endswith(b"\n"):
                replace_bytes(trace, data[: data.rfind(b"\n") + 1])


def _is_hollow(base: Path) -> bool:
    """Whether a run was started but has recorded nothing yet."""
    others = [path for path in base.iterdir() if path.name not in _OWN and not path.name.startswith(".")]
    trace = base / "trace.jsonl"
    return not others and not any(base.glob("rounds/[0-9]*")) and not (trace.exists() and trace.stat().st_size)


def _check_empty(base: Path) -> None:
    if any(entry.name != "lock" and not entry.match(_UNFINISHED) for entry in base.iterdir()):
        raise InputError("is not empty and holds no run; name another folder", path=base)


def _check_same(record: Path, settings: dict[str, Any], may_change: Collection[str] = ()) -> bool:
    """Whether nothing has changed. Raises InputError if what may not change has."""
    stored = read_json(record, "run")
    if stored.get("format") != _FORMAT or stored.get("version") != _VERSION:
        raise InputError(f"is not the record of a run of format version {_VERSION}", path=record)
    before = stored.get("settings")
    changed = list(_differences(before if isinstance(before, dict) else {}, settings))
    if fixed := [name for name in changed if name not in may_change]:
        if codes := [name.removeprefix(_CODE) for name in fixed if name.startswith(_CODE)]:
            raise InputError(
                f"was started with another version of the code of {', '.join(codes)}; start anew, or restore the file",
                path=record,
            )
        names = ", ".join(fixed[:_MANY]) + (", …" if len(fixed) > _MANY else "")
        raise InputError(f"was started with other settings ({names}); resume with the same, or start anew", path=record)
    return not changed


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Keys whose values differ, those of tables as `outer.inner`."""
    for key in sorted({*before, *after}):
        one, other = before.get(key), after.get(key)
        if one and other and isinstance(one, dict) and isinstance(other, dict):
            yield from (f"{key}.{inner}" for inner in _differences(one, other))
        elif one != other:
            yield key


def _take(lock: IO[str], base: Path) -> None:
    """Hold the lock until the file is closed, even by a kill."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        raise InputError(f"another process (id {holder}) is at work on this run; wait for it", path=base) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()


@contextlib.contextmanager
def _clear_failures(base: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FailedError(
            f"{base}: the run cannot be written: {error.strerror or error}; what is complete is kept"
        ) from error
