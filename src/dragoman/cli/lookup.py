"""`dragoman lookup`: what the tables say of a phrase."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from dragoman.cli.session import Json, Quiet, Session, table
from dragoman.system import System
from dragoman.system.lookup import look_up, training_pair
from dragoman.text import printable

__all__ = ["lookup"]


def lookup(
    folder: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Folder of a system.")],
    phrase: Annotated[str, typer.Argument(help="Source phrase; of a hierarchical system also with [X,1] for a gap.")],
    targets: Annotated[int, typer.Option(min=1, help="Translations to show.")] = 10,
    sentences: Annotated[
        int, typer.Option(min=0, help="Training sentences that each comes from; a system of imported tables has none.")
    ] = 3,
    raw: Annotated[
        bool | None,
        typer.Option("--raw/--tokenized", help="Raw text or tokens; what the system was trained on unless given."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the translations of a phrase with counts and probabilities, and sentences that they come from.

    Case does not matter to raw text: of the forms that the phrase may have in a sentence, the most frequent is shown.

    Example: dragoman lookup system "der treiber"

    dragoman lookup hierarchical "[X,1] nicht"
    """
    session = Session(json=json, quiet=quiet)
    system = System.load(folder)
    found = look_up(system, phrase, n_targets=targets, n_sentences=sentences, raw=raw)
    session.emit({"system": str(folder), "phrase": phrase, **asdict(found)})
    seen = "" if found.n_occurrences is None else f", in {found.n_occurrences:,} lines of the training text"
    if not found.rows:
        why = "it is translated in parts" if " " in found.source else "unknown words are copied"
        session.show(f"no translation of '{printable(found.source)}' as a whole{seen}; {why}")
        return
    names = list(found.rows[0].scores)
    rows = table("translation", "count", *names)
    for row in found.rows:
        # Scores whose names do not begin with p or lex are no probabilities.
        cells = [
            f"{math.exp(value):.4f}" if name.startswith(("p_", "lex_")) else f"{value:.3f}"
            for name, value in row.scores.items()
        ]
        rows.add_row(Text(printable(row.target)), f"{row.count:,}", *cells)
    session.show(f"{printable(found.source)}{seen}")
    session.show(rows)
    for row in found.rows:
        for line, *_ in row.sentences:
            session.show(f"{printable(row.target)}  line {line}")
            for side in training_pair(system, line - 1):
                session.show(f"  {printable(side)}")
    if found.n_occurrences is None and sentences:
        session.say("the system keeps no training text: its tables were imported, or made by an earlier version")
