"""`dragoman ablate`: which features help to choose from lists, and by how much."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.declared import takes
from dragoman.cli.run import run_lists
from dragoman.cli.session import Json, Quiet, Session, Threads, check_inputs, table
from dragoman.errors import InputError
from dragoman.evaluate import RowKey
from dragoman.features import read_weights
from dragoman.metric import by_name
from dragoman.recipe.ablation import (
    CORPUS,
    FIRST,
    OWN,
    SYSTEM,
    TRAINED,
    Ablation,
    AblationRow,
    ablation_recipe,
    ablation_rows,
    best_row,
)
from dragoman.recipe.stages import SYSTEM as SYSTEM_FOLDER
from dragoman.report import Experiment, load_experiment, write_page
from dragoman.run import cell_folder, translations_file
from dragoman.system.manifest import MANIFEST
from dragoman.text import replace_bytes

__all__ = ["ablate"]

_CACHE, _RUN = "cache", "run"
_dev = partial(typer.Option, rich_help_panel="Development set")
_test = partial(typer.Option, rich_help_panel="Test set")


@dataclass(frozen=True, slots=True, kw_only=True)
class AblateOptions:
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
    method: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Methods of learning; repeat. [mira]")] = None
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="NAME", help="What is maximised.")] = "bleu"
    external: Annotated[
        str | None, typer.Option(metavar="NAME", help="Maximise this score of the JSON lines of the development set.")
    ] = None
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Trainings of every row.")] = 3
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped.")] = False
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False


@takes(AblateOptions)
def ablate(options: AblateOptions) -> None:
    """Learn which features help to choose from candidate lists, and by how much.

    Groups of features join one after another: those of the lists, with parallel text a language model and word
    translations, agreement, the surface. Weights are learned on the development set; the row that is best on held-out
    fifths of it is kept. DIR gets weights.tsv, test.out (the choice from the test lists) and report.html.

    Example: dragoman ablate --nbest dev.jsonl -s dev.de -r dev.en --test-nbest test.jsonl --test-source test.de
    --test-reference test.en -o out
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
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
            methods=tuple(options.method or ["mira"]),
            metric=options.metric,
            external=options.external,
            n_seeds=options.seeds,
        )
    )
    run, cache = options.out / _RUN, options.out / _CACHE
    results = run_lists(session, recipe, run, cache=cache, resume=options.resume)
    rows = ablation_rows(recipe, results)
    lower = options.external is None and not by_name(options.metric).higher_is_better
    kept = best_row(rows, higher_is_better=not lower)
    experiment = load_experiment([run], n_threads=session.n_threads)
    page = write_page(experiment, options.out / "report.html")
    best = cell_folder(run, kept.cells[0].key)
    weights, choice = options.out / "weights.tsv", options.out / "test.out"
    shutil.copyfile(best / "weights" / "0002.tsv", weights)
    replace_bytes(choice, translations_file(best).read_bytes())
    _show(session, rows, kept, experiment, options)
    again = _command(kept, weights, cache)
    session.show(f"weights: {weights}; test: {choice}; page: {page}")
    session.show(f"other lists: {again}")
    session.emit(
        {
            "weights": str(weights),
            "translations": str(choice),
            "report": str(page),
            "kept": {"features": kept.features, "method": kept.method},
            "rerank": again,
            "rows": [_json(row, experiment, options) for row in rows],
        }
    )


def _points(options: AblateOptions, score: float | None) -> float | None:
    return None if score is None else score if options.external is not None else 100 * score


def _p_value(row: AblationRow, experiment: Experiment) -> float | None:
    """Of the difference on the test set to the first of each list, by the report's first metric."""
    key = RowKey(corpus=CORPUS, system=SYSTEM, features=row.features, optimiser=row.method)
    comparison = experiment.comparison
    found = next((each for each in comparison.rows if each.key == key), None)
    return None if found is None else comparison.p_value(found.scores[comparison.metrics[0]])


def _json(row: AblationRow, experiment: Experiment, options: AblateOptions) -> dict[str, object]:
    scores = {name: _points(options, getattr(row, name)) for name in ("dev", "held_out", "test")}
    return {
        "features": row.features,
        "method": row.method,
        "n_features": row.n_features,
        **scores,
        "p_value": _p_value(row, experiment),
    }


def _show(
    session: Session, rows: list[AblationRow], kept: AblationRow, experiment: Experiment, options: AblateOptions
) -> None:
    shown = table("features", "method", "number", "dev", "held out", "test", "p", "")
    digits = ".2f" if options.external is None else ".6g"
    for row in rows:
        scores = [_points(options, score) for score in (row.dev, row.held_out, row.test)]
        p_value = _p_value(row, experiment)
        shown.add_row(
            row.features if row.features == OWN else f"+ {row.features}",
            "first of the list" if row.method == FIRST else row.method,
            str(row.n_features),
            *("" if score is None else f"{score:{digits}}" for score in scores),
            "" if p_value is None else f"{p_value:.4f}",
            "kept" if row is kept else "",
        )
    session.show(shown)


def _command(kept: AblationRow, weights: Path, cache: Path) -> str:
    """How other lists are reranked with the same features."""
    system = next((path.parent for path in cache.glob(f"*/{SYSTEM_FOLDER}/{MANIFEST}")), None)
    add = [text.replace(f"{{{TRAINED}}}", str(system)) for text in kept.add]
    told = "".join(f" --add {text}" for text in add)
    return f"dragoman rerank --nbest LISTS{' -s SOURCE' if add else ''} --weights {weights}{told}"
