"""`dragoman forest`: stored search spaces."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from dragoman.cli.groups import command_group
from dragoman.cli.session import Json, Quiet, Session
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, describe_fit, fitted_values, unite_weights
from dragoman.forest import read_forest
from dragoman.text import open_output, printable

__all__ = ["app"]

app = command_group("Look at stored search spaces.")


@app.callback()
def forest() -> None:
    """Keeps `best` a command of its own."""


@app.command()
def best(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Search spaces: JSON or Moses hypergraph text.")],
    weights: Annotated[
        list[str], typer.Option("--weights", "-w", help="Weights, in any format that `tune` reads; repeat to unite.")
    ],
    k: Annotated[int, typer.Option("--nbest", "-k", min=1, help="So many derivations.")] = 1,
    distinct: Annotated[bool, typer.Option("--distinct", help="Derivations of different strings only.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The best derivation of each stored search space under given weights: its score and its words.

    Example: dragoman forest best 0.json.gz 1.json.gz --weights weights.tsv
    """
    session = Session(json=json, quiet=quiet)
    given = unite_weights(weights)
    index = FeatureIndex()
    found: list[dict[str, Any]] = []
    for path in files:
        space = read_forest(path)
        for name in space.index.names(np.arange(len(space.index), dtype=np.int32)):
            index.intern(name)
        try:
            lists = space.kbest(fitted_values(given, space.index, "search space"), k, distinct=distinct)
        except InputError as error:
            raise error.at(path) from None
        for c in range(len(lists)):
            text, score = space.text(lists.tokens_of(c)), float(lists.totals[c])
            found.append({"file": path, "score": score, "text": text})
    if not session.json:
        with open_output("-") as output:
            for entry in found:
                output.write(f"{entry['score']:.6f}\t{printable(entry['text'])}")
    note = describe_fit(given, index)
    if note:
        session.say(f"warning: {note}")
    session.emit({"best": found, "notes": [note] if note else []})
