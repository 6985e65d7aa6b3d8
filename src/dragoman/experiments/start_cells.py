"""Cells that begin where another one of the grid has ended: which, and that there is one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from dragoman.errors import InputError
from dragoman.experiments.optimisers import TuningPlan
from dragoman.experiments.starts import CellStart
from dragoman.run import CellKey
from dragoman.settings import listed

__all__ = ["check_starts", "n_before", "start_cell", "with_starts"]


def start_cell(cell: CellKey, optimisers: Mapping[str, TuningPlan]) -> CellKey | None:
    """The cell whose weights a cell begins with: of the same corpus, system and seed."""
    start = optimisers[cell.optimiser].start
    if not isinstance(start, CellStart):
        return None
    return replace(cell, optimiser=start.optimiser, features=start.features or cell.features)


def n_before(cell: CellKey, optimisers: Mapping[str, TuningPlan]) -> int:
    """How many cells must be finished one after another before a cell can begin."""
    before = start_cell(cell, optimisers)
    return 0 if before is None else 1 + n_before(before, optimisers)


def with_starts(cells: Iterable[CellKey], optimisers: Mapping[str, TuningPlan]) -> set[CellKey]:
    """The cells and all that they begin with."""
    found: set[CellKey] = set()
    for cell in cells:
        key: CellKey | None = cell
        while key is not None and key not in found:
            found.add(key)
            key = start_cell(key, optimisers)
    return found


def check_starts(cells: Collection[CellKey], optimisers: Mapping[str, TuningPlan], features: Collection[str]) -> None:
    """Raise InputError for a start that is not defined, not in the grid, or begins with the cell itself."""
    for name, plan in optimisers.items():
        if isinstance(start := plan.start, CellStart):
            where = f"optimisers.{name}.start"
            if start.optimiser not in optimisers:
                raise InputError(
                    f"{where}.optimiser = {start.optimiser!r}: there is no such optimiser; "
                    f"{listed(start.optimiser, optimisers)}"
                )
            if start.features is not None and start.features not in features:
                raise InputError(
                    f"{where}.features = {start.features!r}: there are no such features; "
                    f"{listed(start.features, features)}"
                )
    for cell in cells:
        chain, key = [cell], start_cell(cell, optimisers)
        while key is not None:
            where = f"optimisers.{chain[-1].optimiser}.start"
            if key in chain:
                names = " from ".join(one.name for one in [*chain[chain.index(key) :], key])
                raise InputError(f"{where}: cells would start from themselves: {names}")
            if key not in cells:
                raise InputError(
                    f"{where}: {chain[-1].name} starts from {key.name}, which is not in the grid; add it, or name "
                    "'optimiser' and 'features' of a cell with the same corpus, system and seed"
                )
            chain.append(key)
            key = start_cell(key, optimisers)
