"""What all commands share: the common options, prose and progress on stderr, one JSON object on stdout."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from dragoman.cost import n_cores
from dragoman.errors import FailedError, InputError
from dragoman.text import open_output, printable
from dragoman.types import Progress

if TYPE_CHECKING:
    from rich.table import Table

    from dragoman.settings import Setting

__all__ = [
    "Json",
    "Quiet",
    "Seed",
    "Session",
    "Summary",
    "Threads",
    "check_inputs",
    "check_outputs",
    "show_settings",
    "table",
]

_common = partial(typer.Option, rich_help_panel="Common options")
Threads = Annotated[
    int, _common(min=0, help="Threads for native work; 0 means all cores. Results do not depend on it.")
]
Seed = Annotated[int, _common(min=0, help="Seed of every random draw.")]
Json = Annotated[bool, _common("--json", help="One JSON object on standard output.")]
Quiet = Annotated[bool, _common("--quiet", "-q", help="No prose and no progress; warnings stay.")]
Summary = Annotated[Path | None, typer.Option(help="Write a JSON summary here.")]

_T = TypeVar("_T")
_SHOW_AFTER_S = 2.0


def check_outputs(inputs: Iterable[str | Path | None] = (), **names: str | Path | None) -> None:
    """Refuse outputs, by the names of their options, that would be lost or would destroy something.

    Raises InputError where two go to one place, one is an input or has no folder, FailedError where it cannot be
    written.
    """
    taken: dict[str, str] = {}
    sources = [Path(name) for name in inputs if name is not None and str(name) != "-"]
    for option, name in names.items():
        if name is None:
            continue
        shown = f"--{option.replace('_', '-')}"
        place = "-" if str(name) == "-" else str(Path(name).resolve())
        if (other := taken.setdefault(place, shown)) != shown:
            raise InputError(f"{other} and {shown} both write to {name}; give two different files")
        if place != "-":
            _check_place(shown, Path(name), sources)


def _check_place(option: str, path: Path, inputs: list[Path]) -> None:
    if path.is_file():
        same = [source for source in inputs if source.exists() and source.samefile(path)]
        if same:
            raise InputError(f"{option} {path} is the input {same[0]}, which would be overwritten; name another file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError("its folder does not exist; create it, or choose another", path=path)
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise FailedError(f"{path}: cannot be written: {'it is a folder' if path.is_dir() else 'permission denied'}")


def check_inputs(*names: str | None) -> None:
    """Raise InputError where standard input would be read twice."""
    if names.count("-") > 1:
        raise InputError("standard input can be read once; name a file for the other side")


def table(*columns: str, numeric_from: int = 1) -> Table:
    """An empty table whose columns from `numeric_from` on are right-aligned. Add cells as Text or plain numbers."""
    from rich.table import Table

    result = Table(box=None, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        result.add_column(Text(column), justify="right" if i >= numeric_from else "left", overflow="fold")
    return result


def _prose(text: str) -> Text:
    """Never read as markup; settings are options here."""
    from dragoman.cli.as_options import as_options  # nothing is said by --help

    return Text(as_options(text))


class Session:
    """One command at work."""

    def __init__(self, *, n_threads: int = 0, seed: int = 0, json: bool = False, quiet: bool = False) -> None:
        self.n_threads = n_threads or n_cores()
        self.seed = seed
        self.json = json
        self.quiet = quiet
        self._errors = Console(stderr=True, quiet=quiet)
        self._alarms = Console(stderr=True) if quiet else self._errors
        self._output = Console(quiet=json)

    def say(self, text: str) -> None:
        """Prose on standard error; never read as markup."""
        self._errors.print(_prose(text), soft_wrap=True)

    def warn(self, text: str) -> None:
        """Something is probably wrong: on standard error in any case, so that scripts with --quiet see it."""
        self._alarms.print(_prose(f"warning: {printable(text)}"), soft_wrap=True)

    def tell(self, what: Table | str) -> None:
        """A result for people where standard output is taken: on standard error."""
        self._errors.print(_prose(what) if isinstance(what, str) else what, soft_wrap=True)

    def show(self, what: Table | str) -> None:
        """The command's result for people, on standard output; silent with --json."""
        self._output.print(Text(what) if isinstance(what, str) else what, soft_wrap=True)

    def emit(self, result: object) -> None:
        """The command's result for programs: one JSON object, with --json only."""
        if self.json:
            is_ascii = "utf" not in (sys.stdout.encoding or "").lower()
            sys.stdout.write(json.dumps(_plain(result), ensure_ascii=is_ascii, allow_nan=False) + "\n")
            sys.stdout.flush()

    def write_json(self, path: Path, result: object) -> None:
        """A summary for programs, for commands whose standard output is text."""
        with open_output(path) as writer:
            writer.write(json.dumps(_plain(result), ensure_ascii=False, allow_nan=False))

    @contextlib.contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Progress]:
        """A bar with rate and remaining time for work that lasts longer than two seconds."""
        from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = [
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn() if total else TextColumn("{task.completed}"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        ]
        hidden = self.quiet or not self._errors.is_terminal  # else a file gets an empty line for each bar
        bar = RichProgress(*columns, console=self._errors, transient=True, disable=hidden)
        task = bar.add_task(what, total=total, rate="")
        started = time.monotonic()
        shown = False

        def update(done: int) -> None:
            nonlocal shown
            elapsed = time.monotonic() - started
            if elapsed > _SHOW_AFTER_S:
                if not shown:
                    bar.start()
                    shown = True
                bar.update(task, completed=done, rate=f"{done / elapsed:,.0f}/s")

        try:
            yield update
        finally:
            if shown:
                bar.stop()

    def track(self, items: Iterable[_T], what: str, total: int | None = None) -> Iterator[_T]:
        with self.progress(what, total) as update:
            for n, item in enumerate(items, start=1):
                yield item
                if n % 512 == 0:
                    update(n)


def show_settings(session: Session, settings: Mapping[str, Sequence[Setting]]) -> None:
    """The settings of methods or kinds of systems by name: defaults, allowed values, meaning."""
    for name, found in settings.items():
        session.show(f"{name}:")
        for item in found:
            session.show(f"  {item.name} = {item.default}    ({item.allowed})")
            if item.meaning:
                session.show(f"      {item.meaning}")
    session.emit({"settings": {name: {s.name: s for s in found} for name, found in settings.items()}})


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value
