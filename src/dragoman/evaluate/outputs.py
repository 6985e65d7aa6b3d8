"""The cells of runs and their translations, read and checked for consistency."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.errors import InputError, MismatchError
from dragoman.evaluate.rows import RowKey
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
from dragoman.types import PathLike

__all__ = ["Outputs", "load_outputs"]

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
        tests = self.tests(key.corpus)
        name = next(iter(tests)) if test is None else test
        path = translations_file(self.folders[key], None if tests[name] is self.test_sets[key.corpus] else name)
        label = key.corpus if len(tests) == 1 else f"{key.corpus}/{name}"
        return _lines(path, len(tests[name].source), label)

    def start(self, key: CellKey) -> list[str] | None:
        """A cell's translations of the main test set with the initial weights; None if it does not keep them.

        Raises MismatchError for a wrong number of lines.
        """
        path = start_file(self.folders[key])
        return _lines(path, len(self.test_sets[key.corpus].source), key.corpus) if path.exists() else None


def _lines(path: Path, expected: int, test: str) -> list[str]:
    lines = list(read_lines(path))
    if len(lines) != expected:
        raise MismatchError(f"has {len(lines)} lines, but the test set {test} has {expected}", path=path)
    return lines


def load_outputs(runs: Sequence[PathLike]) -> Outputs:
    """Read runs. Raises InputError when one is not a run or has no cells, and when two are inconsistent.

    Runs are inconsistent if they have the same cell, different test sets of a corpus, or different settings of a row.
    """
    if not runs:
        raise InputError("no run given; name at least one folder written by `dragoman run`")
    read = _Reading()
    for run in map(Path, runs):
        if not (run / "run.json").exists():
            raise InputError("is not a run; expected a folder written by `dragoman run`", path=run)
        read.add_test_sets(run)
        read.add_cells(run)
        read.check_plans(run)
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
