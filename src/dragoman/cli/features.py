"""`dragoman features`: more features for candidates that came from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from dragoman.candidates import FIELDS, NbestFormat
from dragoman.candidates.features import CANDIDATE_FEATURES, describe_candidates
from dragoman.cli.declared import takes
from dragoman.cli.list_options import added_files, score_file
from dragoman.cli.list_output import ListFormat
from dragoman.cli.session import Json, Quiet, Session, Summary, Threads, check_inputs, check_outputs
from dragoman.errors import InputError
from dragoman.settings import Record
from dragoman.text import read_lines

__all__ = ["features"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOptions(Record):
    """Options of `features`."""

    lists: Annotated[str, typer.Argument(metavar="LISTS", help="A list in any format, sentences in order.")]
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The list with more features.")]
    source: Annotated[
        str | None,
        typer.Option(
            "--source", "-s", metavar="FILE", help="Source sentences, one per line, by sentence number; for --add."
        ),
    ] = None
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=ARGUMENT]",
            help=f"Features to add ({', '.join(CANDIDATE_FEATURES.imported())}, PACKAGE.MODULE:CLASS of your own): "
            "lm=FILE, system=FOLDER, agreement=l2r:0.5. Repeat.",
        ),
    ] = None
    scores: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="Your own numbers: a header of names, then a line for each candidate, separated by tabs; with a NAME "
            "a number a line. Repeat.",
        ),
    ] = None
    as_score: Annotated[
        list[str] | None,
        typer.Option(
            "--as-score",
            metavar="NAME",
            help="This column of --scores is a score (for --external), not a feature; repeat.",
        ),
    ] = None
    format_: Annotated[
        NbestFormat | None, typer.Option("--format", help="Format of the list; detected unless given.")
    ] = None
    fields: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help=f"Order of a line's parts, for Joshua's templates: {','.join(FIELDS)}."),
    ] = None
    allow_missing: Annotated[bool, typer.Option("--allow-missing", help="A feature that a line lacks is 0.")] = False
    list_format: ListFormat = None
    summary: Summary = None
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False


@takes(AddOptions)
def features(options: AddOptions) -> None:
    """Add features to the candidates of a list: language and translation models, agreement, your numbers.

    The list is streamed; its lines stay in order. See docs/reranking.md for the features.

    Example: dragoman features dev.jsonl -s dev.de -o more.jsonl --add lm=en.lm --add system=SYSTEM --add agreement
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
    if options.json and options.out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the list to a file with -o")
    tables = [score_file(told) for told in options.scores or []]
    check_inputs(options.lists, options.source, *tables)
    inputs = [options.lists, options.source, *tables, *added_files(options.add)]
    check_outputs(inputs, out=options.out, summary=options.summary)
    if options.add and options.source is None:
        raise InputError("--add needs the source sentences; name them with --source")
    sources = None if options.source is None else list(read_lines(options.source))
    with session.progress("candidates") as progress:
        added = describe_candidates(
            options.lists,
            options.out,
            options.add or [],
            sources,
            scores=options.scores or [],
            named=options.as_score or [],
            format_=options.format_,
            out_format=options.list_format,
            fields=None if options.fields is None else tuple(name.strip() for name in options.fields.split(",")),
            allow_missing=options.allow_missing,
            n_threads=session.n_threads,
            progress=progress,
        )
    session.say(
        f"{added.n_candidates:,} candidates of {added.n_sentences:,} sentences, "
        f"{len(added.names)} feature{'' if len(added.names) == 1 else 's'} added"
        + (f": {', '.join(added.names)}" if added.names else "")
        + (f"; scores: {', '.join(added.score_names)}" if added.score_names else "")
    )
    if options.summary is not None:
        session.write_json(options.summary, added)
    session.emit(added)
