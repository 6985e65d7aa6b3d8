"""`dragoman report`: the page of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.session import Json, Quiet, Session, Threads, check_outputs
from dragoman.errors import InputError
from dragoman.view.report import load_experiment, write_figures, write_markdown, write_page

__all__ = ["report"]


def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Folders that `dragoman run` made, or one tuned system.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The page to write, such as report.html.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Folder for every figure as SVG.")] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Tables as Markdown, figures into --svg or a folder with its name. A page that is there keeps what "
            "is not between its lines <!-- results --> and <!-- end of results -->."
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Of a tuned system: a test set to translate with the weights before and after."
        ),
    ] = None,
    reference: Annotated[
        list[Path] | None, typer.Option("--reference", "-r", metavar="FILE", help="References of --test; repeat.")
    ] = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write one self-contained page on one or more runs: results, learning curves, weights, costs, sentences.

    Of a tuned system, the folder that `dragoman tune --system` made, the page says what tuning did: scores, weights and
    sentences before and after, on the development set and on the test set that `tune --test` or --test names.

    The page opens offline. A run that is unfinished or has failed cells is shown with what is there.

    Examples: dragoman report runs/quickstart -o report.html

    dragoman report tuned -o tuned.html --test test.de -r test.en

    dragoman report runs/enja runs/multi30k -o report.html --svg figures --markdown results.md
    """
    from dragoman.system.manifest import refuse_unfinished
    from dragoman.view.report.tuned import is_tuned  # of systems and tunings, which no other page needs

    session = Session(n_threads=threads, json=json, quiet=quiet)
    if out is None and svg is None and markdown is None:
        raise InputError("nothing to write; name a page with -o, or say --svg or --markdown")
    if "-" in (str(out), str(markdown)):
        raise InputError("a page cannot go to standard output; name a file")
    check_outputs(out=out, markdown=markdown)
    for run in runs:
        refuse_unfinished(Path(run))
    tuned = [run for run in runs if is_tuned(run)]
    if tuned:
        if len(runs) > 1:
            raise InputError(f"{tuned[0]} is a tuned system; give it alone")
        _report_tuned(session, Path(tuned[0]), out, test, reference or [], more=svg or markdown)
        return
    if test is not None or reference:
        raise InputError("--test and -r are for a tuned system; the runs of recipes have their test sets")
    for run in runs:
        _refuse_others(Path(run))
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


def _refuse_others(run: Path) -> None:
    """Raise InputError for what looks like the run of a recipe and is another thing of ours."""
    from dragoman.system.manifest import MANIFEST, TUNE_RECORD

    if (run / MANIFEST).exists():
        raise InputError("is a system that was not tuned; `dragoman tune --system` tunes it", path=run)
    if (run / "rounds").is_dir() and not (run / "cells").exists():
        its = run.name == TUNE_RECORD and (run.parent / MANIFEST).exists()
        advice = f"give {run.parent}" if its else "`dragoman serve SYSTEM --run` shows its rounds"
        raise InputError(f"is the record of a tuning, not a run of `dragoman run`; {advice}", path=run)


def _report_tuned(
    session: Session, folder: Path, out: Path | None, test: Path | None, reference: list[Path], *, more: Path | None
) -> None:
    """The page of a tuned system."""
    from dragoman.view.report.tuned import TestFiles, load_tuned, write_tuned_page

    if more is not None or out is None:
        raise InputError("the page of a tuned system is HTML alone; name it with -o, without --svg and --markdown")
    if (test is None) != (not reference):
        raise InputError("a test set has a source and references: give both --test and -r")
    files = None if test is None else TestFiles(source=test, references=reference)
    session.say("reading the tuning, translating what the page explains")
    found = load_tuned(folder, files, n_threads=session.n_threads)
    for note in found.notes:
        session.say(f"note: {note}")
    page = write_tuned_page(found, out)
    session.show(f"report: {page}")
    session.emit(
        {
            "report": str(page),
            "sets": [
                {
                    "name": one.name,
                    "n_sentences": len(one.pair.source),
                    "scores": {
                        before.metric: {
                            "before": 100 * before.score,
                            "after": 100 * after.score,
                            "p_value": after.p_randomisation,
                        }
                        for before, after in zip(one.scores[0].scores, one.scores[1].scores, strict=True)
                    },
                }
                for one in found.sets
            ],
            "notes": list(found.notes),
        }
    )
