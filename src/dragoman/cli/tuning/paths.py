"""The files of `dragoman tune`, looked at before anything is read or decoded."""

from __future__ import annotations

import os
from pathlib import Path

from dragoman.cli.session import check_outputs
from dragoman.cli.tuning.options import TuneOptions
from dragoman.errors import FailedError, InputError
from dragoman.system.manifest import MANIFEST

__all__ = ["check_paths"]


def check_paths(options: TuneOptions) -> None:
    """Raise InputError for an input that cannot be read or would be overwritten, FailedError for a useless -o."""
    inputs = [name for name in options.inputs() if name != "-"]
    for path in map(Path, inputs):
        if not path.exists():
            raise InputError("cannot be read: No such file or directory", path=path)
        if not os.access(path, os.R_OK):
            raise InputError("cannot be read: Permission denied", path=path)
    if not options.tunes_system:
        check_outputs(inputs, out=options.out)
    for goal in (options.out if options.tunes_system else None, options.system_out):
        if goal is not None:
            _check_folder(goal)
    if options.system_out is not None and (options.system_out / MANIFEST).exists():
        raise InputError("holds a system already; choose another folder for --system-out", path=options.system_out)


def _check_folder(goal: Path) -> None:
    folder = goal.absolute()
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise FailedError(f"{goal}: cannot be written: {folder} is not a folder that one may write to")
