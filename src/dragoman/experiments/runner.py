"""Running the cells of a grid in a run folder.

RUN/run.json, trace.jsonl, lock     as in every run
RUN/recipe.json                     the recipe as last run
RUN/corpora/NAME/                   test sets
RUN/cells/CORPUS/SYSTEM/FEATURES/OPTIMISER/SEED/
    plan.json, programs.txt         what the figures depend on, written first; which programs worked on it
    tuned/                          the tuned system, with the record of its tuning round by round
    weights/, test.txt, start.txt, tests/, starts/, derivations.jsonl, cell.json
"""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dragoman.errors import InputError
from dragoman.experiments.cell import CellWork, Watch, cell_plan
from dragoman.experiments.grid import GridRecipe, Place, Selection
from dragoman.experiments.list_form import ListRecipe
from dragoman.experiments.side_by_side import CellJob, followed, run_cell, run_side_by_side
from dragoman.experiments.stages import SharedStages
from dragoman.run import CellKey, CellResult, RunFolder, cell_folder, load_cells, load_plans, plan_changes
from dragoman.settings import plain
from dragoman.system import Monitor, Silent
from dragoman.tuning import RoundRecord
from dragoman.types import PathLike
from dragoman.work.engine import Engine
from dragoman.work.store import Store

__all__ = [
    "CACHE",
    "CellPlan",
    "Observer",
    "cache_folder",
    "check_plans",
    "drop_changed_code",
    "drop_scratch",
    "plan_cells",
    "record_start",
    "run_cells",
]

CACHE = ".dragoman-cache"
"""The default cache folder, next to the run folder."""
_KIND = {"kind": "systems"}


