"""`dragoman rerank` and `dragoman oracle`: choose one candidate per sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.lists import (
    AllowMissing,
    External,
    Fields,
    Format,
    LowerIsBetter,
    MetricName,
    Nbest,
    References,
    measure_of,
    read_lists,
)
from dragoman.cli.scoring import Lowercase, Tokenize
from dragoman.cli.session import Json, Quiet, Session, Threads, check_outputs
from dragoman.errors import InputError
from dragoman.features import describe_fit, unite_weights
from dragoman.metric import Tokenizer
from dragoman.pool import oracle as find_oracle
from dragoman.pool import rerank as choose

__all__ = ["oracle", "rerank"]


def rerank(
    weights: Annotated[
        list[str],
        typer.Option(help="Weights: our TSV, moses.ini, run.dense, cdec or Joshua; repeat to unite dense and sparse."),
    ],
    nbest: Nbest = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Where the chosen translations go.")] = "-",
    reference: References = None,
    metric: MetricName = "bleu",
    external: External = None,
    lower_is_better: LowerIsBetter = False,
    tokenize: Tokenize = Tokenizer.NONE,
    lowercase: Lowercase = False,
    format_: Format = None,
    fields: Fields = None,
    allow_missing: AllowMissing = False,
    summary: Annotated[Path | None, typer.Option(help="Write a JSON summary here.")] = None,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Print the best candidate of each sentence by these weights, one line each, by sentence number.

    A sentence number that the lists skip gets an empty line, so that the output stays aligned with the source. With
    references or --external the choice is scored.

    Example: dragoman rerank --nbest test.nbest.gz --weights weights.tsv > test.out
    """
    session = Session(n_threads=threads, quiet=quiet)
    check_outputs([*(nbest or []), *weights, *(reference or [])], out=out, summary=summary)
    measure = None
    if reference or external:
        measure = measure_of(
            reference,
            metric,
            external,
            lower_is_better,
            tokenizer=tokenize,
            lowercase=lowercase,
            allow_missing=allow_missing,
            n_threads=session.n_threads,
            say=session.say,
        )
    given = unite_weights(weights)
    pool = read_lists(session, nbest, format_, fields=fields, allow_missing=allow_missing)
    if measure is not None:
        pool = measure(pool)
    choice = choose(pool, given, n_threads=session.n_threads)
    notes = [note for note in [describe_fit(given, pool.index, pool.dense)] if note]
    n_missing = choice.write(out)
    if n_missing:
        notes.append(f"{n_missing} sentence numbers have no candidate; their lines are empty")
    for note in notes:
        session.say(f"warning: {note}")
    result: dict[str, object] = {
        "n_sentences": pool.n_sentences,
        "n_candidates": pool.n_candidates,
        "n_missing": n_missing,
        "notes": notes,
    }
    if pool.metric is not None:
        result |= {"metric": pool.metric.name, "score": pool.metric.points(choice.score())}
        session.say(pool.metric.describe(choice.score()))
    if summary is not None:
        session.write_json(summary, result)


def oracle(
    nbest: Nbest = None,
    reference: References = None,
    metric: MetricName = "bleu",
    external: External = None,
    lower_is_better: LowerIsBetter = False,
    tokenize: Tokenize = Tokenizer.NONE,
    lowercase: Lowercase = False,
    format_: Format = None,
    fields: Fields = None,
    allow_missing: AllowMissing = False,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Write the oracle translations here.")] = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The best score that any choice from the lists reaches (for BLEU a lower bound, by hill climbing).

    Example: dragoman oracle --nbest dev.nbest.gz -r dev.ref
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    if json and out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the translations to a file")
    check_outputs([*(nbest or []), *(reference or [])], out=out)
    measure = measure_of(
        reference,
        metric,
        external,
        lower_is_better,
        tokenizer=tokenize,
        lowercase=lowercase,
        allow_missing=allow_missing,
        n_threads=session.n_threads,
        say=session.say,
    )
    pool = measure(read_lists(session, nbest, format_, fields=fields, allow_missing=allow_missing))
    assert pool.metric is not None
    choice = find_oracle(pool)
    if out is not None:
        choice.write(out)
    session.show(pool.metric.describe(choice.score()))
    session.emit(
        {
            "score": pool.metric.points(choice.score()),
            "metric": pool.metric.name,
            "n_sentences": pool.n_sentences,
            "n_candidates": pool.n_candidates,
        }
    )
