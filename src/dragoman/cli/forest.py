"""`dragoman forest`: stored search spaces."""

from __future__ import annotations

from typing import Annotated

import typer

from dragoman.cli.groups import command_group
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads
from dragoman.features import read_weights
from dragoman.forest import read_forest
from dragoman.text import printable

__all__ = ["app"]

app = command_group("Look at stored search spaces.")


@app.callback()
def forest() -> None:
    """Keeps `best` a command of its own."""


@app.command()
def best(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Search spaces: JSON or Moses hypergraph text.")],
    weights: Annotated[str, typer.Option("--weights", "-w", help="Weights, in any format that `tune` reads.")],
    k: Annotated[int, typer.Option("--nbest", "-k", min=1, help="So many derivations.")] = 1,
    distinct: Annotated[bool, typer.Option("--distinct", help="Derivations of different strings only.")] = False,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The best derivation of each stored search space under given weights: its score and its words.

    Example: dragoman forest best 0.json.gz 1.json.gz --weights weights.tsv
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    given = read_weights(weights)
    found = []
    for path in files:
        space = read_forest(path)
        values = given.on(space.index)
        lists = space.kbest(values, k, distinct=distinct)
        for c in range(len(lists)):
            text, score = space.text(lists.tokens_of(c)), float(lists.totals[c])
            found.append({"file": path, "score": score, "text": text})
            session.show(f"{score:.6f}\t{printable(text)}")
    session.emit({"best": found})
