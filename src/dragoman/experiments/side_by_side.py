"""Cells side by side: each is an item of an engine, whose workers see the folders of the run and of the cache."""

from __future__ import annotations

import contextlib
import json
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dragoman.errors import DragomanError
from dragoman.experiments.cell import CellWork, Watch
from dragoman.experiments.corpora import CorpusFiles
from dragoman.experiments.grid import GridRecipe
from dragoman.experiments.stages import SharedStages
from dragoman.run import CellKey, CellResult, RunFolder
from dragoman.system import Silent
from dragoman.work.engine import Engine, Job
from dragoman.work.store import Store

__all__ = ["CellJob", "Work", "followed", "run_cell", "run_side_by_side"]

_LOOK_S = 1.0


class Work(Protocol):
    """The work of one cell."""

    @property
    def key(self) -> CellKey: ...

    def run(self) -> CellResult: ...


def run_cell(work: Work, run: RunFolder) -> CellResult:
    """The result of a cell, or a record of its failure: whatever goes wrong in one, the others should still run."""
    try:
        result = work.run()
        run.log("cell", cell=work.key.name, scores=dict(result.scores))
        return result
    except Exception as error:
        reason = str(error) if isinstance(error, DragomanError) else f"{type(error).__name__}: {error}"
        run.log("cell", cell=work.key.name, error=reason, traceback=traceback.format_exc())
        result = CellResult(key=work.key, error=reason)
        result.save(run.path)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class CellJob(Job[CellKey, CellResult]):
    """Cells of a run that the starting process holds the lock of."""

    repeatable = False
    recipe: GridRecipe
    files: Mapping[str, CorpusFiles | None]
    run: Path
    cache: Path

    def open(self, n_threads: int) -> Callable[[CellKey], CellResult]:
        store = Store(self.cache)
        run = RunFolder(self.run, {})
        watch = Watch(monitor=Silent(), on_step=lambda *_: None, on_round=lambda *_: None)

        def work(key: CellKey) -> CellResult:
            shared = SharedStages(
                store,
                self.recipe.corpora[key.corpus],
                self.files[key.corpus],
                self.recipe.systems[key.system],
                self.recipe.corpora[key.corpus].drawing_of(key.seed),
                n_threads=n_threads,
                monitor=Silent(),
            )
            return run_cell(CellWork(key, self.recipe, shared, store, run, n_threads=n_threads, watch=watch), run)

        return work


def run_side_by_side(
    engine: Engine, job: CellJob, keys: Iterable[CellKey], begin: Callable[[CellKey], None]
) -> Iterator[CellResult]:
    """Results in the order of the cells; `begin` is called when a cell is handed out."""

    def handed_out() -> Iterator[CellKey]:
        for key in keys:
            begin(key)
            yield key

    yield from engine.map(job, handed_out())


@contextlib.contextmanager
def followed(run: Path, step: Callable[[str, int, str], None]) -> Iterator[None]:
    """Tell, by the run's trace, which rounds the workers have finished: the name of the cell, the round, its score."""
    ended = threading.Event()
    place = _size(run / "trace.jsonl")

    def look() -> None:
        nonlocal place
        while not ended.wait(_LOOK_S):
            with contextlib.suppress(OSError), (run / "trace.jsonl").open("rb") as stream:
                stream.seek(place)
                for line in stream:
                    if not line.endswith(b"\n"):
                        break
                    place += len(line)
                    entry = json.loads(line)
                    if entry.get("event") == "round":
                        step(entry["cell"], entry["round"], f"dev {100 * entry['score']:.2f}")

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
