"""Comparing the cells of experiments: mean and deviation over tuning runs, and what a difference is worth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError, MismatchError
from dragoman.evaluate.measure import Measured, SystemOutput, measure
from dragoman.evaluate.significance import Interval
from dragoman.metric import by_name
from dragoman.run import (
    CellKey,
    CellResult,
    TestSet,
    cell_folder,
    load_cells,
    load_plans,
    load_test_sets,
    plan_changes,
)
from dragoman.text import read_lines
from dragoman.types import PathLike

__all__ = [
    "LEVEL",
    "Outputs",
    "PairedTest",
    "Row",
    "RowKey",
    "RowScore",
    "RunComparison",
    "Within",
    "compare_runs",
    "load_outputs",
]

LEVEL = 0.05
"""A row whose p-value against the best is at least this is not significantly worse."""


class PairedTest(StrEnum):
    """Which test decides what is not significantly worse than the best."""

    RANDOMISATION = "randomisation"
    """Approximate randomisation over sentences and tuning runs (Clark et al. 2011)."""
    BOOTSTRAP = "bootstrap"
    """Paired bootstrap over sentences (Koehn 2004), all runs of a sentence together."""


class Within(StrEnum):
    """Among which rows the best is sought: those with the same names from the corpus to this one."""

    CORPUS = "corpus"
    SYSTEM = "system"
    FEATURES = "features"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RowKey:
    """What cells that differ in the seed alone have in common."""

    corpus: str
    system: str
    features: str
    optimiser: str

    @classmethod
    def of(cls, key: CellKey) -> RowKey:
        """The row that a cell belongs to."""
        return cls(corpus=key.corpus, system=key.system, features=key.features, optimiser=key.optimiser)

    @property
    def name(self) -> str:
        """Within a corpus."""
        return f"{self.system}/{self.features}/{self.optimiser}"

    def group(self, within: Within) -> tuple[str, ...]:
        """What the rows that it is compared with have in common."""
        names = (self.corpus, self.system, self.features)
        return names[: list(Within).index(within) + 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScore:
    """One metric's verdict on one row, in [0, 1]."""

    mean: float
    std: float | None
    """Over the runs, with n - 1 below; None for a single run."""
    run_scores: tuple[float, ...]
    interval: Interval | None
    p_best: Mapping[PairedTest, float]
    """Against the best row of its group, by default the corpus; empty for that one."""
    p_baseline: Mapping[PairedTest, float]
    """Against the baseline; empty without one."""
    best: bool
    not_worse: bool
    """Than the best, significantly: it is the best, or p is at least 0.05."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A method on a corpus, over its seeds."""

    key: RowKey
    seeds: tuple[int, ...]
    scores: Mapping[str, RowScore]
    """By the name of the metric."""
    length_ratio: float
    length_ratios: tuple[float, ...]
    baseline: RowKey | None
    """What p_baseline compares with; None without one, and for the baseline itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """All rows, by corpus, and what a reader must know."""

    rows: tuple[Row, ...]
    metrics: tuple[str, ...]
    baseline: str | None
    test: PairedTest
    within: Within
    lower_is_better: frozenset[str]
    signatures: Mapping[str, Mapping[str, str]]
    """By corpus and metric."""
    notes: tuple[str, ...]

    def p_value(self, score: RowScore) -> float | None:
        """Of the chosen test, against the baseline if there is one, else against the best."""
        return (score.p_best if self.baseline is None else score.p_baseline).get(self.test)

    def corpora(self) -> list[str]:
        """In order."""
        return list(dict.fromkeys(row.key.corpus for row in self.rows))

    def of_corpus(self, corpus: str) -> list[Row]:
        """The rows of one corpus."""
        return [row for row in self.rows if row.key.corpus == corpus]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The cells of several runs and the test sets that they translated."""

    cells: Mapping[CellKey, CellResult]
    """Complete ones, failed ones included, in the order in which they were planned."""
    folders: Mapping[CellKey, Path]
    test_sets: Mapping[str, TestSet]
    unfinished: tuple[str, ...]
    """Names of cells that were planned and are not complete."""

    def finished(self) -> dict[CellKey, CellResult]:
        """Cells that have a result."""
        return {key: cell for key, cell in self.cells.items() if cell.error is None}

    def failed(self) -> dict[CellKey, CellResult]:
        """Cells that have an error instead."""
        return {key: cell for key, cell in self.cells.items() if cell.error is not None}

    def translations(self, key: CellKey) -> list[str]:
        """What a cell made of its test set."""
        path = self.folders[key] / "test.txt"
        lines = list(read_lines(path))
        expected = len(self.test_sets[key.corpus].source)
        if len(lines) != expected:
            raise MismatchError(f"has {len(lines)} lines, but the test set {key.corpus} has {expected}", path=path)
        return lines


