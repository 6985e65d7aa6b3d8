"""`dragoman rerank` and `dragoman oracle`: choose one candidate per sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.lists import External, Format, LowerIsBetter, MetricName, Nbest, References, measured, read_lists
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads
from dragoman.errors import InputError
from dragoman.features import read_weights
from dragoman.pool import oracle as find_oracle
from dragoman.pool import rerank as choose

__all__ = ["oracle", "rerank"]


def rerank(
    weights: Annotated[str, typer.Option(help="Weights: our TSV, moses.ini, run.dense, cdec or Joshua.")],
    nbest: Nbest = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Where the chosen translations go.")] = "-",
    format_: Format = None,
    summary: Annotated[Path | None, typer.Option(help="Write a JSON summary here.")] = None,
    threads: Threads = 0,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Print the best candidate of each sentence by these weights, one line each, by sentence number.

    A sentence number that the lists skip gets an empty line, so that the output stays aligned with the source.

    Example: dragoman rerank --nbest test.nbest.gz --weights weights.tsv > test.out
    """
    session = Session(n_threads=threads, seed=seed, quiet=quiet)
    pool = read_lists(session, nbest, format_)
    choice = choose(pool, read_weights(weights), n_threads=session.n_threads)
    n_missing = choice.write(out)
    if n_missing:
        session.say(f"warning: {n_missing} sentence numbers have no candidate; their lines are empty")
    if summary is not None:
        result = {"n_sentences": pool.n_sentences, "n_candidates": pool.n_candidates, "n_missing": n_missing}
        session.write_json(summary, result)


def oracle(
    nbest: Nbest = None,
    reference: References = None,
    metric: MetricName = "bleu",
    external: External = None,
    lower_is_better: LowerIsBetter = False,
    format_: Format = None,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Write the oracle translations here.")] = None,
    threads: Threads = 0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The best score that any choice from the lists reaches (for BLEU a lower bound, by hill climbing).

    Example: dragoman oracle --nbest dev.nbest.gz -r dev.ref
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    if json and out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the translations to a file")
    pool = measured(session, read_lists(session, nbest, format_), reference, metric, external, lower_is_better)
    choice = find_oracle(pool)
    if out is not None:
        choice.write(out)
    score = 100 * choice.score()
    session.show(f"{pool.metric.name if pool.metric else ''}: {score:.2f}")
    session.emit(
        {
            "score": score,
            "metric": pool.metric.name if pool.metric else None,
            "n_sentences": pool.n_sentences,
            "n_candidates": pool.n_candidates,
        }
    )
