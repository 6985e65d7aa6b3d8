"""`dragoman run`: an experiment from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from dragoman.cli.board import Board, dev_score
from dragoman.cli.engine_options import Address, EngineOption, Workers, engine_of
from dragoman.cli.session import Json, Quiet, Session, Threads, table
from dragoman.errors import FailedError, InputError
from dragoman.experiments import (
    CellPlan,
    GridRecipe,
    ListRecipe,
    SyntheticCell,
    SyntheticRecipe,
    cache_folder,
    plan_cells,
    plan_list_cells,
    read_recipe,
    run_cells,
    run_list_cells,
    run_synthetic,
    write_synthetic_report,
)
from dragoman.metric import recorded_metric
from dragoman.run import CellResult, RunFolder, SetScores, no_gain
from dragoman.text import printable
from dragoman.work.engine import Engine, EngineName, LocalEngine

__all__ = ["cell_json", "fail_if_any", "run", "run_grid", "run_lists"]

_LAST_STAGES = ("tuning", "test decoding", "dev decoding", "scoring", "derivations")
_LAST_LIST_STAGES = ("tuning", "scoring")


def run(
    recipe: Annotated[str, typer.Argument(help="A recipe, such as recipes/quickstart.toml.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run; a dry run needs none.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder that the recipe's files are relative to, instead of its own.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key, such as optimisers.pro.k=50; repeat."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only cells whose names match, such as 'enja/*'; repeat."),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Folder of results that runs share; .dragoman-cache beside OUT unless given.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the recipe, show the plan, run nothing.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run; cells that failed are tried again.")
    ] = False,
    engine: EngineOption = EngineName.LOCAL,
    workers: Workers = None,
    address: Address = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment; stopped at any moment, it continues with --resume to the same result.

    A cell is CORPUS/SYSTEM/FEATURES/OPTIMISER/SEED; the seeds are those of the recipe (--set 'grid.seeds=[7]' changes
    them). A cell that fails does not stop the others: the exit status is 1 in the end. Scores on the development set
    (dev) are BLEU, or of the metric that is named beside them.

    Example: dragoman run recipes/quickstart.toml -o runs/quickstart

    dragoman run recipes/pro.toml --data corpora --only 'enja/*' --dry-run
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    if out is None and not dry_run:
        raise InputError("name the folder of the run with -o")
    plan = read_recipe(recipe, setting or [], data=data)
    if isinstance(plan, SyntheticRecipe):
        if only or cache or data or workers or engine is not EngineName.LOCAL:
            raise InputError("--only, --cache, --data and workers belong to recipes of systems")
        _run_synthetic(session, plan, out, dry_run=dry_run, resume=resume)
    elif isinstance(plan, ListRecipe) and (workers or engine is not EngineName.LOCAL):
        raise InputError("workers belong to recipes of systems")
    elif out is None or dry_run:
        _show_plan(session, plan, out, only or [], cache)
    else:
        with engine_of(session, engine, workers, address, threads=threads) as chosen:
            results = run_grid(session, plan, out, only=only or [], cache=cache, resume=resume, engine=chosen)
        session.emit({"run": str(out), "cells": [cell_json(result) for result in results]})
        fail_if_any(results)


def run_grid(
    session: Session,
    recipe: GridRecipe | ListRecipe,
    out: Path,
    *,
    only: list[str] | None = None,
    cache: Path | None = None,
    resume: bool = False,
    engine: Engine | None = None,
) -> list[CellResult]:
    """Run the cells with a board to look at, and show the table of results."""
    if isinstance(recipe, ListRecipe):
        results = run_lists(session, recipe, out, only=only, cache=cache, resume=resume)
    else:
        results = _run_systems(session, recipe, out, only or [], cache, resume, engine)
    rows = table("cell", "rounds", "kept", "dev", "BLEU", "chrF", "TER", "length")
    for result in results:
        if result.error is not None:
            rows.add_row(Text(result.key.name), "failed")
            continue
        dev = dev_score(result.metric, result.best.dev)
        scores = [f"{100 * result.scores[name]:.2f}" for name in ("bleu", "chrf", "ter")]
        rounds = (str(len(result.rounds)), str(result.best_round))
        numbers = (*rounds, dev, *scores, f"{result.scores['length_ratio']:.3f}")
        rows.add_row(Text(result.key.name), *numbers)
    session.show(rows)
    session.show(f"run: {out}")
    if text := no_gain(results):
        session.warn(text)
    return results


def _run_systems(
    session: Session,
    recipe: GridRecipe,
    out: Path,
    only: list[str],
    cache: Path | None,
    resume: bool,
    engine: Engine | None,
) -> list[CellResult]:
    selection = recipe.select(only)
    session.say(f"{recipe.title}: {len(selection.cells)} cells")
    configs = {key: recipe.optimisers[key.optimiser].config for key in selection.cells}
    metrics = {key: config.objective().name for key, config in configs.items()}
    rounds = {key: config.loop.max_rounds + 1 for key, config in configs.items()}
    with Board(session, selection.cells, metrics, rounds) as board:
        return run_cells(
            recipe,
            selection,
            out,
            observer=board,
            cache=cache,
            resume=resume,
            n_threads=session.n_threads,
            engine=None if isinstance(engine, LocalEngine) else engine,
        )


def run_lists(
    session: Session,
    recipe: ListRecipe,
    out: Path,
    *,
    only: list[str] | None = None,
    cache: Path | None = None,
    resume: bool = False,
) -> list[CellResult]:
    """Run the cells of a recipe of lists with a board to look at."""
    selection = recipe.select(only or [])
    session.say(f"{recipe.title}: {len(selection.cells)} cells")
    methods = {key: recipe.methods[key.optimiser] for key in selection.cells}
    metrics = {key: method.external or method.objective().name for key, method in methods.items()}
    with Board(session, selection.cells, metrics, dict.fromkeys(selection.cells, 1)) as board:
        return run_list_cells(
            recipe, selection, out, observer=board, cache=cache, resume=resume, n_threads=session.n_threads
        )


def fail_if_any(results: list[CellResult]) -> None:
    """Raise FailedError with the cells that failed and why."""
    failed = [result for result in results if result.error is not None]
    if failed:
        lines = [f"{result.key.name}: {result.error}" for result in failed]
        raise FailedError("\n".join([f"{len(failed)} of {len(results)} cells failed; --resume tries again", *lines]))


def _show_plan(
    session: Session, recipe: GridRecipe | ListRecipe, out: Path | None, only: list[str], cache: Path | None
) -> None:
    if isinstance(recipe, ListRecipe):
        plans = plan_list_cells(recipe, recipe.select(only), out, cache)
        last: tuple[str, ...] = _LAST_LIST_STAGES
    else:
        plans = plan_cells(recipe, recipe.select(only), out, cache)
        last = _LAST_STAGES
    n_done = sum(plan.done for plan in plans)
    rows = table("cell", "state", "stages that are cached", "stages to make", numeric_from=4)
    for plan in plans:
        ready = [name for name, cached in plan.stages.items() if cached]
        missing = [name for name, cached in plan.stages.items() if not cached]
        own = plan.steps if plan.steps_of == plan.key else ()
        if plan.steps and not own:
            ready.append(f"{', '.join(plan.steps)} of {plan.steps_of.name}")
        to_do = "" if plan.done else ", ".join([*missing, *own, *last])
        rows.add_row(Text(plan.key.name), "done" if plan.done else "to do", Text(", ".join(ready)), Text(to_do))
    session.show(rows)
    session.show(f"{len(plans)} cells, {n_done} of them done; cache: {cache_folder(out, cache)}")
    if recipe.cost:
        session.show(f"expected cost: {printable(recipe.cost)}")
    session.emit(
        {
            "n_cells": len(plans),
            "n_done": n_done,
            "cells": [_plan_json(plan) for plan in plans],
            "recipe": recipe.content,
        }
    )


def _plan_json(plan: CellPlan) -> dict[str, Any]:
    steps = {"steps": list(plan.steps), "steps_of": plan.steps_of.name} if plan.steps else {}
    return {"cell": plan.key.name, "done": plan.done, "cached": dict(plan.stages), **steps}


def cell_json(result: CellResult) -> dict[str, Any]:
    """A cell for programs; scores in points; `dev` is of rounds, by the `metric` that was tuned for."""
    fields: dict[str, Any] = {"cell": result.key.name, "error": result.error}
    if result.error is not None:
        return fields
    scores = {name: value if name == "length_ratio" else 100 * value for name, value in result.scores.items()}
    dev = [recorded_metric(result.metric).points(entry.dev) for entry in result.rounds]
    sets = {
        "tests": {name: _set_json(found) for name, found in result.tests.items()},
        "tune": None if result.tune is None else _set_json(result.tune),
    }
    fields |= {"metric": result.metric, "dev": dev, "warnings": result.warnings, "has_gained": result.has_gained}
    return {**fields, **scores, **sets, "best_round": result.best_round, "stopped": result.stopped}


def _set_json(found: SetScores) -> dict[str, Any]:
    return {
        **{name: 100 * value for name, value in found.scores.items()},
        "precisions": [100 * precision for precision in found.precisions],
        "brevity_penalty": found.brevity_penalty,
        "length_ratio": found.length_ratio,
    }


def _run_synthetic(session: Session, plan: SyntheticRecipe, out: Path | None, *, dry_run: bool, resume: bool) -> None:
    n_cells = len(plan.points)
    session.say(f"{plan.title}: {n_cells} cells")
    if out is None or dry_run:
        if out is not None:
            RunFolder.check(out, plan.settings())
        session.emit({"n_cells": n_cells, "settings": plan.settings()})
        return
    n_done = 0
    with RunFolder.open(out, plan.settings(), resume=resume) as folder, session.progress("cells", n_cells) as progress:

        def on_cell(cell: SyntheticCell) -> None:
            nonlocal n_done
            n_done += 1
            progress(n_done)
            where = f"{cell.optimiser} noise={cell.noise:g} dimension={cell.dimension} seed={cell.seed}"
            session.say(f"{where}: cosine {cell.cosine:.4f} ({cell.cpu_s:.1f} s)")

        cells = run_synthetic(plan, folder, n_threads=session.n_threads, on_cell=on_cell)
        report = write_synthetic_report(plan, cells, out)
    rows = table("optimiser", "noise", "features", "seed", "cosine", "CPU s")
    for cell in cells:
        numbers = (f"{cell.noise:g}", f"{cell.dimension}", f"{cell.seed}", f"{cell.cosine:.4f}", f"{cell.cpu_s:.1f}")
        rows.add_row(cell.optimiser, *numbers)
    session.show(rows)
    session.show(f"report: {report}")
    session.emit({"report": str(report), "cells": cells})
