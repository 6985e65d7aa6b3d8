"""`dragoman mbr`: the candidate that agrees most with all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from dragoman.candidates import Objective, best_by, expected_gains, posteriors, read_references
from dragoman.cli.declared import takes
from dragoman.cli.list_options import CandidateOptions
from dragoman.cli.list_output import ListFormat, Top, output_format, write_ranked
from dragoman.cli.scoring import Lowercase, Tokenize
from dragoman.cli.session import Json, Quiet, Session, Summary, Threads, check_outputs
from dragoman.errors import InputError
from dragoman.features import unite_weights
from dragoman.metric import Tokenizer

__all__ = ["mbr"]

_metric = partial(typer.Option, rich_help_panel="Metric")
_posterior = partial(typer.Option, rich_help_panel="Posterior")


@dataclass(frozen=True, slots=True, kw_only=True)
class MbrOptions(CandidateOptions):
    """Options of `mbr`."""

    lists: Annotated[
        list[str],
        typer.Argument(metavar="LISTS", help="Lists or samples (Moses, cdec, Joshua, Travatar, JSON lines, text)."),
    ]
    metric: Annotated[
        str, _metric("--metric", "-m", metavar="NAME", help="Utility: bleu, chrf, chrf++, ter, wer, ribes, or a mix.")
    ] = "chrf"
    tokenize: Tokenize = Tokenizer.NONE
    lowercase: Lowercase = False
    reference: Annotated[
        list[str] | None,
        _metric("--reference", "-r", metavar="FILE", help="Score the choice by the same metric; repeat for several."),
    ] = None
    weights: Annotated[
        list[str] | None,
        _posterior(metavar="FILE", help="Candidates count by exp(scale · w·f) of these weights; repeat to unite."),
    ] = None
    totals: Annotated[bool, _posterior("--totals", help="Candidates count by exp(scale · total) of the lists.")] = False
    scale: Annotated[
        float | None,
        _posterior(min=0, help="Scale of the posterior of --weights or --totals; 0 is uniform, 1 unless given."),
    ] = None
    out: Annotated[
        str, typer.Option("--out", "-o", rich_help_panel="Result", help="Where the chosen translations go.")
    ] = "-"
    top: Top = None
    list_format: ListFormat = None
    summary: Summary = None
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False


@takes(MbrOptions)
def mbr(options: MbrOptions) -> None:
    """Choose the candidate with the highest expected utility: minimum-Bayes-risk decoding of lists or samples.

    The utility is a sentence-level metric with every candidate of the list in turn as the reference. Without --weights
    and --totals every line counts the same, and a text that was sampled twice counts twice. With --top the lists are
    written, with expected utilities as totals.

    Example: dragoman mbr samples.txt --per-sentence 64 -m chrf -o test.out
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
    if options.json and options.out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the translations to a file with -o")
    if options.weights and options.totals:
        raise InputError("--weights and --totals are two different posteriors; give one of them")
    if options.scale is not None and not (options.weights or options.totals):
        raise InputError("--scale is of a posterior; give --weights or --totals, or leave it out: every line counts 1")
    inputs = [*options.lists, *(options.weights or []), *(options.reference or [])]
    check_outputs(inputs, out=options.out, summary=options.summary)
    utility = Objective(options.metric, tokenizer=options.tokenize, lowercase=options.lowercase)
    references = read_references(options.reference) if options.reference else None
    weights = unite_weights(options.weights) if options.weights else None
    is_uniform = weights is None and not options.totals
    pool = options.read_files(session, options.lists, distinct=not is_uniform)
    if references is not None:
        objective = utility.on(references, allow_missing=options.allow_missing)
        pool = objective.measure(pool, n_threads=session.n_threads)
    scale = 1.0 if options.scale is None else options.scale
    posterior = posteriors(pool, weights, scale=scale, use_totals=options.totals)
    gains = expected_gains(pool, utility.metric, posterior, n_threads=session.n_threads)
    choice = best_by(pool, gains)
    result: dict[str, object] = {
        "utility": utility.name,
        "n_sentences": pool.n_sentences,
        "n_candidates": pool.n_candidates,
        "expected": choice.mean_of(gains),
    }
    session.say(f"expected {utility.name} gain of the choice: {choice.mean_of(gains):.4f}")
    if options.top is None:
        result["n_missing"] = choice.write(options.out)
    else:
        format_ = output_format(options.lists, options.list_format, pool)
        write_ranked(pool, gains, options.out, top=options.top, format_=format_)
    if references is not None:
        result |= {"metric": utility.name, "score": utility.points(choice.score())}
        session.say(utility.describe(choice.score()))
    if options.summary is not None:
        session.write_json(options.summary, result)
    session.emit(result)
