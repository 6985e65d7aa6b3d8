"""`dragoman ablate`: which features help to choose from lists, and by how much."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.analysis import Shown, is_significant
from dragoman.candidates import ExternalObjective, Objective
from dragoman.cli.declared import takes
from dragoman.cli.run import run_lists
from dragoman.cli.scoring import Lowercase, Tokenize, warn_of_raw_text
from dragoman.cli.session import Json, Quiet, Session, Threads, check_inputs, table
from dragoman.errors import InputError
from dragoman.experiments.ablation import (
    FIRST,
    METHODS,
    OWN,
    Ablation,
    AblationRow,
    ablation_recipe,
    ablation_rows,
    best_row,
    without_failed,
)
from dragoman.experiments.ablation_tests import AblationTests, RowTest
from dragoman.experiments.list_cell import learned_weights
from dragoman.features import read_weights
from dragoman.metric import Metric, Tokenizer, metric_label
from dragoman.run import cell_folder, translations_file
from dragoman.settings import Record
from dragoman.text import read_lines, replace_bytes
from dragoman.view.report import load_experiment, write_page
from dragoman.view.report.tables import Table as ReportTable

if TYPE_CHECKING:
    from rich.table import Table as RichTable

__all__ = ["ablate"]

_CACHE, _RUN = "cache", "run"
_dev = partial(typer.Option, rich_help_panel="Development set")
_test = partial(typer.Option, rich_help_panel="Test set")


@dataclass(frozen=True, slots=True, kw_only=True)
class AblateOptions(Record):
    """Options of `ablate`."""

    nbest: Annotated[list[str], _dev(metavar="FILE", help="Candidate list of the development set; repeat.")]
    source: Annotated[str, _dev("--source", "-s", metavar="FILE", help="Its source sentences, tokenised.")]
    reference: Annotated[list[str], _dev("--reference", "-r", metavar="FILE", help="Its references; repeat.")]
    test_nbest: Annotated[list[str], _test(metavar="FILE", help="Candidate list of the test set; repeat.")]
    test_source: Annotated[str, _test(metavar="FILE", help="Its source sentences.")]
    test_reference: Annotated[list[str], _test(metavar="FILE", help="Its references, to measure; repeat.")]
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Folder for weights, translations, page and run."),
    ]
    train_source: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Parallel text for models of our own: its source side."),
    ] = None
    train_target: Annotated[str | None, typer.Option(metavar="FILE", help="Its target side.")] = None
    weights: Annotated[str | None, typer.Option(metavar="FILE", help="Start from these; from 0 unless given.")] = None
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"Methods of learning; repeat. [{', '.join(METHODS)}]")
    ] = None
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="NAME", help="What is maximised.")] = "bleu"
    tokenize: Tokenize = Tokenizer.NONE
    lowercase: Lowercase = False
    external: Annotated[
        str | None, typer.Option(metavar="NAME", help="Maximise this score of the JSON lines of the development set.")
    ] = None
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="The external score is a loss.")] = False
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="A candidate without the external score has the mean of its list.")
    ] = False
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Trainings of every row.")] = 3
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped.")] = False
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False

    def objective(self) -> Objective:
        """What is maximised, to show its scores."""
        if self.external is not None:
            return ExternalObjective(self.external, higher_is_better=not self.lower_is_better)
        return Objective(self.metric, tokenizer=self.tokenize, lowercase=self.lowercase)


@takes(AblateOptions)
def ablate(options: AblateOptions) -> None:
    """Learn which features help to choose from candidate lists, and by how much.

    Groups of features join one after another: those of the lists, with parallel text a language model and word
    translations, agreement, the surface. Weights are learned on the development set by each method, and
    the row that is best on held-out fifths of it is kept. On the test set every row is compared with the first of each
    list and with the row before.
    DIR gets weights.tsv, test.out (the choice from the test lists) and report.html.

    Example: dragoman ablate --nbest dev.jsonl -s dev.de -r dev.en --test-nbest test.jsonl --test-source test.de
    --test-reference test.en -o out
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
    if options.lower_is_better and options.external is None:
        raise InputError("--lower-is-better is for an external score; name one with --external")
    if options.allow_missing and options.external is None:
        raise InputError("--allow-missing is for an external score; name one with --external")
    if (options.train_source is None) != (options.train_target is None):
        raise InputError("parallel text has two sides; give both --train-source and --train-target")
    training = None
    if options.train_source is not None and options.train_target is not None:
        training = (options.train_source, options.train_target)
    check_inputs(*options.nbest, *options.test_nbest, options.source, options.test_source, *(training or ()))
    recipe = ablation_recipe(
        Ablation(
            dev=tuple(options.nbest),
            dev_source=options.source,
            dev_references=tuple(options.reference),
            test=tuple(options.test_nbest),
            test_source=options.test_source,
            test_references=tuple(options.test_reference),
            training=training,
            start={} if options.weights is None else dict(read_weights(options.weights).items()),
            methods=tuple(options.method or METHODS),
            metric=options.metric,
            tokenizer=options.tokenize,
            lowercase=options.lowercase,
            external=options.external,
            lower_is_better=options.lower_is_better,
            fill_missing=options.allow_missing,
            n_seeds=options.seeds,
        )
    )
    objective = options.objective()
    if options.tokenize is Tokenizer.NONE and options.external is None and "bleu" in objective.name:
        warn_of_raw_text(session.warn, [line for path in options.reference[:1] for line in read_lines(path)])
    run, cache = options.out / _RUN, options.out / _CACHE
    is_new = not run.exists()
    results = run_lists(session, recipe, run, cache=cache, resume=options.resume)
    if is_new and all(result.error is not None for result in results):
        shutil.rmtree(run)  # nothing to go on with, and the right command may be another
    if not options.method:
        results, failed = without_failed(results)
        for name, reason in failed.items():
            session.say(f"note: {name} is left out, for it cannot learn from these lists: {reason}")
    rows = ablation_rows(results)
    kept = best_row(rows, higher_is_better=objective.higher_is_better)
    session.say("testing every group against the group before")
    tests = AblationTests(recipe, run, cache, n_threads=session.n_threads)
    tested = tests.test(rows)
    assert kept.held_out is not None
    gain = kept.held_out - rows[0].dev
    gained = (gain if objective.higher_is_better else -gain) > 0
    shown = _Shown(objective=objective, metric=results[0].metric, test_metric=tests.metric)
    experiment = replace(
        load_experiment([run], n_threads=session.n_threads),
        groups=shown.page_table(rows, tested, kept),
        chosen=shown.headline(rows, tested, kept),
    )
    page = write_page(experiment, options.out / "report.html")
    weights, choice = options.out / "weights.tsv", options.out / "test.out"
    key = kept.cells[0].key
    shutil.copyfile(learned_weights(run, key), weights)
    replace_bytes(choice, translations_file(cell_folder(run, key)).read_bytes())
    session.show(shown.table(rows, tested, kept))
    session.show(experiment.chosen or "")
    if not gained:
        session.show("note: held-out sentences of the development set get no better than the first of each list")
    again = _command(tests.added(kept), weights)
    session.show(f"weights: {weights}; test: {choice}; page: {page}")
    session.show(f"other lists: {again}")
    session.emit(
        {
            "weights": str(weights),
            "translations": str(choice),
            "report": str(page),
            "kept": {"features": kept.features, "method": kept.method},
            "metric": shown.metric,
            "test_metric": shown.test_metric.name,
            "rerank": again,
            "rows": [shown.json(row, test) for row, test in zip(rows, tested, strict=True)],
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """How rows are shown: `metric` is the name of what was maximised; the test set may be measured by another."""

    objective: Objective
    metric: str
    test_metric: Metric

    def _cells(self, row: AblationRow, test: RowTest, kept: AblationRow) -> list[str]:
        shown = self.objective.shown
        scores = [shown(row.dev), "" if row.held_out is None else shown(row.held_out)]
        p_values = ["" if value is None else f"{value:.4f}" for value in (test.holm_first, test.p_before)]
        return [
            row.features if row.features == OWN else f"+ {row.features}",
            "first of the list" if row.method == FIRST else row.method,
            str(row.n_features),
            *scores,
            self.test_metric.shown(test.score),
            *p_values,
            "kept" if row is kept else "",
        ]

    def headline(self, rows: Sequence[AblationRow], tests: Sequence[RowTest], kept: AblationRow) -> str:
        """What held-out sentences of the development set chose, beside the first of each list on the test set."""
        first, test = tests[0], tests[rows.index(kept)]
        name = metric_label(self.test_metric.name)
        score, before = (self.test_metric.shown(each.score) for each in (test, first))
        features = "the lists' own features" if kept.features == OWN else f"the features up to {kept.features}"
        methods = [name for name in dict.fromkeys(row.method for row in rows) if name != FIRST]
        among = f" among {_listed(methods)}" if len(methods) > 1 else ""
        mean = f", the mean of {len(kept.cells)} trainings" if len(kept.cells) > 1 else ""
        said = (
            f"Held-out sentences of the development set chose {kept.method}{among}, with {features}: {score} {name} "
            f"on the test set{mean}, where the first of each list has {before}"
        )
        if test.p_first is None:
            return f"{said}."
        real = "no chance of the test sentences" if is_significant(test.p_first) else "may be chance"
        return f"{said} (p = {test.p_first:.4f}: {real})."

    def _header(self) -> list[str]:
        dev, test = f"dev {metric_label(self.metric)}", f"test {metric_label(self.test_metric.name)}"
        return ["features", "method", "number", dev, "held out", test, "p (first)", "p (step)", ""]

    def table(self, rows: Sequence[AblationRow], tests: Sequence[RowTest], kept: AblationRow) -> RichTable:
        """For the terminal."""
        shown = table(*self._header())
        for row, test in zip(rows, tests, strict=True):
            shown.add_row(*self._cells(row, test, kept))
        return shown

    def page_table(self, rows: Sequence[AblationRow], tests: Sequence[RowTest], kept: AblationRow) -> ReportTable:
        """For the page."""
        lines = [self._header(), *(self._cells(row, test, kept) for row, test in zip(rows, tests, strict=True))]
        header, *body = ([Shown(text, numeric=2 <= i < 8) for i, text in enumerate(line)] for line in lines)
        return header, body

    def json(self, row: AblationRow, test: RowTest) -> dict[str, object]:
        """A row for programs."""
        return {
            "features": row.features,
            "method": row.method,
            "n_features": row.n_features,
            "dev": self.objective.points(row.dev),
            "held_out": None if row.held_out is None else self.objective.points(row.held_out),
            "test": self.test_metric.points(test.score),
            "p_value": test.p_first,
            "p_holm": test.holm_first,
            "p_step": test.p_before,
        }


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _command(add: Sequence[str], weights: Path) -> str:
    """How other lists are reranked with the same features."""
    told = "".join(f" --add {text}" for text in add)
    return f"dragoman rerank --nbest LISTS{' -s SOURCE' if add else ''} --weights {weights}{told}"
