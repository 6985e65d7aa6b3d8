"""`dragoman score`: corpus scores with signatures, and whether a difference means anything."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, table
from dragoman.errors import InputError
from dragoman.evaluate import SystemOutput, SystemScore, compare_systems
from dragoman.metric import by_name
from dragoman.text import printable, read_lines

__all__ = ["score"]


def score(
    hypotheses: Annotated[list[str] | None, typer.Argument(metavar="[HYP]...", help="Outputs, a system each.")] = None,
    reference: Annotated[list[str] | None, typer.Option("--reference", "-r", help="References; repeat for several.")] = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", "-m", help="bleu, chrf, chrf++ or ter; repeat.")] = None,
    run: Annotated[list[str] | None, typer.Option(help="NAME=FILE: one run of a system; repeat a NAME for more runs.")] = None,
    tokenize: Annotated[str, typer.Option(help="BLEU's tokeniser: none, 13a, intl, zh, char.")] = "none",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case in BLEU and chrF (TER always does).")] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for intervals and the paired bootstrap; 0: none.")] = 1000,
    trials: Annotated[int, typer.Option(min=0, help="Shuffles of the approximate randomisation; 0: none.")] = 10_000,
    threads: Threads = 0,
    seed: Seed = 12345,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score translations as sacrebleu does; with several systems, test each against the first.

    HYP and references are line-aligned text; BLEU takes them as tokenised unless --tokenize says otherwise. P-values are two-sided: AR is
    approximate randomisation, BS the paired bootstrap.

    Examples: dragoman score output.en -r test.en

    dragoman score baseline.en better.en -r ref.0 -r ref.1 -m bleu -m ter

    dragoman score --run base=run1.en --run base=run2.en --run new=run3.en --run new=run4.en -r test.en
    """
    session = Session(threads=threads, seed=seed, json=json, quiet=quiet)
    files = _group_runs(hypotheses or [], run or [])
    if not reference:
        raise InputError("no reference; give at least one with -r")
    references = [list(read_lines(path)) for path in reference]
    metrics = [by_name(name, tokenize=tokenize, lowercase=lowercase) for name in metric or ["bleu", "chrf", "ter"]]
    systems = [SystemOutput(name=name, runs=[list(read_lines(path)) for path in paths]) for name, paths in files.items()]
    with session.progress("scoring") as progress:
        progress(0)
        scores = compare_systems(
            systems, references, metrics, n_bootstrap=bootstrap, n_trials=trials, seed=seed, threads=session.threads
        )
    session.emit({"systems": [_record(score) for score in scores]})
    _show(session, scores)


def _group_runs(hypotheses: list[str], runs: list[str]) -> dict[str, list[str]]:
    """System names to their files, in order; files given by position are systems of one run."""
    files: dict[str, list[str]] = {}
    for path in hypotheses:
        name = path if path not in files else f"{path} ({len(files) + 1})"
        files[name] = [path]
    for item in runs:
        name, equals, path = item.partition("=")
        if not (name and equals and path):
            raise InputError(f"--run {item}: expected NAME=FILE")
        files.setdefault(name, []).append(path)
    if not files:
        raise InputError("nothing to score; name at least one output file")
    return files


def _record(score: SystemScore) -> dict[str, object]:
    return {}


def _show(session: Session, scores: list[SystemScore]) -> None:
    pass
