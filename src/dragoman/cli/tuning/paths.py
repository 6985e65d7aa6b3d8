"""The files of `dragoman tune`, looked at before anything is read or decoded."""

from __future__ import annotations

import os
from pathlib import Path

from dragoman.cli.tuning.options import TuneOptions, flag
from dragoman.errors import InputError

__all__ = ["check_paths"]

_INPUTS = ("nbest", "stats", "system", "source", "reference", "weights", "template")


def check_paths(options: TuneOptions) -> None:
    """Raise InputError for an input that cannot be read, and for a result that could not be written."""
    inputs = [(name, path) for name in _INPUTS for path in _paths(getattr(options, name)) if str(path) != "-"]
    for _, path in inputs:
        if not path.exists():
            raise InputError("cannot be read: No such file or directory", path=path)
        if not os.access(path, os.R_OK):
            raise InputError("cannot be read: Permission denied", path=path)
    out = options.out
    if out is None or str(out) == "-":
        return
    for name, path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise InputError(f"is both the result and {flag(name)}; name another with -o", path=out)
    if options.system is None:
        if out.is_dir():
            raise InputError("is a folder; name a file for the weights with -o", path=out)
        _check_folder(out.absolute().parent, "the folder of the result does not exist; make it, or name another")
    else:
        missing_ok = out.absolute()
        while not missing_ok.exists():
            missing_ok = missing_ok.parent
        _check_folder(missing_ok, "is not a folder; name another with -o")


def _paths(value: object) -> list[Path]:
    if value is None:
        return []
    return [Path(str(path)) for path in value] if isinstance(value, list | tuple) else [Path(str(value))]


def _check_folder(folder: Path, otherwise: str) -> None:
    if not folder.is_dir():
        raise InputError(otherwise, path=folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("cannot be written to: Permission denied", path=folder)
