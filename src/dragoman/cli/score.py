"""`dragoman score`: corpus scores with signatures, and whether a difference means anything."""

from __future__ import annotations

from statistics import fmean
from typing import Annotated, Any

import typer
from rich.text import Text

from dragoman._core import WordTable
from dragoman.analysis import (
    ERROR_KINDS,
    SystemOutput,
    SystemScore,
    compare_systems,
    error_profile,
    function_words_of,
)
from dragoman.cli.scoring import (
    Bootstrap,
    Lowercase,
    Metrics,
    Tokenize,
    Trials,
    warn_of_empty_references,
    warn_of_raw_text,
    warn_of_subwords,
)
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, table
from dragoman.errors import InputError
from dragoman.metric import Tokenizer, by_name
from dragoman.text import printable, read_lines

__all__ = ["record_of", "score", "show_scores"]

_P_VALUES = ("p (AR)", "p (BS)", "Holm (AR)", "Holm (BS)")
"""The corrected ones differ where more than one system is tested against the first."""


def score(
    hypotheses: Annotated[list[str] | None, typer.Argument(metavar="[HYP]...", help="Outputs, a system each.")] = None,
    reference: Annotated[
        list[str] | None, typer.Option("--reference", "-r", help="References; repeat for several.")
    ] = None,
    metric: Metrics = None,
    run: Annotated[
        list[str] | None, typer.Option(help="NAME=FILE: one run of a system; repeat a NAME for more runs.")
    ] = None,
    tokenize: Tokenize = Tokenizer.NONE,
    lowercase: Lowercase = False,
    bootstrap: Bootstrap = 1000,
    trials: Trials = 10_000,
    errors: Annotated[
        bool,
        typer.Option("--errors", help="Also count errors by kind: words dropped, in excess, substituted; order."),
    ] = False,
    function_words: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Function words of --errors, one a line; default: the most frequent reference words.",
        ),
    ] = None,
    threads: Threads = 0,
    seed: Seed = 12345,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score translations as sacrebleu does; with several systems, test each against the first.

    HYP and references are line-aligned text; BLEU takes them as tokenised unless --tokenize says otherwise. P-values
    are two-sided, over sentences, each with all its runs: AR is approximate randomisation, BS the paired bootstrap;
    Holm: corrected for the number of systems tested. A column of runs says 1 of 3 where three runs gave one output.

    Examples: dragoman score output.en -r test.en

    dragoman score baseline.en better.en -r ref.0 -r ref.1 -m bleu -m ter

    dragoman score output.en -r test.en --errors

    dragoman score --run base=run1.en --run base=run2.en --run new=run3.en --run new=run4.en -r test.en
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    files = _group_runs(hypotheses or [], run or [])
    if function_words is not None and not errors:
        raise InputError("--function-words is for --errors; give both")
    if not reference:
        raise InputError("no reference; give at least one with -r")
    references = [list(read_lines(path)) for path in reference]
    if not references[0]:
        raise InputError("there is no sentence to score", path=reference[0])
    for path, lines in zip(reference, references, strict=True):
        warn_of_empty_references(session.warn, path, lines)
    metrics = [by_name(name, tokenizer=tokenize, lowercase=lowercase) for name in metric or ["bleu", "chrf", "ter"]]
    if tokenize is Tokenizer.NONE and "bleu" in {metric.name for metric in metrics}:
        warn_of_raw_text(session.warn, references[0])
    systems = [
        SystemOutput(name=name, runs=tuple(list(read_lines(path)) for path in paths)) for name, paths in files.items()
    ]
    for system in systems:
        words = WordTable()
        words.encode_growing("".join(f"{line}\n" for run in system.runs for line in run).encode("utf-8"))
        warn_of_subwords(session.warn, words, [line for lines in references for line in lines], f"{system.name} has")
    session.say(f"scoring {len(references[0]):,} sentences")
    scores = compare_systems(
        systems, references, metrics, n_bootstrap=bootstrap, n_trials=trials, seed=seed, n_threads=session.n_threads
    )
    found: dict[str, Any] = {"systems": [record_of(system) for system in scores]}
    profiles = []
    if errors:
        known = _function_words(function_words, references)
        profiles = [_mean_profile(system, references, known, session.n_threads) for system in systems]
        for record, profile in zip(found["systems"], profiles, strict=True):
            record["errors"] = profile
        found["function_words"] = sorted(known)
    session.emit(found)
    show_scores(session, scores, {metric.name for metric in metrics if not metric.higher_is_better})
    if profiles:
        _show_errors(session, [system.name for system in systems], profiles)


