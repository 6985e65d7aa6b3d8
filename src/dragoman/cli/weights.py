"""`dragoman weights`: look at weights and convert their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.text import Text

from dragoman.cli.session import Json, Quiet, Session, check_outputs, table
from dragoman.errors import InputError
from dragoman.features import WeightFormat, Weights, is_feature_table, read_binary_weights, read_weights, write_weights
from dragoman.text import printable

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["weights", "weights_table"]


def weights(
    path: Annotated[Path, typer.Argument(metavar="WEIGHTS", help="A weight file, or the folder of a system.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the weights here, binary for FILE.bin.")
    ] = None,
    form: Annotated[
        WeightFormat | None, typer.Option("--format", help="Format of the file, unless its name says it.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column of a binary file, such as a gradient's; `weight` unless given.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Show this many weights, the greatest first.")] = 40,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show weights, or convert a weight file into another format.

    Examples: dragoman weights tuned --top 10

    dragoman weights weights.bin -o weights.tsv
    """
    session = Session(json=json, quiet=quiet)
    check_outputs([path], out=out)
    file = _of_system(path) if path.is_dir() else path
    if column is None:
        found = read_weights(file)
    elif is_feature_table(file):
        found = read_binary_weights(file, column=column)
    else:
        raise InputError("is a text file, which has no columns; leave out --column", path=file)
    n_weights = len(found.ids())
    if out is not None:
        write_weights(found, out, format_=form)
        session.show(f"{n_weights:,} weights in {out}")
    else:
        session.show(weights_table(found, top))
        if n_weights > top:
            session.show(f"and {n_weights - top:,} more features")
    shown = (
        {} if out else {"weights": {found.index.name(id_): float(found.values[id_]) for id_ in greatest(found, top)}}
    )
    session.emit({"file": str(file), "n_weights": n_weights, "out": None if out is None else str(out), **shown})


def _of_system(folder: Path) -> Path:
    from dragoman.system.manifest import read_manifest  # a file alone needs no system

    return read_manifest(folder).files["weights"].check(folder, whole=True)


def weights_table(weights: Weights, n: int) -> Table:
    """The `n` greatest weights by absolute value."""
    shown = table("feature", "weight")
    for id_ in greatest(weights, n):
        shown.add_row(Text(printable(weights.index.name(id_))), f"{weights.values[id_]:.6f}")
    return shown


def greatest(weights: Weights, n: int) -> list[int]:
    """Ids of the `n` greatest weights by absolute value, equal ones by id."""
    ids = weights.ids()
    order = np.argsort(-np.abs(weights.values[ids]), kind="stable")
    return [int(id_) for id_ in ids[order[:n]]]
