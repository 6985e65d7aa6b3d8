"""`dragoman report`: the page of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.session import Json, Quiet, Session, Threads, check_outputs
from dragoman.errors import InputError
from dragoman.report import load_experiment, write_figures, write_markdown, write_page

__all__ = ["report"]


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Folders that `dragoman run` made.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The page to write, such as report.html.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Folder for every figure as SVG.")] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Tables as Markdown, figures into --svg or a folder with its name. A page that is there keeps what "
            "is not between its lines <!-- results --> and <!-- end of results -->."
        ),
    ] = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write one self-contained page on one or more runs: results, learning curves, weights, costs, sentences.

    The page opens offline. A run that is unfinished or has failed cells is shown with what is there.

    Examples: dragoman report runs/quickstart -o report.html

    dragoman report runs/enja runs/multi30k -o report.html --svg figures --markdown results.md
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    if out is None and svg is None and markdown is None:
        raise InputError("nothing to write; name a page with -o, or say --svg or --markdown")
    if "-" in (str(out), str(markdown)):
        raise InputError("a page cannot go to standard output; name a file")
    check_outputs(out=out, markdown=markdown)
    session.say("reading and comparing")
    experiment = load_experiment([Path(run) for run in runs], n_threads=session.n_threads)
    for note in experiment.comparison.notes:
        session.say(f"note: {note}")
    written = {}
    if svg is not None:
        write_figures(experiment, svg)
        written["svg"] = str(svg)
    if out is not None:
        written["report"] = str(write_page(experiment, out))
    if markdown is not None:
        written["markdown"] = str(write_markdown(experiment, markdown, svg=svg))
    for what, path in written.items():
        session.show(f"{what}: {path}")
    session.emit(
        {**written, "n_cells": len(experiment.records.outputs.finished()), "notes": experiment.comparison.notes}
    )
