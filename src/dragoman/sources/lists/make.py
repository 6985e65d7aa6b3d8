"""Making lists of the training text: shards of lines go to an engine's workers, and come back as files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.errors import FailedError, InputError
from dragoman.features import FeatureTable, Weights, store_weights
from dragoman.register import code_of
from dragoman.run import RunFolder
from dragoman.sources.lists.folder import WEIGHTS, ListsFolder, shard_name, tables_of, write_manifest
from dragoman.sources.lists.settings import ListsSettings
from dragoman.sources.lists.shard import ListShard
from dragoman.sources.lists.storage import map_shard, write_shard
from dragoman.system import FoldDecoder, System, digest_lines
from dragoman.system import shards as split_lines
from dragoman.system.watch import SystemWatch
from dragoman.types import Int64Array, PathLike, Progress
from dragoman.work.engine import Engine, Job, LocalEngine, Part

__all__ = ["make_lists"]

_WEIGHT = "weight"
"""The column of a table of weights."""


def make_lists(
    system: System | PathLike,
    out: PathLike,
    settings: ListsSettings,
    *,
    weights: Weights | None = None,
    lines: Int64Array | None = None,
    part: Part | None = None,
    engine: Engine | None = None,
    resume: bool = False,
    n_threads: int = 1,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> ListsFolder:
    """k-best lists of the system's training text in the folder `out`; a shard's file is there as soon as it is done.

    `weights` are those of the search, by default the system's own. `lines` are line numbers, ascending, instead of
    those that the settings choose. A stopped making goes on with `resume` to the same
    bytes; shards that are damaged are made again. The bytes do not depend on the engine.
    """
    # A system that was used before knows more features, and sums of scores depend on their order.
    loaded = System.load(system.folder if isinstance(system, System) else system).with_templates(settings.features)
    if isinstance(system, System):
        loaded = loaded.with_blocks(system.blocks, system.rest)
    chosen = {} if lines is None else {"lines": digest_lines(lines)}
    if lines is None:
        lines = loaded.training.select(where=settings.where, limit=settings.limit)
    lines_of = split_lines(lines, settings.lines_per_shard)
    if not len(lines):
        raise InputError(f"no line of the training text is of the domain '{settings.where}'", path=loaded.folder)
    part = part or Part()
    used = loaded.weights if weights is None else weights
    if not used.is_usable():
        raise InputError("the weights cannot rank candidates: they are all zero, or not finite")
    search = {"weights": used.digest(), **loaded.blocks_record()}
    record = {
        "command": "lists",
        **settings.to_json(),
        **code_of(settings.measure()),
        "part": str(part),
        "system": tables_of(loaded),
        **search,
        **chosen,
    }
    base = Path(out)
    shards = part.shards(len(lines_of))
    if not (base / "run.json").exists():
        RunFolder.check(base, record)  # writes nothing into a folder of something else
    with RunFolder.open(base, record, resume=resume):
        work = _Work(base, shards, lines_of, say)
        n_done = sum(map(len, (lines_of[shard] for shard in work.sizes)))
        wanted = [shard for shard in shards if shard not in work.sizes]
        watch = SystemWatch(loaded)
        job = _ListsJob(loaded, FeatureTable.from_weights(used, _WEIGHT), settings)
        results = (engine or LocalEngine(n_threads)).map(job, (lines_of[shard] for shard in wanted))
        for shard, made in zip(wanted, results, strict=True):
            watch.check()
            work.keep(shard, made)
            n_done += len(lines_of[shard])
            if progress is not None:
                progress(n_done)
        store_weights(used, base, WEIGHTS)
        write_manifest(
            base,
            settings,
            tables_of(loaded),
            search,
            Path(os.path.relpath(loaded.folder.resolve(), base.resolve())).as_posix(),
            shards=shards,
            n_shards=len(lines_of),
            n_lists=sum(n_lists for n_lists, _ in work.sizes.values()),
            n_candidates=sum(n_candidates for _, n_candidates in work.sizes.values()),
            n_threads=n_threads,
        )
    return ListsFolder.load(base)


@dataclass(frozen=True, slots=True)
class _ListsJob(Job[Int64Array, ListShard]):
    system: System
    weights: FeatureTable
    settings: ListsSettings

    def open(self, n_threads: int) -> Callable[[Int64Array], ListShard]:
        settings, metric = self.settings, self.settings.measure()
        decoder = FoldDecoder(self.system, preset=settings.preset, all_data=settings.all_data)
        weights = self.weights.weights(_WEIGHT, decoder.index)

        def make(lines: Int64Array) -> ListShard:
            pool = decoder.kbest(
                lines, weights, settings.k, distinct=settings.distinct, derivations=True, n_threads=n_threads
            )
            measured = decoder.measured(pool, metric, n_threads=n_threads)
            folds = None if settings.all_data else decoder.training.folds[lines]
            return ListShard.of(measured, measured.shards[0], folds)

        return make


class _Work:
    """The shards that are there, with their numbers of lists and candidates."""

    def __init__(self, base: Path, shards: range, lines_of: list[Int64Array], say: Callable[[str], None]) -> None:
        self._base = base
        self.sizes: dict[int, tuple[int, int]] = {}
        for shard in shards:
            path = base / shard_name(shard)
            if not path.exists():
                continue
            try:
                found = map_shard(path)
            except InputError as error:
                say(f"{error}: made again")
                continue
            if np.array_equal(found.lines, lines_of[shard]):
                self._count(shard, found)
            else:
                say(f"{path} has the lists of other lines: made again")

    def keep(self, shard: int, made: ListShard) -> None:
        """Write a shard. Raises FailedError where there is no room for it."""
        try:
            write_shard(self._base / shard_name(shard), made)
        except FailedError as error:
            raise FailedError(
                f"{error}; the shards before it are kept: make room, then go on with `resume=True`"
            ) from error
        self._count(shard, made)

    def _count(self, shard: int, made: ListShard) -> None:
        self.sizes[shard] = int(np.count_nonzero(np.diff(made.sentences))), made.n_candidates
