"""A tuned system: its own weights with its parent's tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.errors import InputError
from dragoman.features import Weights, store_weights
from dragoman.files.store import make_folder
from dragoman.system.folder import WEIGHTS
from dragoman.system.manifest import MANIFEST, Manifest, record_of, write_manifest
from dragoman.system.system import System
from dragoman.types import PathLike

__all__ = ["save_tuned"]


def save_tuned(
    system: System,
    out: PathLike,
    weights: Weights,
    *,
    about: Mapping[str, Any] | None = None,
    replace_old: bool = False,
) -> System:
    """A system in the folder `out` with these weights; its tables stay where they are and are never copied.

    The manifest names them by relative path and checksum, so both folders may be moved together. A tuned system that is
    there already is an error unless it is to be replaced.
    """
    if not weights.is_usable():
        raise InputError("the weights are not finite, or all zero; nothing was written", path=out)
    base = Path(out)
    if (base / MANIFEST).exists():
        if not replace_old:
            raise InputError("holds a system already; choose another folder", path=base)
        (base / MANIFEST).unlink()  # a system is complete when this is written again
        for old in base.glob(f"{WEIGHTS}.*"):
            old.unlink()
    make_folder(base)
    stored = store_weights(weights, base, WEIGHTS)
    here, there = base.resolve(), system.folder.resolve()
    files = {
        name: replace(record, path=Path(os.path.relpath(there / record.path, here)).as_posix())
        for name, record in system.manifest.files.items()
    }
    files["weights"] = record_of(base, stored)
    manifest = Manifest(
        settings=system.settings,
        files=files,
        parent=Path(os.path.relpath(there, here)).as_posix(),
        about={
            **{key: value for key, value in system.manifest.about.items() if key not in ("stages", "tuning")},
            "dragoman": version("dragoman"),
            **({"tuning": dict(about)} if about else {}),
        },
    )
    write_manifest(base, manifest)
    return System.load(base)
