"""The run folder of a `dragoman tune`: what it was started with, resolved."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from dragoman.candidates.features import feature_makers
from dragoman.cli.tuning.candidates import Kind
from dragoman.cli.tuning.options import TuneOptions, flag
from dragoman.errors import InputError
from dragoman.files.store import digest, digest_json
from dragoman.metric import by_name
from dragoman.optim import Optimiser
from dragoman.register import code_of
from dragoman.run import RunFolder
from dragoman.settings import plain
from dragoman.sources.lists.folder import LISTS
from dragoman.tuning import settings_to_come

__all__ = ["open_run"]

_UNRECORDED = {
    "out",
    "system_out",
    "run",
    "resume",
    "method",
    "setting",
    "freeze",
    "timeout",
    "engine",
    "workers",
    "address",
    "threads",
    "seed",
    "json",
    "quiet",
}
"""Options that do not change the result, or that are recorded as what they resolve to."""


@contextlib.contextmanager
def open_run(
    options: TuneOptions, kind: Kind, methods: Mapping[str, Optimiser], *, seed: int
) -> Iterator[RunFolder | None]:
    """The folder that --run names, or None."""
    if options.run is None:
        yield None
        return
    fields = {f.name: getattr(options, f.name) for f in dataclasses.fields(options) if f.name not in _UNRECORDED}
    settings = {
        "command": "tune",
        "seed": seed,
        "options": plain({name: value for name, value in fields.items() if value is not None}),
        "methods": {name: plain(optimiser) for name, optimiser in methods.items()},
        **code_of(methods, by_name(options.metric), *feature_makers(options.add or [])),
        "frozen": options.freeze or [],
        "inputs": _digests(options, (*kind.inputs, "weights", "template")),
    }
    may_change = settings_to_come(options.run)
    with RunFolder.open(options.run, settings, resume=options.resume, may_change=may_change) as run:
        yield run


def _digests(options: TuneOptions, fields: tuple[str, ...]) -> dict[str, str]:
    """What the input files contained, so that a run is not continued on others."""
    digests = {}
    for field in fields:
        value = options.score_files() if field == "scores" else getattr(options, field)
        for path in [str(value)] if isinstance(value, str | Path) else value or []:
            if path == "-":
                raise InputError(f"a run needs files that it can read again; {flag(field)} is standard input")
            named = _manifest(Path(path))
            # A folder is one of search spaces.
            files = sorted(file for file in named.iterdir() if file.is_file()) if named.is_dir() else []
            parts = {file.name: digest(file) for file in files}
            digests[path] = digest_json(parts) if named.is_dir() else digest(named)
    return digests


def _manifest(path: Path) -> Path:
    """The file that names the content of a folder; a file names its own."""
    return next((path / name for name in ("pool.json", LISTS) if (path / name).exists()), path)
