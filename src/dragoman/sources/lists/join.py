"""Parts of lists, made by processes that knew nothing of each other, as one folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from dragoman.errors import InputError, MismatchError
from dragoman.files.store import new_folder
from dragoman.sources.lists.folder import ListsFolder, write_manifest
from dragoman.types import PathLike, Paths, one_or_many

__all__ = ["join_lists"]


def join_lists(parts: Paths, out: PathLike, *, n_threads: int = 1) -> ListsFolder:
    """The lists of all parts (`--shard 1/N` to `N/N`, in any order) in a new folder: the bytes of making them at once.

    Raises InputError for parts of different lists, for one that is missing, given twice or damaged.
    """
    parts = one_or_many(parts)
    if not parts:
        raise InputError("no parts given")
    found = sorted((ListsFolder.load(part) for part in parts), key=lambda part: (part.shards.start, part.shards.stop))
    first = found[0]
    for other in found[1:]:
        if differing := first.differences(other):
            raise MismatchError(
                f"{first.base} and {other.base} are not parts of the same lists: {differing[0]} differs"
            )
    _check_whole(found)
    with new_folder(out) as work:
        for part in found:
            for path in (*part.paths(), part.weights_path()):
                shutil.copyfile(path, work / path.name)
        system = os.path.relpath((first.base / first.system).resolve(), Path(out).resolve())
        write_manifest(
            work,
            first.settings,
            first.tables,
            first.search,
            Path(system).as_posix(),
            shards=range(first.n_shards),
            n_shards=first.n_shards,
            n_lists=sum(part.n_lists for part in found),
            n_candidates=sum(part.n_candidates for part in found),
            n_threads=n_threads,
        )
    return ListsFolder.load(out)


def _check_whole(parts: Sequence[ListsFolder]) -> None:
    """Raise MismatchError unless every shard is in one part."""
    at = 0
    for part in parts:
        if part.shards.start > at:
            raise MismatchError(_missing(at, part.shards.start, part.n_shards))
        if part.shards.start < at and part.shards:
            raise MismatchError(f"{part.base} has shard {part.shards.start} and so has another part; give each once")
        at = max(at, part.shards.stop)
    if at < parts[0].n_shards:
        raise MismatchError(_missing(at, parts[0].n_shards, parts[0].n_shards))


def _missing(begin: int, end: int, n_shards: int) -> str:
    return f"no part has the shards {begin} to {end - 1} of {n_shards} (counted from 0); give all parts"
