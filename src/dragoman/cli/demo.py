"""`dragoman demo`: the main job on embedded data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.run import cell_json, fail_if_any, run_grid
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads
from dragoman.demo import QUICKSTART
from dragoman.experiments import GridRecipe, read_recipe

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the run and the report.")] = Path("demo"),
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the recipe, such as grid.seeds=[1]; repeat."),
    ] = None,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a system on the embedded corpus, tune it with few features and with many, report.

    Everything is made on this machine from the built-in grammar; nothing is fetched. The seed is that of the text. What
    it does is a recipe, recipes/quickstart.toml; stopped at any moment, it goes on when it is called again.
    """
    from dragoman.view.report import write_report

    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    of_text = [f"corpora.synth.synth.seed={seed}"] if seed else []
    recipe = read_recipe(QUICKSTART, [*(setting or []), *of_text])
    assert isinstance(recipe, GridRecipe)
    results = run_grid(session, recipe, out / "run", cache=out / "cache", resume=True)
    report = write_report([out / "run"], out / "report.html", n_threads=session.n_threads)
    session.show(f"report: {report}")
    session.emit({"report": str(report), "cells": [cell_json(result) for result in results]})
    fail_if_any(results)
