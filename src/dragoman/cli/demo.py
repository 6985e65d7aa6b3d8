"""`dragoman demo`: the main job on embedded data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.session import Json, Quiet, Seed, Session, Threads
from dragoman.demo import DemoConfig, run_demo

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the data and the report.")] = Path("demo"),
    n_train: Annotated[int, typer.Option("--train", min=100, help="Training pairs.")] = 20_000,
    n_test: Annotated[int, typer.Option("--test", min=10, help="Test sentences, four references each.")] = 500,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Generate the embedded corpus, train a phrase-based system on it, tune and evaluate it, and write report.html.

    Everything is made on this machine from the built-in grammar; nothing is fetched.
    """
    session = Session(threads=threads, seed=seed, json=json, quiet=quiet)
    config = DemoConfig(out=out, n_train=n_train, n_test=n_test, seed=seed, threads=session.threads)
    result = run_demo(config, monitor=session)
    session.show(f"report: {result.report}")
    session.emit(result.summary)