def load_outputs(runs: Sequence[PathLike]) -> Outputs:
    """Read runs. Raises InputError where one is no run or has no cell, and where two do not fit together.

    They do not where both have a cell, other test sets of one corpus, or other settings of one row.
    """
    if not runs:
        raise InputError("no run; name at least one folder that `dragoman run` made")
    cells: dict[CellKey, CellResult] = {}
    folders: dict[CellKey, Path] = {}
    test_sets: dict[str, TestSet] = {}
    origin: dict[str, PathLike] = {}
    planned: list[str] = []
    plans: dict[RowKey, tuple[Path, dict[str, Any]]] = {}
    for run in runs:
        if not (Path(run) / "run.json").exists():
            raise InputError("is no run; expected a folder that `dragoman run` made", path=run)
        for name, test_set in load_test_sets(run).items():
            if test_sets.setdefault(name, test_set) != test_set:
                raise InputError(f"its corpus {name} has another test set than that of {origin[name]}", path=run)
            origin.setdefault(name, run)
        for cell in load_cells(run):
            folder = cell_folder(run, cell.key)
            if cell.key in cells:
                raise InputError(f"the cell {cell.key.name} is there twice: in {folders[cell.key]} and in {folder}")
            if cell.error is None and cell.key.corpus not in test_sets:
                raise InputError(f"has the cell {cell.key.name} but no test set {cell.key.corpus}", path=run)
            cells[cell.key], folders[cell.key] = cell, folder
        for key, plan in load_plans(run).items():
            figures = {part: plan.get(part) for part in ("text", "system", "tuning")}
            folder, before = plans.setdefault(RowKey.of(key), (cell_folder(run, key), figures))
            if changed := plan_changes(before, figures):
                raise InputError(
                    f"differs from {folder} in {', '.join(changed[:4])}, so that they are no runs of one method; "
                    "give one of them another name in its recipe",
                    path=cell_folder(run, key),
                )
        planned += [name for name in _planned(Path(run)) if name not in planned]
    if not any(cell.error is None for cell in cells.values()):
        failures = [f"{cell.key.name}: {cell.error}" for cell in cells.values()]
        detail = "\n".join(["; these failed:", *failures]) if failures else ""
        raise InputError(f"there is no finished cell in {', '.join(map(str, runs))}{detail}")
    named = {key.name: key for key in cells}
    return Outputs(
        cells={key: cells[key] for key in _in_order([named[name] for name in planned if name in named])},
        folders=folders,
        test_sets=test_sets,
        unfinished=tuple(name for name in planned if name not in named),
    )


def _in_order(keys: Sequence[CellKey]) -> list[CellKey]:
    """Cells of a row together, and rows of a system, names in the order in which they first appear."""

    def parts(key: CellKey) -> tuple[str | tuple[str, str], ...]:
        return key.corpus, key.system, (key.system, key.features), key.optimiser

    places = [
        {part: i for i, part in enumerate(dict.fromkeys(column))} for column in zip(*map(parts, keys), strict=True)
    ]
    return sorted(
        keys, key=lambda key: (*(place[part] for place, part in zip(places, parts(key), strict=True)), key.seed)
    )


