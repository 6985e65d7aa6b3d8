"""Running the cells of a recipe of lists in a run folder, which has the form of every run of a grid."""

from __future__ import annotations

from pathlib import Path

from dragoman.experiments.list_cell import ListCell, list_cell_plan
from dragoman.experiments.list_form import ListRecipe, ListSelection
from dragoman.experiments.list_stages import ListStages
from dragoman.experiments.runner import (
    CellPlan,
    Observer,
    cache_folder,
    check_plans,
    drop_changed_code,
    drop_scratch,
    record_start,
)
from dragoman.experiments.side_by_side import run_cell
from dragoman.run import CellResult, RunFolder, load_cells
from dragoman.system import Monitor, Silent
from dragoman.types import PathLike
from dragoman.work.store import Store

__all__ = ["plan_list_cells", "run_list_cells"]

_KIND = {"kind": "lists"}


def plan_list_cells(
    recipe: ListRecipe, selection: ListSelection, out: PathLike | None = None, cache: PathLike | None = None
) -> list[CellPlan]:
    """What a run would do, in a new folder or in `out`; a dry run.

    Raises InputError if `out` cannot hold a run, or has one with other settings.
    """
    store = Store(cache_folder(out, cache))
    stages = _stages(recipe, selection, store, n_threads=1, monitor=Silent())
    done = set()
    if out is not None:
        RunFolder.check(out, _KIND)
        check_plans(Path(out), {key: list_cell_plan(key, recipe, stages[key.corpus]) for key in selection.cells})
        done = {result.key for result in load_cells(out) if result.error is None}
    return [
        CellPlan(
            key=key,
            stages={stage.kind: store.has(stage) for stage in stages[key.corpus].plan(key)},
            steps=(),
            steps_of=key,
            done=key in done,
        )
        for key in selection.cells
    ]


def run_list_cells(
    recipe: ListRecipe,
    selection: ListSelection,
    out: PathLike,
    *,
    observer: Observer,
    cache: PathLike | None = None,
    resume: bool = False,
    n_threads: int = 1,
) -> list[CellResult]:
    """Run all incomplete cells; a failed cell records its error and does not stop the others."""
    store = Store(cache_folder(out, cache), observer.say)
    with RunFolder.open(out, _KIND, resume=resume) as run:
        stages = _stages(recipe, selection, store, n_threads=n_threads, monitor=observer)
        plans = {key: list_cell_plan(key, recipe, stages[key.corpus]) for key in selection.cells}
        check_plans(run.path, plans)
        drop_changed_code(run.path, plans, observer.say)
        done = {result.key: result for result in load_cells(run.path) if result.error is None}
        drop_scratch(run.path)
        record_start(run, recipe, selection.cells, n_threads)
        for key in selection.cells:
            before = key in done
            if not before:
                observer.begin_cell(key)
                cell = ListCell(key=key, recipe=recipe, stages=stages[key.corpus], run_folder=run, n_threads=n_threads)
                done[key] = run_cell(cell, run)
            observer.end_cell(done[key], before=before)
        results = [done[key] for key in selection.cells]
        run.log("end", n_cells=len(results), failed=[result.key.name for result in results if result.error])
        return results


def _stages(
    recipe: ListRecipe, selection: ListSelection, store: Store, *, n_threads: int, monitor: Monitor
) -> dict[str, ListStages]:
    return {
        corpus: ListStages(store, recipe, corpus, files, n_threads=n_threads, monitor=monitor)
        for corpus, files in selection.files.items()
    }