class Observer(Monitor, Protocol):
    """Progress callbacks of a run."""

    def begin_cell(self, key: CellKey) -> None: ...

    def step(self, key: CellKey, number: int, what: str) -> None:
        """Called before a round is decoded, learned from, or evaluated on the test set."""
        ...

    def end_round(self, key: CellKey, record: RoundRecord) -> None: ...

    def end_cell(self, result: CellResult, *, before: bool) -> None:
        """Called when a cell is complete (already `before` this run, or now) or has failed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan:
    """A cell and its shared stages, and whether each is cached."""

    key: CellKey
    stages: Mapping[str, bool]
    steps: tuple[str, ...]
    """Steps of tuning before its rounds."""
    steps_of: CellKey
    """The first cell that needs the same steps: it makes them, the others find them."""
    done: bool


def plan_cells(
    recipe: GridRecipe, selection: Selection, out: PathLike | None = None, cache: PathLike | None = None
) -> list[CellPlan]:
    """What a run would do, in a new folder or in `out`; a dry run.

    Raises InputError if `out` cannot hold a run, or has one with other settings.
    """
    store = Store(cache_folder(out, cache))
    shared = _shared_stages(recipe, selection, store, n_threads=1, monitor=Silent())
    done = set()
    if out is not None:
        RunFolder.check(out, _KIND)
        check_plans(Path(out), {key: cell_plan(key, recipe, shared[recipe.place(key)]) for key in selection.cells})
        done = {result.key for result in load_cells(out) if result.error is None}
    first: dict[object, CellKey] = {}
    for key in selection.cells:
        first.setdefault(_tuned(recipe, key), key)
    return [
        CellPlan(
            key=key,
            stages={stage.kind: store.has(stage) for stage in shared[recipe.place(key)].plan()},
            steps=recipe.optimisers[key.optimiser].steps(),
            steps_of=first[_tuned(recipe, key)],
            done=key in done,
        )
        for key in selection.cells
    ]


def _tuned(recipe: GridRecipe, key: CellKey) -> object:
    """What cells that differ in their seed alone have in common."""
    return recipe.place(key), key.features, key.optimiser


def cache_folder(out: PathLike | None, cache: PathLike | None) -> Path:
    """The given cache folder, or the default: next to the run, or without one in the current folder."""
    return Path(out or "run").absolute().parent / CACHE if cache is None else Path(cache)


def run_cells(
    recipe: GridRecipe,
    selection: Selection,
    out: PathLike,
    *,
    observer: Observer,
    cache: PathLike | None = None,
    resume: bool = False,
    n_threads: int = 1,
    engine: Engine | None = None,
) -> list[CellResult]:
    """Run all incomplete cells; a failed cell records its error and does not stop the others.

    With an engine, its workers run cells side by side: they must see the folders of the run and of the cache.
    """
    store = Store(cache_folder(out, cache), observer.say)
    with RunFolder.open(out, _KIND, resume=resume) as run:
        shared = _shared_stages(recipe, selection, store, n_threads=n_threads, monitor=observer)
        watch = Watch(monitor=observer, on_step=observer.step, on_round=observer.end_round)
        works = [
            CellWork(key, recipe, shared[recipe.place(key)], store, run, n_threads=n_threads, watch=watch)
            for key in selection.cells
        ]
        plans = {key: cell_plan(key, recipe, shared[recipe.place(key)]) for key in selection.cells}
        check_plans(run.path, plans)
        drop_changed_code(run.path, plans, observer.say)
        done = {result.key: result for result in load_cells(run.path) if result.error is None}
        drop_scratch(run.path)
        record_start(run, recipe, selection.cells, n_threads)
        to_do = [work for work in works if work.key not in done]
        for result in done.values():
            if result.key in selection.cells:
                observer.end_cell(result, before=True)
        if engine is None:
            found: Iterator[CellResult] = (_here(work, run, observer) for work in to_do)
        else:
            job = CellJob(recipe=recipe, files=selection.files, run=run.path.resolve(), cache=store.folder.resolve())
            found = _shared_out(engine, job, shared, [work.key for work in to_do], observer)
        for result in found:
            observer.end_cell(result, before=False)
            done[result.key] = result
        results = [done[key] for key in selection.cells]
        run.log("end", n_cells=len(results), failed=[result.key.name for result in results if result.error])
        return results


def _shared_out(
    engine: Engine,
    job: CellJob,
    shared: Mapping[Place, SharedStages],
    keys: Sequence[CellKey],
    observer: Observer,
) -> Iterator[CellResult]:
    """Results of the cells in order, from workers. What cells share is made here first, or they would wait for it."""
    for place in dict.fromkeys(job.recipe.place(key) for key in keys):
        with contextlib.suppress(Exception):  # the cells themselves meet it again, and record it
            shared[place].make()
    by_name = {key.name: key for key in keys}
    with followed(job.run, lambda name, number, what: observer.step(by_name[name], number, what)):
        # A cell that starts from another one waits for it.
        for n_before in sorted({job.recipe.n_before(key) for key in keys}):
            wave = [key for key in keys if job.recipe.n_before(key) == n_before]
            yield from run_side_by_side(engine, job, wave, observer.begin_cell)


def _here(work: CellWork, run: RunFolder, observer: Observer) -> CellResult:
    observer.begin_cell(work.key)
    return run_cell(work, run)


def check_plans(base: Path, cells: Mapping[CellKey, Mapping[str, Any]]) -> None:
    """Raise InputError if a cell was started with other settings of itself or its parts than in these plans.

    Cells share the test set of their corpus and the definitions of systems, features and optimisers. Code from outside
    may have changed: `drop_changed_code`.
    """
    plans: dict[tuple[str, str], Any] = {}
    for key, plan in cells.items():
        plans.update(_parts(key, json.loads(json.dumps(plan))))
    for key, before in load_plans(base).items():
        for place, begun in _parts(key, before).items():
            found = plan_changes(begun, plans[place], place[0]) if place in plans else []
            changed = [name for name in found if not _is_code(name)]
            if not changed:
                continue
            folder = cell_folder(base, key)
            raise InputError(
                f"the cell was begun with another {', '.join(changed[:4])}; resume with the same, start a new run, or "
                f"remove {folder}",
                path=folder,
            )


def drop_changed_code(base: Path, cells: Mapping[CellKey, Mapping[str, Any]], say: Callable[[str], object]) -> None:
    """Remove the cells whose methods, metrics or features were edited since, so that they are made anew."""
    for key, before in load_plans(base).items():
        now = json.loads(json.dumps(cells.get(key, before)))
        if changed := [name for name in plan_changes(before, now) if _is_code(name)]:
            say(f"{key.name}: {', '.join(changed)} has changed; the cell is made anew")
            shutil.rmtree(cell_folder(base, key))


def _is_code(changed: str) -> bool:
    return "code" in changed.split(".")


def _parts(key: CellKey, plan: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """The settings of a plan by the name they belong to."""
    tuning = plan.get("tuning") or {}
    return {
        ("text", key.corpus): plan.get("text"),
        ("system", key.system): plan.get("system"),
        ("features", f"{key.features} of {key.system}"): tuning.get("features"),
        ("tuning", key.optimiser): {k: v for k, v in tuning.items() if k not in ("features", "preset")},
        ("", key.name): plan,
    }


def drop_scratch(base: Path) -> None:
    """Remove partial files of a killed process; no other process uses the folder."""
    for scratch in [*base.glob("corpora/**/.*"), *base.glob("cells/**/.*")]:
        shutil.rmtree(scratch) if scratch.is_dir() else scratch.unlink(missing_ok=True)


def record_start(run: RunFolder, recipe: GridRecipe | ListRecipe, cells: Sequence[CellKey], n_threads: int) -> None:
    """The recipe as it is run, and an entry in the trace."""
    run.save("recipe.json", plain(recipe.content))
    run.log(
        "start",
        title=recipe.title,
        cells=[key.name for key in cells],
        dragoman=version("dragoman"),
        python=platform.python_version(),
        numpy=np.__version__,
        platform=platform.platform(),
        n_threads=n_threads,
    )


def _shared_stages(
    recipe: GridRecipe, selection: Selection, store: Store, *, n_threads: int, monitor: Monitor
) -> dict[Place, SharedStages]:
    found: dict[Place, SharedStages] = {}
    for key in selection.cells:
        corpus, system, drawing = place = recipe.place(key)
        if place not in found:
            found[place] = SharedStages(
                store,
                recipe.corpora[corpus],
                selection.files[corpus],
                recipe.systems[system],
                drawing,
                n_threads=n_threads,
                monitor=monitor,
            )
    return found
