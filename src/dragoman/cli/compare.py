"""`dragoman compare`: the methods of experiments beside one another."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from dragoman.analysis import (
    Mark,
    PairedTest,
    PrimaryResult,
    Row,
    RowScore,
    RunComparison,
    Shown,
    Within,
    compare_runs,
    comparison_header,
    comparison_rows,
    legend,
    pooled_header,
    pooled_legend,
    pooled_rows,
    primary_sentence,
)
from dragoman.cli.scoring import Bootstrap, Metrics, Trials
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, check_outputs, table
from dragoman.text import open_output
from dragoman.view.report import TableFormat, render

__all__ = ["compare"]


def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Folders that `dragoman run` made.")],
    metric: Metrics = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            help="Test against SYSTEM/FEATURES/OPTIMISER, or against this optimiser with all else the same; of "
            "several, against the first that a corpus has."
        ),
    ] = None,
    test: Annotated[
        PairedTest, typer.Option(help="The test whose p-values are shown and decide the marks.")
    ] = PairedTest.RANDOMISATION,
    within: Annotated[
        Within, typer.Option(help="Mark and test against the best row of the corpus, of each system, or feature set.")
    ] = Within.CORPUS,
    form: Annotated[TableFormat, typer.Option("--format", help="How to write the table.")] = TableFormat.TABLE,
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write the table.")] = "-",
    bootstrap: Bootstrap = 1000,
    trials: Trials = 10_000,
    threads: Threads = 0,
    seed: Seed = 12345,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare the methods of one or more runs on each test set: mean and deviation over seeds, significance.

    A row is a test set, a system, a feature set and an optimiser, or the untuned weights of a system (start). The best
    row of a test set and those that are not significantly worse (p >= 0.05) are marked; with --within system, the best
    row of each system. Tests are two-sided and over sentences, each with all its runs; p has Holm's correction for the
    rows tested against the same row. "Runs 1 of 3": three runs gave one output. Several test sets also have a table of
    their means, with a test over all of them.

    Examples: dragoman compare runs/quickstart

    dragoman compare runs/enja runs/multi30k -m bleu --baseline mert --format latex -o table.tex
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    check_outputs(out=out)
    comparison = compare_runs(
        [Path(run) for run in runs],
        metrics=metric or ["bleu", "chrf", "ter"],
        baseline=baseline,
        test=test,
        within=within,
        n_bootstrap=bootstrap,
        n_trials=trials,
        seed=seed,
        n_threads=session.n_threads,
    )
    for note in comparison.notes:
        session.say(f"note: {note}")
    session.emit(_record(comparison))
    if out == "-" and json:
        return
    for result in comparison.primary if form is TableFormat.TABLE else ():
        session.say(primary_sentence(comparison, result))
    if form is TableFormat.TABLE:
        session.say(legend(comparison, "*", "≈"))
        text = _table(comparison_header(comparison), comparison_rows(comparison))
        if comparison.pooled:
            session.say(f"second table: {pooled_legend(comparison)}")
            text += "\n" + _table(pooled_header(comparison), pooled_rows(comparison))
    else:
        text = render(comparison, form)
    with open_output(out) as writer:
        writer.write(text.removesuffix("\n"))


def _table(header: list[Shown], body: list[list[Shown]]) -> str:
    rows = table(*(name.text for name in header), numeric_from=sum(not name.numeric for name in header))
    signs = {Mark.BEST: "*", Mark.NOT_WORSE: "≈", Mark.WORSE: " ", None: ""}
    for cells in body:
        rows.add_row(*(Text(cell.text + signs[cell.mark]) for cell in cells))
    # As wide as it needs to be: a row broken into lines cannot be read.
    page = Console(file=io.StringIO(), width=400)
    with page.capture() as captured:
        page.print(rows)
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def _record(comparison: RunComparison) -> dict[str, Any]:
    return {
        "metrics": comparison.metrics,
        "baseline": comparison.baseline,
        "test": comparison.test.value,
        "within": comparison.within.value,
        "primary": [_primary(result) for result in comparison.primary],
        "rows": [_row(comparison, row) for row in comparison.rows],
        "pooled": [_row(comparison, row) for row in comparison.pooled],
        "pooled_over": comparison.pooled_over,
        "signatures": comparison.signatures,
        "notes": comparison.notes,
    }


def _primary(result: PrimaryResult) -> dict[str, Any]:
    return {
        "rows": result.rows,
        "baseline": result.primary.baseline,
        "metric": result.primary.metric,
        "tests": result.tests,
        "mean": 100 * result.score,
        "baseline_mean": 100 * result.baseline_score,
        "gain": 100 * result.gain,
        "p_value": result.p_value,
    }


def _row(comparison: RunComparison, row: Row) -> dict[str, Any]:
    key, scores = row.key, row.scores
    return {
        "corpus": key.corpus,
        "test": row.test,
        "system": key.system,
        "features": key.features,
        "optimiser": key.optimiser,
        "name": key.name,
        "seeds": row.seeds,
        "n_runs": len(row.seeds),
        "n_distinct": row.n_distinct,
        "start": key.is_start,
        "mean": {name: 100 * score.mean for name, score in scores.items()},
        "std": {name: _points(score.std) for name, score in scores.items()},
        "p_value": {name: comparison.p_value(score) for name, score in scores.items()},
        "p_holm": {name: comparison.p_holm(score) for name, score in scores.items()},
        "best": {name: score.best for name, score in scores.items()},
        "not_worse": {name: score.not_worse for name, score in scores.items()},
        "length_ratio": row.length_ratio,
        "baseline": None if row.baseline is None else row.baseline.name,
        "programs": row.programs,
        "details": {name: _details(score) for name, score in scores.items()},
    }


def _details(score: RowScore) -> dict[str, Any]:
    return {
        "runs": [100 * value for value in score.run_scores],
        "interval": None if score.interval is None else [100 * score.interval.low, 100 * score.interval.high],
        "p_best": {test.value: score.p_best.get(test) for test in PairedTest},
        "p_baseline": {test.value: score.p_baseline.get(test) for test in PairedTest},
        "holm_best": {test.value: score.holm_best.get(test) for test in PairedTest},
        "holm_baseline": {test.value: score.holm_baseline.get(test) for test in PairedTest},
    }


def _points(value: float | None) -> float | None:
    return None if value is None else 100 * value