def _planned(run: Path) -> list[str]:
    """Cells that the trace says were to be done, and those with a folder."""
    names: dict[str, None] = {}
    trace = run / "trace.jsonl"
    for line in read_lines(trace) if trace.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the line that a kill cut off
        if isinstance(entry, dict) and entry.get("event") == "start" and isinstance(entry.get("cells"), list):
            names |= {str(name): None for name in entry["cells"]}
    cells = run / "cells"
    names |= {folder.relative_to(cells).as_posix(): None for folder in sorted(cells.glob("*/*/*/*/*"))}
    return list(names)


def compare_runs(
    runs: Sequence[PathLike] | Outputs,
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "ter"),
    baseline: str | None = None,
    test: PairedTest = PairedTest.RANDOMISATION,
    within: Within = Within.CORPUS,
    n_bootstrap: int = 1000,
    n_trials: int = 10_000,
    seed: int = 12345,
    n_threads: int = 1,
) -> RunComparison:
    """Rows of corpus, system, features and optimiser, each over its seeds, tested against the best of the corpus.

    `baseline` is SYSTEM/FEATURES/OPTIMISER, or the name of an optimiser, a feature set or a system: then a row is
    tested against the row that differs in that alone. `test` is the one that decides which rows are not significantly
    worse than the best. `within` a system or a feature set every one of them has a best of its own.
    """
    outputs = runs if isinstance(runs, Outputs) else load_outputs(runs)
    chosen = [by_name(name) for name in dict.fromkeys(metrics)]
    if not chosen:
        raise InputError("nothing to compare by: give at least one metric")
    by_row: dict[RowKey, list[CellKey]] = {}
    for cell in outputs.finished():
        by_row.setdefault(RowKey.of(cell), []).append(cell)
    baselines = _baselines(list(by_row), baseline)
    draws = {"n_bootstrap": n_bootstrap, "n_trials": n_trials, "seed": seed}
    rows: list[Row] = []
    signatures = {}
    for corpus in dict.fromkeys(key.corpus for key in by_row):
        keys = [key for key in by_row if key.corpus == corpus]
        systems = [
            SystemOutput(name=key.name, runs=[outputs.translations(cell) for cell in by_row[key]]) for key in keys
        ]
        measured, ratios = measure(systems, outputs.test_sets[corpus].references, chosen, n_threads=n_threads)
        against = [baselines.get(key) for key in keys]
        places = [None if key is None else keys.index(key) for key in against]
        groups = [key.group(within) for key in keys]
        columns = [_column(one, groups, places, test, **draws) for one in measured]
        for i, key in enumerate(keys):
            rows.append(
                Row(
                    key=key,
                    seeds=tuple(cell.seed for cell in by_row[key]),
                    scores={metric.name: column[i] for metric, column in zip(chosen, columns, strict=True)},
                    length_ratio=float(ratios[i].mean()),
                    length_ratios=tuple(map(float, ratios[i])),
                    baseline=against[i],
                )
            )
        signatures[corpus] = {one.metric.name: _signature(one, len(keys) > 1, **draws) for one in measured}
    return RunComparison(
        rows=tuple(rows),
        metrics=tuple(metric.name for metric in chosen),
        baseline=baseline,
        test=test,
        within=within,
        lower_is_better=frozenset(metric.name for metric in chosen if not metric.higher_is_better),
        signatures=signatures,
        notes=tuple(_notes(outputs, rows)),
    )


def _baselines(keys: list[RowKey], name: str | None) -> dict[RowKey, RowKey]:
    """Of each row that has one: the row that it is compared with."""
    if name is None:
        return {}
    parts = ("optimiser", "features", "system")
    known = [*dict.fromkeys(getattr(key, part) for part in parts for key in keys), *sorted({key.name for key in keys})]
    if name not in known:
        raise InputError(f"--baseline {name}: there is no such row; expected one of {', '.join(known)}")
    found = {}
    for key in keys:
        same = [base for base in keys if base.corpus == key.corpus and base.name == name]
        same += [replace(key, **{part: name}) for part in parts]
        base = next((base for base in same if base in keys), None)
        if base is not None and base != key:
            found[key] = base
    return found


