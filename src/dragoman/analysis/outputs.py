"""The cells of runs and their translations, read and checked for consistency."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.analysis.primary import Primary
from dragoman.analysis.rows import RowKey
from dragoman.errors import InputError, MismatchError
from dragoman.files.store import read_json
from dragoman.run import (
    CellKey,
    CellResult,
    TestSet,
    cell_folder,
    load_cells,
    load_plans,
    load_test_sets,
    plan_changes,
    start_file,
    translations_file,
)
from dragoman.text import read_lines
from dragoman.types import PathLike, Paths, one_or_many

__all__ = ["Outputs", "load_outputs", "load_settings"]

MAIN_TEST = "test"
"""The name of the main test set where cells do not name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The cells of several runs and their test sets."""

    cells: Mapping[CellKey, CellResult]
    """Completed cells, including failed ones, in the planned order."""
    folders: Mapping[CellKey, Path]
    test_sets: Mapping[str, TestSet]
    unfinished: tuple[str, ...]
    """Names of planned cells that are not complete."""
    tuning: Mapping[RowKey, Mapping[str, Any]] = field(default_factory=dict)
    """How the cells of a row were tuned, as their plans have it; rows without a plan are missing."""
    primary: Mapping[Primary, frozenset[str]] = field(default_factory=dict)
    """The primary comparisons that the recipes name, and the corpora of the runs of those recipes."""

    def finished(self) -> dict[CellKey, CellResult]:
        """Cells that have a result."""
        return {key: cell for key, cell in self.cells.items() if cell.error is None}

    def rows(self) -> dict[RowKey, list[CellResult]]:
        """Finished cells by row, sorted by seed."""
        found: dict[RowKey, list[CellResult]] = {}
        for key, cell in self.finished().items():
            found.setdefault(RowKey.of(key), []).append(cell)
        return found

    def failed(self) -> dict[CellKey, CellResult]:
        """Cells that ended with an error."""
        return {key: cell for key, cell in self.cells.items() if cell.error is not None}

    def tests(self, corpus: str) -> dict[str, TestSet]:
        """All test sets of a corpus by name, the main one first."""
        main = self.test_sets[corpus]
        names = [list(cell.tests) for key, cell in self.finished().items() if key.corpus == corpus and cell.tests]
        others = dict.fromkeys(name for found in names for name in found[1:] if name in main.others)
        return {names[0][0] if names else MAIN_TEST: main, **{name: main.others[name] for name in others}}

    def translations(self, key: CellKey, test: str | None = None) -> list[str]:
        """A cell's translations of a test set, by default the main one.

        Raises MismatchError for a wrong number of lines.
        """
        name = next(iter(self.tests(key.corpus))) if test is None else test
        return self._checked(self._file(translations_file, key, name), key.corpus, name)

    def starts(self, corpus: str, system: str, test: str) -> dict[int, list[str]]:
        """Translations of a test set with the initial weights of a system, by seed; of a single one if all are equal.

        Of each seed they are those of the first cell that keeps them. Raises MismatchError for a wrong number of lines.
        """
        files = self._start_files(corpus, system, test)
        found = {seed: self._checked(path, corpus, test) for seed, path in files.items()}
        return dict(list(found.items())[:1]) if len(set(map(tuple, found.values()))) == 1 else found

    def started(self, corpus: str) -> list[str]:
        """The systems whose cells keep translations with the initial weights."""
        systems = dict.fromkeys(key.system for key in self.finished() if key.corpus == corpus)
        test = next(iter(self.tests(corpus)))
        return [system for system in systems if self._start_files(corpus, system, test)]

    def _start_files(self, corpus: str, system: str, test: str) -> dict[int, Path]:
        found: dict[int, Path] = {}
        for key, cell in self.finished().items():
            if (key.corpus, key.system) == (corpus, system) and self.begins_untuned(cell):
                path = self._file(start_file, key, test)
                if key.seed not in found and path.exists():
                    found[key.seed] = path
        return found

    def begins_untuned(self, cell: CellResult) -> bool:
        """Whether the first round of a cell has the initial weights of its system: not those of a recipe or a step."""
        return not cell.steps and "start" not in self.tuning.get(RowKey.of(cell.key), {})

    def _file(self, of_cell: Callable[[Path, str | None], Path], key: CellKey, test: str) -> Path:
        is_main = self.tests(key.corpus)[test] is self.test_sets[key.corpus]
        return of_cell(self.folders[key], None if is_main else test)

    def _checked(self, path: Path, corpus: str, test: str) -> list[str]:
        """The lines of a file of translations, as many as the test set has."""
        tests = self.tests(corpus)
        return _lines(path, len(tests[test].source), corpus if len(tests) == 1 else f"{corpus}/{test}")


def _lines(path: Path, expected: int, test: str) -> list[str]:
    lines = list(read_lines(path))
    if len(lines) != expected:
        raise MismatchError(f"has {len(lines)} lines, but the test set {test} has {expected}", path=path)
    return lines


def load_settings(run: Path) -> dict[str, Any]:
    """The settings of a run: those that it was started with, and its recipe."""
    settings = read_json(run / "run.json", "run").get("settings")
    recipe = read_json(run / "recipe.json", "run") if (run / "recipe.json").exists() else {}
    return {**(settings if isinstance(settings, dict) else {}), **recipe}


def load_outputs(runs: Paths) -> Outputs:
    """Read runs. Raises InputError when one is not a run or has no cells, and when two are inconsistent.

    Runs are inconsistent if they have the same cell, different test sets of a corpus, or different settings of a row.
    """
    runs = one_or_many(runs)
    if not runs:
        raise InputError("no run given; name at least one folder written by `dragoman run`")
    read = _Reading()
    for run in map(Path, runs):
        if not (run / "run.json").exists():
            raise InputError("is not a run; expected a folder written by `dragoman run`", path=run)
        read.add_test_sets(run)
        read.add_cells(run)
        read.check_plans(run)
        read.add_primary(run)
        read.planned |= dict.fromkeys(_planned(run))
    return read.outputs(runs)


@dataclass(slots=True)
class _Reading:
    """The contents of the runs read so far, and where each part was first found."""

    cells: dict[CellKey, CellResult] = field(default_factory=dict)
    folders: dict[CellKey, Path] = field(default_factory=dict)
    test_sets: dict[str, TestSet] = field(default_factory=dict)
    origin: dict[str, Path] = field(default_factory=dict)
    plans: dict[RowKey, tuple[Path, dict[str, Any]]] = field(default_factory=dict)
    planned: dict[str, None] = field(default_factory=dict)
    primary: dict[Primary, frozenset[str]] = field(default_factory=dict)

    def add_test_sets(self, run: Path) -> None:
        for name, test_set in load_test_sets(run).items():
            if self.test_sets.setdefault(name, test_set) != test_set:
                raise InputError(f"its corpus {name} has another test set than that of {self.origin[name]}", path=run)
            self.origin.setdefault(name, run)

    def add_cells(self, run: Path) -> None:
        for cell in load_cells(run):
            key, folder = cell.key, cell_folder(run, cell.key)
            if key in self.cells:
                raise InputError(f"duplicate cell {key.name}: in {self.folders[key]} and in {folder}")
            if cell.error is None and key.corpus not in self.test_sets:
                raise InputError(f"has the cell {key.name} but no test set {key.corpus}", path=run)
            self.cells[key], self.folders[key] = cell, folder

    def check_plans(self, run: Path) -> None:
        """Check that all cells of a row have the same settings."""
        for key, plan in load_plans(run).items():
            figures = {part: plan.get(part) for part in ("text", "system", "tuning")}
            folder, before = self.plans.setdefault(RowKey.of(key), (cell_folder(run, key), figures))
            if changed := plan_changes(before, figures):
                raise InputError(
                    f"differs from {folder} in {', '.join(changed[:4])}, so they are not runs of the same method; "
                    "give one of them another name in its recipe",
                    path=cell_folder(run, key),
                )

    def add_primary(self, run: Path) -> None:
        """The primary comparison of the run's recipe, which is of its corpora alone."""
        report = load_settings(run).get("report")
        if isinstance(report, dict) and (primary := Primary.of_report(report)) is not None:
            self.primary[primary] = self.primary.get(primary, frozenset()) | load_test_sets(run).keys()

    def outputs(self, runs: Sequence[PathLike]) -> Outputs:
        if not any(cell.error is None for cell in self.cells.values()):
            failures = [f"{cell.key.name}: {cell.error}" for cell in self.cells.values()]
            detail = "\n".join(["; these failed:", *failures]) if failures else ""
            raise InputError(f"there is no finished cell in {', '.join(map(str, runs))}{detail}")
        named = {key.name: key for key in self.cells}
        keys = _in_order([named[name] for name in self.planned if name in named])
        return Outputs(
            cells={key: self.cells[key] for key in keys},
            folders=self.folders,
            test_sets=self.test_sets,
            unfinished=tuple(name for name in self.planned if name not in named),
            tuning={row: plan["tuning"] for row, (_, plan) in self.plans.items() if isinstance(plan["tuning"], dict)},
            primary=self.primary,
        )


def _in_order(keys: Sequence[CellKey]) -> list[CellKey]:
    """Cells grouped by row, and rows by system, names in the order of first appearance."""

    def parts(key: CellKey) -> tuple[str | tuple[str, str], ...]:
        return key.corpus, key.system, (key.system, key.features), key.optimiser

    places = [
        {part: i for i, part in enumerate(dict.fromkeys(column))} for column in zip(*map(parts, keys), strict=True)
    ]
    return sorted(
        keys, key=lambda key: (*(place[part] for place, part in zip(places, parts(key), strict=True)), key.seed)
    )


def _planned(run: Path) -> list[str]:
    """Cells planned according to the trace, and those with a folder."""
    names: dict[str, None] = {}
    trace = run / "trace.jsonl"
    for line in read_lines(trace) if trace.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # a line truncated by a kill
        if isinstance(entry, dict) and entry.get("event") == "start" and isinstance(entry.get("cells"), list):
            names |= {str(name): None for name in entry["cells"]}
    cells = run / "cells"
    names |= {folder.relative_to(cells).as_posix(): None for folder in sorted(cells.glob("*/*/*/*/*"))}
    return list(names)
