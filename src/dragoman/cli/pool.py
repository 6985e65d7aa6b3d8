"""`dragoman pool`: look at, unite, cut and convert candidate lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dragoman.candidates import (
    FeatureSummary,
    NbestFormat,
    Pool,
    PoolFilter,
    describe_pool,
    filter_pool,
    save_pool,
    unite_pools,
    without_scores,
    write_nbest,
)
from dragoman.cli.declared import takes
from dragoman.cli.groups import command_group
from dragoman.cli.list_options import CandidateOptions, MetricOptions
from dragoman.cli.list_output import output_format
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, check_outputs, table
from dragoman.errors import InputError
from dragoman.text import printable

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["app"]

app = command_group("Look at, unite, cut and convert candidate lists.")

Lists = Annotated[list[str], typer.Argument(metavar="LISTS", help="Lists in any format, or stored pools.")]
Out = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The list, or with --to pool a new folder.")]


class Stored(StrEnum):
    """What a list can be written as."""

    MOSES = "moses"
    CDEC = "cdec"
    JOSHUA = "joshua"
    TRAVATAR = "travatar"
    JSONL = "jsonl"
    POOL = "pool"  # a folder, mapped when it is loaded


To = Annotated[Stored | None, typer.Option(help="Format to write; that of the first list unless given.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoOptions(MetricOptions):
    """Options of `pool info`."""

    lists: Lists
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions(CandidateOptions):
    """Options of all commands that write lists."""

    lists: Lists
    out: Out
    to: To = None
    no_scores: Annotated[
        bool, typer.Option("--no-scores", help="Leave out named scores, which JSON lines and pools alone can hold.")
    ] = False
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions(WriteOptions):
    """Options of `pool merge`."""

    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Name of each list, in order: its candidates get a feature from_NAME of 1; repeat."
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterOptions(WriteOptions):
    """Options of `pool filter`."""

    sentences: Annotated[
        str | None,
        typer.Option(metavar="FROM:TO", help="Sentence numbers to keep, both included, such as 0:99."),
    ] = None
    distinct_text: Annotated[
        bool, typer.Option("--distinct-text", help="Of candidates with the same words keep the first.")
    ] = False
    max_words: Annotated[int | None, typer.Option(min=0, help="Leave out longer candidates.")] = None
    sample: Annotated[int | None, typer.Option(min=1, help="So many candidates of each sentence, at random.")] = None
    first: Annotated[int | None, typer.Option(min=1, help="The first N candidates of each sentence.")] = None
    keep_feature: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Keep only this feature; repeat.")] = (
        None
    )
    drop_feature: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Remove this feature; repeat.")] = None
    seed: Seed = 0


@app.command()
@takes(InfoOptions)
def info(options: InfoOptions) -> None:
    """Sizes of lists, and of every feature its coverage, range and, with a metric, correlation with the gain.

    Example: dragoman pool info dev.nbest.gz -r dev.ref
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
    objective = options.objective(session) if options.reference or options.external else None
    pool = options.read_files(session, options.lists, distinct=False)
    if objective is not None:
        pool = objective.measure(pool, n_threads=session.n_threads)
    found = describe_pool(pool)
    session.show(
        f"{found.n_candidates:,} candidates of {found.n_sentences:,} sentences, {found.shortest_list} to "
        f"{found.longest_list} each, {found.n_distinct_texts:,} distinct texts, {found.mean_words:.1f} words"
    )
    for kind, summaries in (("score", found.scores), ("feature", found.features)):
        if summaries or kind == "feature":
            session.show(_summaries(kind, summaries))
    if found.n_features > len(found.features):
        session.show(f"and {found.n_features - len(found.features):,} more features")
    session.emit(found)


