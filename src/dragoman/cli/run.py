"""`dragoman run`: an experiment from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, table
from dragoman.recipe import SyntheticCell, read_recipe, run_synthetic, write_synthetic_report
from dragoman.run import RunFolder

__all__ = ["run"]


def run(
    recipe: Annotated[str, typer.Argument(help="A recipe, such as recipes/pro-synthetic.toml.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run.")],
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key, e.g. grid.seeds=[1]; repeat.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the recipe, show the plan, run nothing.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped.")] = False,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment; stopped at any moment, it continues with --resume to the same result.

    The seeds are those of the recipe. Writes OUT/report.html, OUT/figure.svg and OUT/trace.jsonl.

    Example: dragoman run recipes/pro-synthetic.toml -o runs/pro --set 'grid.dimensions=[10, 100]'
    """
    session = Session(threads=threads, seed=seed, json=json, quiet=quiet)
    plan = read_recipe(recipe, setting or [])
    n_cells = len(plan.dimensions) * len(plan.noise) * len(plan.seeds) * len(plan.methods)
    session.say(f"{plan.title}: {n_cells} cells")
    if dry_run:
        session.emit({"n_cells": n_cells, "settings": plan.settings()})
        return
    n_done = 0
    with RunFolder.open(out, plan.settings(), resume=resume) as folder, session.progress("cells", n_cells) as progress:

        def on_cell(cell: SyntheticCell) -> None:
            nonlocal n_done
            n_done += 1
            progress(n_done)
            session.say(f"{cell.key}: cosine {cell.cosine:.4f} ({cell.cpu_s:.1f} s)")

        cells = run_synthetic(plan, folder, threads=session.threads, on_cell=on_cell)
        report = write_synthetic_report(plan, cells, out)
    rows = table("method", "noise", "features", "seed", "cosine", "CPU s")
    for cell in cells:
        numbers = (f"{cell.noise:g}", f"{cell.dimension}", f"{cell.seed}", f"{cell.cosine:.4f}", f"{cell.cpu_s:.1f}")
        rows.add_row(cell.method, *numbers)
    session.show(rows)
    session.show(f"report: {report}")
    session.emit({"report": str(report), "cells": cells})
