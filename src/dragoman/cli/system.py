"""`dragoman system`: look at, check and export systems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from dragoman.cli.groups import command_group
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, table
from dragoman.cli.weights import weights_table
from dragoman.system import System, export_system, kind_named
from dragoman.text import printable

__all__ = ["app"]

app = command_group("Look at, check and export systems.")
Folder = Annotated[Path, typer.Argument(metavar="SYSTEM", help="Folder of a system.")]
_N_WEIGHTS = 40


@app.command()
def info(folder: Folder, threads: Threads = 0, seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """What a system is made of: settings, sizes, weights. Of a tuned one --json has all of its rounds."""
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    system = System.load(folder)
    settings, about = system.settings.to_json(), system.manifest.about
    rows = table("what", "value", numeric_from=2)
    for key, value in [*settings.items(), *about.items()]:
        if key == "tuning":
            for name, found in _tuning(value).items():
                rows.add_row(f"tuning: {name}", Text(printable(_shown(found))))
        elif key != "stages":
            rows.add_row(
                kind_named(system.settings.kind).unit if key == "n_pairs" else key, Text(printable(_shown(value)))
            )
    if system.manifest.parent is not None:
        rows.add_row("parent", Text(printable(system.manifest.parent)))
    n_bytes: dict[str, int] = {}
    for name, record in system.manifest.files.items():
        n_bytes[name.partition("/")[0]] = n_bytes.get(name.partition("/")[0], 0) + record.n_bytes
    n_bytes["grammar"] = sum(record.n_bytes for record in system.grammar.manifest.files.values())
    for name, size in n_bytes.items():
        rows.add_row(f"size of {name}", f"{size:,} bytes")
    session.show(rows)
    session.show(weights_table(system.weights, _N_WEIGHTS))
    n_weights = len(system.weights.ids())
    if n_weights > _N_WEIGHTS:
        session.show(f"and {n_weights - _N_WEIGHTS:,} more features (dragoman weights {folder})")
    session.emit(
        {
            "system": str(folder),
            "settings": settings,
            "parent": system.manifest.parent,
            "about": about,
            "bytes": n_bytes,
            "n_weights": n_weights,
        }
    )


@app.command()
def verify(folder: Folder, threads: Threads = 0, seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """Compare every file of a system, and of the parent it refers to, with its checksum."""
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    files = System.verify(folder)
    System.load(folder)
    session.show(f"{len(files)} files are as they were written")
    session.emit({"system": str(folder), "n_files": len(files)})


@app.command()
def export(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")],
    without_fold: Annotated[int | None, typer.Option(min=0, help="Leave out this fold.")] = None,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a system as the text files of others.

    Phrase-based: Moses' phrase table, reordering table, ARPA language model, moses.ini. Hierarchical: a grammar as cdec
    reads it, ARPA language model, weights.

    Example: dragoman system export system -o moses
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    system = System.load(folder)
    files = {name: str(path) for name, path in export_system(system, out, fold=without_fold, monitor=session).items()}
    session.show("\n".join(files.values()))
    session.emit({"system": str(folder), **files})


def _tuning(record: Mapping[str, Any]) -> dict[str, object]:
    """What a tuning was and did, without what it recorded of its rounds and steps."""
    plain = {name: value for name, value in record.items() if not isinstance(value, dict | list)}
    done = {"rounds": len(record["rounds"])} if record.get("rounds") else {}
    return {**plain, **done, **({"notes": record["notes"]} if record.get("notes") else {})}


def _shown(value: object) -> str:
    """A setting as people write it."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        shown = (" ".join(map(_shown, item)) if isinstance(item, list) else _shown(item) for item in value)
        return ", ".join(shown) or "none"
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