def _summaries(kind: str, summaries: Sequence[FeatureSummary]) -> Table:
    lines = table(kind, "coverage", "least", "mean", "greatest", "correlation")
    for each in summaries:
        correlation = "" if each.correlation is None else f"{each.correlation:+.3f}"
        numbers = (f"{number:.4g}" for number in (each.low, each.mean, each.high))
        lines.add_row(Text(printable(each.name)), f"{100 * each.coverage:.1f}%", *numbers, correlation)
    return lines


@app.command()
@takes(MergeOptions)
def merge(options: MergeOptions) -> None:
    """Unite lists of the same sentences; a candidate with the words and features of another is left out.

    With --origin a feature that only some lists have is, for the candidates of the others, the mean of the sentence's
    candidates that have it, so that it favours nobody; without, and where no list of the sentence has it, it is 0.

    Example: dragoman pool merge ours.nbest neural.jsonl --origin ours --origin neural -o both.jsonl --to jsonl
    """
    session = _started(options)
    if options.origin is None:
        pool = options.read_files(session, options.lists)
    else:
        if len(options.origin) != len(options.lists):
            raise InputError(f"{len(options.lists)} lists but {len(options.origin)} origins; give one for each list")
        if twice := [name for name in options.origin if options.origin.count(name) > 1]:
            raise InputError(f"two lists have the origin '{twice[0]}'; give each a name of its own")
        pools = {
            name: options.read_files(session, [path]) for name, path in zip(options.origin, options.lists, strict=True)
        }
        pool = unite_pools(pools, n_threads=session.n_threads)
    _write(session, options, pool)


@app.command(name="filter")
@takes(FilterOptions)
def filter_(options: FilterOptions) -> None:
    """Keep some sentences, candidates or features of lists; duplicates stay unless --distinct-text.

    Example: dragoman pool filter dev.nbest.gz --distinct-text --first 50 -o small.nbest.gz
    """
    session = _started(options)
    first, last = _range(options.sentences)
    what = PoolFilter(
        first_sentence=first,
        last_sentence=last,
        distinct_text=options.distinct_text,
        max_words=options.max_words,
        sample=options.sample,
        first=options.first,
        seed=options.seed,
    )
    pool = options.read_files(session, options.lists, distinct=False)
    pool = filter_pool(pool, what, keep=options.keep_feature, drop=options.drop_feature or ())
    _write(session, options, pool)


@app.command()
@takes(WriteOptions)
def convert(options: WriteOptions) -> None:
    """Write lists in another format, or as a stored pool; sentences in order, duplicates kept.

    Example: dragoman pool convert dev.nbest.gz --to jsonl -o dev.jsonl
    """
    session = _started(options)
    _write(session, options, options.read_files(session, options.lists, distinct=False))


def _started(options: WriteOptions) -> Session:
    if options.json and options.out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the list to a file with -o")
    if options.to is Stored.POOL:
        if Path(options.out).exists():
            raise InputError("exists already; name a new folder", path=options.out)
    else:
        check_outputs(options.lists, out=options.out)
    return Session(n_threads=options.threads, json=options.json, quiet=options.quiet)


def _write(session: Session, options: WriteOptions, pool: Pool) -> None:
    if options.no_scores:
        pool = without_scores(pool)
    if options.to is Stored.POOL:
        save_pool(pool, options.out)
    else:
        write_nbest(pool, options.out, format_=_format(options.lists, options.to, pool))
    session.say(f"{pool.n_candidates:,} candidates of {pool.n_sentences:,} sentences in {options.out}")
    session.emit({"n_sentences": pool.n_sentences, "n_candidates": pool.n_candidates, "out": options.out})


def _format(lists: Sequence[str], to: Stored | None, pool: Pool) -> NbestFormat:
    return output_format(lists, None if to is None else NbestFormat(to.value), pool)


def _range(text: str | None) -> tuple[int, int | None]:
    if text is None:
        return 0, None
    first, colon, last = text.partition(":")
    if not colon or not all(part.isdecimal() or not part for part in (first, last)):
        raise InputError(f"--sentences {text}: expected two sentence numbers, such as 0:99")
    return int(first or 0), int(last) if last else None