def _column(
    measured: Measured,
    groups: Sequence[tuple[str, ...]],
    baselines: Sequence[int | None],
    test: PairedTest,
    *,
    n_bootstrap: int,
    n_trials: int,
    seed: int,
) -> list[RowScore]:
    """One metric over the rows of a corpus, each beside the best of its group."""
    scores = measured.run_scores()
    means = [float(values.mean()) for values in scores]
    chosen = max if measured.metric.higher_is_better else min
    best_of = {
        group: chosen((i for i, other in enumerate(groups) if other == group), key=means.__getitem__)
        for group in dict.fromkeys(groups)
    }
    resampled = measured.resampled(n_bootstrap, seed) if n_bootstrap and measured.n_sentences else None
    tests = {
        first: _tests(measured, first, resampled, n_trials if measured.n_sentences else 0, seed)
        for first in {*best_of.values(), *(place for place in baselines if place is not None)}
    }
    intervals = measured.intervals(resampled) if resampled is not None else [None] * len(scores)
    differs = {best: measured.differs(best) for best in best_of.values()}
    rows = []
    for i, values in enumerate(scores):
        place, best = baselines[i], best_of[groups[i]]
        p_best = tests[best][i]
        rows.append(
            RowScore(
                mean=means[i],
                std=float(values.std(ddof=1)) if len(values) > 1 else None,
                run_scores=tuple(map(float, values)),
                interval=intervals[i],
                p_best=p_best,
                p_baseline={} if place is None else tests[place][i],
                best=i == best or not differs[best][i],
                not_worse=i == best or not differs[best][i] or p_best.get(test, 0.0) >= LEVEL,
            )
        )
    return rows


def _tests(
    measured: Measured, first: int, resampled: NDArray[np.float64] | None, n_trials: int, seed: int
) -> list[dict[PairedTest, float]]:
    """P-values of every row against `first`; empty for that one.

    Where two rows score the same they are 1: sacrebleu's way of counting would give them the smallest value there is.
    """
    found: list[dict[PairedTest, float]] = [{} for _ in measured.statistics]
    several = len(found) > 1
    columns = {
        PairedTest.RANDOMISATION: measured.p_randomisation(first, n_trials, seed) if n_trials and several else (),
        PairedTest.BOOTSTRAP: measured.p_bootstrap(first, resampled) if resampled is not None else (),
    }
    differs = measured.differs(first)
    for test, values in columns.items():
        for i, value in enumerate(values):
            if value is not None:
                found[i][test] = value if differs[i] else 1.0
    return found


def _signature(measured: Measured, several: bool, *, n_bootstrap: int, n_trials: int, seed: int) -> str:
    trials = n_trials if several else 0
    drawn: dict[str, Any] = {"n_bootstrap": n_bootstrap or None, "n_trials": trials or None}
    return measured.metric.signature(measured.n_refs, **drawn, seed=seed if n_bootstrap or trials else None)


def _notes(outputs: Outputs, rows: Sequence[Row]) -> Iterable[str]:
    for key, cell in outputs.failed().items():
        yield f"{key.name} failed: {cell.error}"
    n_named = 5
    for name in outputs.unfinished[:n_named]:
        yield f"{name} is not finished"
    if len(outputs.unfinished) > n_named:
        yield f"{len(outputs.unfinished) - n_named} more cells are not finished"
    programs = Counter(cell.programs[-1] for cell in outputs.finished().values() if cell.programs)
    if len(programs) > 1:
        counts = ", ".join(f"{name}: {n} cells" for name, n in programs.items())
        yield f"the cells were made by {len(programs)} versions of the program ({counts})"
    for key, cell in outputs.finished().items():
        if len(cell.programs) > 1:
            yield f"{key.name} was begun by one version of the program and finished by another"
    for corpus in dict.fromkeys(row.key.corpus for row in rows):
        same = [row for row in rows if row.key.corpus == corpus]
        if len({len(row.seeds) for row in same}) > 1:
            counts = ", ".join(f"{row.key.name} {len(row.seeds)}" for row in same)
            yield f"{corpus}: rows have different numbers of runs ({counts})"
