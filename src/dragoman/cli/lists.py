"""What `tune`, `rerank` and `oracle` share: candidate lists, their metric, weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.cli.scoring import warn_of_empty_references
from dragoman.cli.session import Session
from dragoman.errors import InputError
from dragoman.metric import Smoothing, Tokenizer, by_name
from dragoman.pool import (
    FIELDS,
    NbestFormat,
    Pool,
    has_segmentation,
    load_pool,
    merge_pools,
    read_nbest,
    read_pool,
    read_references,
    with_external,
    with_metric,
)

__all__ = [
    "AllowMissing",
    "External",
    "Fields",
    "Format",
    "LowerIsBetter",
    "MetricName",
    "Nbest",
    "References",
    "measure_of",
    "read_lists",
    "split_fields",
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
Fields = Annotated[
    str | None,
    typer.Option(
        "--fields",
        metavar="NAMES",
        help=f"Order of a line's parts, for Joshua's templates: {','.join(FIELDS)}; an empty name skips a part.",
        rich_help_panel=_CANDIDATES,
    ),
]
AllowMissing = Annotated[
    bool,
    typer.Option(
        "--allow-missing",
        help="A feature that a line lacks is 0; references may have no candidates.",
        rich_help_panel=_CANDIDATES,
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
    session: Session,
    nbest: list[str] | None,
    format_: NbestFormat | None,
    dense: list[str] | None = None,
    *,
    fields: str | None = None,
    allow_missing: bool = False,
) -> Pool:
    """One pool from all lists, repeated candidates once."""
    if not nbest:
        raise InputError("no candidates; name a list with --nbest")
    session.say(f"reading {len(nbest)} candidate list{'s' if len(nbest) > 1 else ''}")
    if len(nbest) == 1 and Path(nbest[0]).is_dir():
        return load_pool(nbest[0])
    reading: dict[str, Any] = {"format_": format_, "dense": dense, "allow_missing": allow_missing}
    reading["fields"] = split_fields(fields)
    if any(Path(path).is_dir() for path in nbest):
        parts = [
            load_pool(path) if Path(path).is_dir() else read_nbest(path, round_number=number, **reading)
            for number, path in enumerate(nbest)
        ]
        pool = merge_pools(parts, n_threads=session.n_threads)
    else:
        pool = read_pool(nbest, n_threads=session.n_threads, **reading)
    session.say(
        f"{pool.n_candidates:,} distinct candidates of {pool.n_sentences:,} sentences, {pool.n_features:,} features"
    )
    if has_segmentation(pool.words):
        session.say("warning: the candidates hold segmentation marks such as |0-0|, which count as words")
    return pool


def split_fields(names: str | None) -> tuple[str, ...] | None:
    """The order that --fields gives."""
    return None if names is None else tuple(name.strip() for name in names.split(","))


def measure_of(
    references: list[str] | None,
    metric: str,
    external: str | None,
    lower_is_better: bool,
    *,
    tokenizer: Tokenizer = Tokenizer.NONE,
    lowercase: bool = False,
    allow_missing: bool = False,
    n_threads: int,
    say: Callable[[str], None] | None = None,
) -> Callable[[Pool], Pool]:
    """What gives a pool the statistics of what is to be maximised; BLEU without smoothing, as MERT wants it."""
    if external is not None:
        if references:
            raise InputError("an external score needs no references; leave out -r or --external")
        return lambda pool: with_external(pool, external, higher_is_better=not lower_is_better)
    if not references:
        raise InputError("no references; give at least one with -r, or say --external")
    chosen = by_name(metric, smoothing=Smoothing.NONE, tokenizer=tokenizer, lowercase=lowercase)
    texts = read_references(references)
    if say is not None:
        for number, path in enumerate(references):
            warn_of_empty_references(say, path, [several[number] for several in texts])
    return lambda pool: with_metric(pool, chosen, texts, allow_missing=allow_missing, n_threads=n_threads)
