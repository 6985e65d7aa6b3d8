"""A folder of lists: shards, the weights that found them, and a manifest.

- `lists.json`: settings, the system they are of, sizes, checksums; written when everything else is there
- `weights.tsv`: the weights of the search; many of them are in `weights.bin`
- `shard-000000`, …: the lists of so many lines each
- `run.json`, `lock`: what they were begun with, and who is at work on them
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.errors import InputError, naming
from dragoman.features import Weights, find_weights, read_weights
from dragoman.files.store import Format, Manifest, digest_json
from dragoman.sources.lists.settings import ListsSettings
from dragoman.system import System
from dragoman.types import PathLike

__all__ = ["LISTS", "WEIGHTS", "ListsFolder", "shard_name", "tables_of", "write_manifest"]

LISTS = "lists.json"
WEIGHTS = "weights"
_FORMAT = Format("dragoman-lists", 1, "folder of lists", LISTS)
_AGAIN = "`dragoman lists` with the same options and `resume=True` makes it again"


def shard_name(number: int) -> str:
    """The file of a shard."""
    return f"shard-{number:06}"


def tables_of(system: System) -> dict[str, str]:
    """What lists of a system depend on besides its weights and sparse features: the content of files by role."""
    settings = replace(system.settings, features=()).to_json()
    files = {role: record.blake2b for role, record in system.manifest.files.items() if role != "weights"}
    return {"settings": digest_json(settings), **files}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsFolder:
    """Complete lists, or a complete part of them: `shards`, of `n_shards` altogether."""

    base: Path
    manifest: Manifest
    settings: ListsSettings
    tables: dict[str, str]
    search: dict[str, Any]
    """What names the weights and blocks of the search."""
    system: str
    """The folder of the system, relative to this one."""
    shards: range
    n_shards: int
    n_lists: int
    n_candidates: int

    @classmethod
    def load(cls, folder: PathLike) -> ListsFolder:
        """Read the manifest; files are compared with their checksums where they are used.

        Raises InputError for lists that are being made, or whose making was interrupted.
        """
        base = Path(folder)
        if not (base / LISTS).exists() and (base / "run.json").exists():
            raise InputError(
                "the lists are not complete; `dragoman lists` with the same options and `resume=True` goes on",
                path=base,
            )
        manifest = _FORMAT.read(base)
        first, end, n_shards, n_lists, n_candidates = manifest.counts(
            "first_shard", "end_shard", "n_shards", "n_lists", "n_candidates"
        )
        settings, tables, search = (_table(manifest, name) for name in ("settings", "tables", "search"))
        system = manifest.content.get("system")
        if not isinstance(system, str):
            raise manifest.damaged("does not say where the system is")
        if not first <= end <= n_shards:
            raise manifest.damaged(f"has shards {first} to {end} of {n_shards}")
        with naming(base / LISTS):
            return cls(
                base=base,
                manifest=manifest,
                settings=ListsSettings.from_json(settings),
                tables=tables,
                search=search,
                system=system,
                shards=range(first, end),
                n_shards=n_shards,
                n_lists=n_lists,
                n_candidates=n_candidates,
            )

    @property
    def n_bytes(self) -> int:
        """Of all shards."""
        return sum(self.manifest.files[shard_name(shard)].n_bytes for shard in self.shards)

    def paths(self) -> list[Path]:
        """The files of the shards. Raises InputError for one that is missing or damaged."""
        try:
            return [self.manifest.check(shard_name(shard)) for shard in self.shards]
        except InputError as error:
            raise InputError(f"{error.message}; {_AGAIN}", path=error.path) from error

    def weights_path(self) -> Path:
        """The file of the weights. Raises InputError for a damaged one."""
        return self.manifest.check(find_weights(self.base, WEIGHTS).name)

    def weights(self) -> Weights:
        """Those of the search."""
        return read_weights(self.weights_path())

    def open_system(self, folder: PathLike | None = None, *, features: Sequence[str] | None = None) -> System:
        """The system of the lists, with other sparse features than the lists' own if given.

        `folder` is where it is now, unless it is where it was. Raises InputError where it is gone, or another.
        """
        place = Path(os.path.normpath(self.base.resolve() / self.system)) if folder is None else Path(folder)
        if not place.exists():
            raise InputError(f"the system of the lists {self.base} is gone; say where it is with `system`", path=place)
        system = System.load(place)
        if changed := differences(self.tables, tables_of(system)):
            raise InputError(
                f"is not the system that the lists {self.base} were made with: it has other {changed[0]}; "
                "name that one with `system`, or make the lists again",
                path=place,
            )
        return system.with_templates(self.settings.features if features is None else features)

    def differences(self, other: ListsFolder) -> list[str]:
        """In what two folders that should be parts of the same lists differ."""
        found = differences(self.settings.to_json(), other.settings.to_json())
        found += [f"the system's {role}" for role in differences(self.tables, other.tables)]
        if self.n_shards != other.n_shards:
            found.append("the number of shards")
        found += [f"the search's {what}" for what in differences(self.search, other.search)]
        return found


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Keys whose values differ."""
    return [key for key in {**one, **other} if one.get(key) != other.get(key)]


def _table(manifest: Manifest, name: str) -> dict[str, Any]:
    found = manifest.content.get(name)
    if not isinstance(found, dict):
        raise manifest.damaged(f"lacks the {name} of the lists")
    return found


def write_manifest(
    base: Path,
    settings: ListsSettings,
    tables: dict[str, str],
    search: dict[str, Any],
    system: str,
    *,
    shards: range,
    n_shards: int,
    n_lists: int,
    n_candidates: int,
    n_threads: int = 1,
) -> None:
    """Complete a folder that has everything else."""
    content = {
        "settings": settings.to_json(),
        "system": system,
        "tables": tables,
        "search": search,
        "first_shard": shards.start,
        "end_shard": shards.stop,
        "n_shards": n_shards,
        "n_lists": n_lists,
        "n_candidates": n_candidates,
    }
    names = [find_weights(base, WEIGHTS).name, *map(shard_name, shards)]
    _FORMAT.write(base, names, content, n_threads=n_threads)
