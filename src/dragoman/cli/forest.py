"""`dragoman forest`: stored search spaces of any decoder."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from dragoman.cli.groups import command_group
from dragoman.cli.search_spaces import named_forests
from dragoman.cli.session import Json, Quiet, Session, Threads, check_outputs
from dragoman.errors import InputError, naming
from dragoman.features import FeatureIndex, describe_fit, fitted_values, unite_weights
from dragoman.forest import read_forest, write_forest
from dragoman.text import open_output, printable

__all__ = ["app"]

app = command_group("Look at stored search spaces.")

Spaces = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="Search spaces: Moses hypergraph text or search graphs, JSON of cdec, Travatar or ours; files, or a "
        "folder of files named by numbers.",
    ),
]
WeightFiles = Annotated[
    list[str], typer.Option("--weights", "-w", help="Weights, in any format that `tune` reads; repeat to unite.")
]
Distinct = Annotated[bool, typer.Option("--distinct", help="Derivations of different strings only.")]


@app.command()
def best(
    files: Spaces,
    weights: WeightFiles,
    k: Annotated[int, typer.Option("--nbest", "-k", min=1, help="So many derivations.")] = 1,
    distinct: Distinct = False,
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
        spaces = named_forests([path], weights)
        for name in spaces.index.names(np.arange(len(spaces.index), dtype=np.int32)):
            index.intern(name)
        with naming(path):
            lists = spaces.kbest(fitted_values(given, spaces.index, "search space"), k, distinct=distinct)
        for place, sentence in enumerate(spaces.ids):
            for c in range(*lists.sentences[place : place + 2].tolist()):
                text, score = spaces.vocab.decode(lists.tokens_of(c)), float(lists.totals[c])
                found.append({"file": path, "sentence": sentence, "score": score, "text": text})
    if not session.json:
        with open_output("-") as output:
            for entry in found:
                output.write(f"{entry['score']:.6f}\t{printable(entry['text'])}")
    note = describe_fit(given, index)
    if note:
        session.warn(note)
    session.emit({"best": found, "notes": [note] if note else []})


@app.command()
def lists(
    files: Spaces,
    weights: WeightFiles,
    out: Annotated[str, typer.Option("--out", "-o", help="Where the candidate lists go; .gz, .xz, .zst: compressed.")],
    k: Annotated[int, typer.Option("--nbest", "-k", min=1, help="Candidates of a sentence.")] = 100,
    distinct: Distinct = False,
    list_format: Annotated[str, typer.Option("--list-format", help="moses, cdec, travatar or jsonl.")] = "jsonl",
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Candidate lists from stored search spaces: what every command on lists reads.

    Example: dragoman forest lists forests -w weights.tsv --nbest 200 --distinct -o lists.jsonl.gz
    """
    from dragoman.candidates import NbestFormat, write_nbest
    from dragoman.tuning import forest_pool

    session = Session(n_threads=threads, json=json, quiet=quiet)
    check_outputs([*files, *weights], out=out)
    try:
        format_ = NbestFormat(list_format)
    except ValueError:
        known = ", ".join(format_.value for format_ in NbestFormat)
        raise InputError(f"--list-format is one of {known}, not '{list_format}'") from None
    given = unite_weights(weights)
    spaces = named_forests(files, weights)
    fitted_values(given, spaces.index, "search spaces")
    note = describe_fit(given, spaces.index)
    if note:
        session.warn(note)
    pool = forest_pool(spaces, given, k, distinct=distinct, n_threads=session.n_threads)
    write_nbest(pool, out, format_=format_)
    session.say(f"{pool.n_candidates:,} candidates of {pool.n_sentences:,} sentences")
    session.emit({"n_sentences": pool.n_sentences, "n_candidates": pool.n_candidates, "notes": [note] if note else []})


@app.command()
def convert(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The search space of one sentence, in any format.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="Our JSON if the name ends in .json, else Moses' hypergraph text.")
    ],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a search space in another format; in both ones a name may end in .gz, .xz or .zst.

    Example: dragoman forest convert cdec/0.json.gz -o moses/0.gz
    """
    session = Session(json=json, quiet=quiet)
    check_outputs([file], out=out)
    space = read_forest(file)
    write_forest(space, out)
    session.emit({"n_nodes": space.n_nodes, "n_edges": space.n_edges, "n_features": len(space.index)})