def _group_runs(hypotheses: list[str], runs: list[str]) -> dict[str, list[str]]:
    """System names to their files, in order; files given by position are systems of one run."""
    files: dict[str, list[str]] = {}
    for path in hypotheses:
        name = path if path not in files else f"{path} ({len(files) + 1})"
        files[name] = [path]
    for item in runs:
        name, equals, path = item.partition("=")
        if not (name and equals and path):
            raise InputError(f"--run {item}: expected NAME=FILE")
        files.setdefault(name, []).append(path)
    if not files:
        raise InputError("nothing to score; name at least one output file")
    return files


def _function_words(path: str | None, references: list[list[str]]) -> frozenset[str]:
    """Those of a file, or the most frequent words of the references."""
    if path is None:
        return function_words_of(line for lines in references for line in lines)
    words = frozenset(word for line in read_lines(path) for word in line.lower().split())
    if not words:
        raise InputError("there is no function word", path=path)
    return words


def _mean_profile(
    system: SystemOutput, references: list[list[str]], known: frozenset[str], n_threads: int
) -> dict[str, float]:
    """Errors per 100 reference words by kind, mean over the runs."""
    profiles = [error_profile(run, references, function_words=known, n_threads=n_threads) for run in system.runs]
    return {kind: fmean(profile[kind] for profile in profiles) for kind in ERROR_KINDS}


def _show_errors(session: Session, names: list[str], profiles: list[dict[str, float]]) -> None:
    """A row for each kind, a column for each system."""
    rows = table("errors per 100 reference words", *map(printable, names), numeric_from=1)
    for kind, title in ERROR_KINDS.items():
        rows.add_row(title, *(f"{profile[kind]:.2f}" for profile in profiles))
    session.show(rows)


def record_of(system: SystemScore) -> dict[str, object]:
    """What programs get."""
    record: dict[str, object] = {"name": system.name, "length_ratio": system.length_ratio}
    record["n_distinct"] = system.n_distinct
    signatures: dict[str, str] = {}
    details: dict[str, dict[str, object]] = {}
    for item in system.scores:
        record[item.metric] = 100 * item.score
        signatures[item.metric] = item.signature
        details[item.metric] = {
            "runs": [100 * value for value in item.run_scores],
            "std": None if item.std is None else 100 * item.std,
            "interval": None if item.interval is None else [100 * item.interval.low, 100 * item.interval.high],
            "p_bootstrap": item.p_bootstrap,
            "p_randomisation": item.p_randomisation,
            "holm_bootstrap": item.holm_bootstrap,
            "holm_randomisation": item.holm_randomisation,
            "breakdown": None if item.details is None else str(item.details),
        }
        if item.details is not None:
            details[item.metric] |= {
                "precisions": [100 * precision for precision in item.details.precisions],
                "brevity_penalty": item.details.brevity_penalty,
            }
    return {**record, "signature": signatures, "details": details}


def show_scores(session: Session, systems: list[SystemScore], lower_is_better: set[str]) -> None:
    """A row for each metric and system; an arrow where lower is better."""
    n_tests = len(systems) - 1
    several_runs = any(len(item.run_scores) > 1 for system in systems for item in system.scores)
    header = ["metric", "system", "score", "±95%"] + (["sd", "runs"] if several_runs else [])
    rows = table(*header, *_P_VALUES[: 2 * n_tests], numeric_from=2)
    for column in zip(*(system.scores for system in systems), strict=True):
        for system, item in zip(systems, column, strict=True):
            cells = [f"{100 * item.score:.2f}", _points(item.interval and item.interval.half_width)]
            cells += [_points(item.std), _runs(len(item.run_scores), system.n_distinct)] if several_runs else []
            p_values = (item.p_randomisation, item.p_bootstrap, item.holm_randomisation, item.holm_bootstrap)
            cells += map(_p_value, p_values[: 2 * n_tests])
            arrow = " ↓" if item.metric in lower_is_better else ""
            rows.add_row(f"{item.metric}{arrow}", Text(printable(system.name)), *cells)
    for system in systems:
        rows.add_row("length ratio", Text(printable(system.name)), f"{system.length_ratio:.3f}")
    session.show(rows)
    for system in systems:
        for item in system.scores:
            if item.details is not None:
                session.show(f"{item.metric}, {printable(system.name)}: {item.details}")
    for item in systems[0].scores:
        session.say(f"{item.metric}: {item.signature}")


def _runs(n_runs: int, n_distinct: int) -> str:
    return str(n_runs) if n_runs == n_distinct else f"{n_distinct} of {n_runs}"


def _points(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _p_value(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
