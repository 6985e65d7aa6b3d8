"""What `tune`, `rerank` and `oracle` share: candidate lists, their metric, weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.session import Session
from dragoman.errors import InputError
from dragoman.metric import Smoothing, by_name
from dragoman.pool import (
    NbestFormat,
    Pool,
    load_pool,
    merge_pools,
    read_nbest,
    read_pool,
    read_references,
    with_external,
    with_metric,
)

__all__ = [
    "External",
    "Format",
    "LowerIsBetter",
    "MetricName",
    "Nbest",
    "References",
    "measure_of",
    "measured",
    "read_lists",
]

_CANDIDATES, _METRIC = "Candidates", "Metric"
Nbest = Annotated[
    list[str] | None,
    typer.Option(
        "--nbest",
        metavar="FILE",
        help="Candidate list (Moses, cdec, Joshua, Travatar, JSON lines) or stored pool; repeat.",
        rich_help_panel=_CANDIDATES,
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="References, one sentence per line; repeat for several.",
        rich_help_panel=_METRIC,
    ),
]
Format = Annotated[
    NbestFormat | None,
    typer.Option("--format", help="Format of the lists; found out unless given.", rich_help_panel=_CANDIDATES),
]
MetricName = Annotated[
    str,
    typer.Option(
        "--metric",
        "-m",
        metavar="NAME",
        help="bleu, chrf, chrf++, ter, or a mix: (ter-bleu)/2.",
        rich_help_panel=_METRIC,
    ),
]
External = Annotated[
    str | None,
    typer.Option(
        "--external",
        metavar="NAME",
        help="Maximise this score of the JSON lines instead of a metric.",
        rich_help_panel=_METRIC,
    ),
]
LowerIsBetter = Annotated[
    bool, typer.Option("--lower-is-better", help="The external score is a loss.", rich_help_panel=_METRIC)
]


def read_lists(
    session: Session, nbest: list[str] | None, format_: NbestFormat | None, dense: list[str] | None = None
) -> Pool:
    """One pool from all lists, repeated candidates once."""
    if not nbest:
        raise InputError("no candidates; name a list with --nbest")
    session.say(f"reading {len(nbest)} candidate list{'s' if len(nbest) > 1 else ''}")
    if len(nbest) == 1 and Path(nbest[0]).is_dir():
        return load_pool(nbest[0])
    if any(Path(path).is_dir() for path in nbest):
        parts = [_read_one(path, format_, dense, number) for number, path in enumerate(nbest)]
        pool = merge_pools(parts, n_threads=session.n_threads)
    else:
        pool = read_pool(nbest, format_=format_, dense=dense, n_threads=session.n_threads)
    session.say(
        f"{pool.n_candidates:,} distinct candidates of {pool.n_sentences:,} sentences, {pool.n_features:,} features"
    )
    return pool


def _read_one(path: str, format_: NbestFormat | None, dense: list[str] | None, number: int) -> Pool:
    if Path(path).is_dir():
        return load_pool(path)
    return read_nbest(path, format_=format_, dense=dense, round_number=number)


def measure_of(
    references: list[str] | None, metric: str, external: str | None, lower_is_better: bool, *, n_threads: int
) -> Callable[[Pool], Pool]:
    """What gives a pool the statistics of what is to be maximised; BLEU without smoothing, as MERT wants it."""
    if external is not None:
        if references:
            raise InputError("an external score needs no references; leave out -r or --external")
        return lambda pool: with_external(pool, external, higher_is_better=not lower_is_better)
    if not references:
        raise InputError("no references; give at least one with -r, or say --external")
    chosen = by_name(metric, smoothing=Smoothing.NONE)
    texts = read_references(references)
    return lambda pool: with_metric(pool, chosen, texts, n_threads=n_threads)


def measured(
    session: Session,
    pool: Pool,
    references: list[str] | None,
    metric: str,
    external: str | None,
    lower_is_better: bool,
) -> Pool:
    """The pool with the statistics of what is to be maximised."""
    return measure_of(references, metric, external, lower_is_better, n_threads=session.n_threads)(pool)
