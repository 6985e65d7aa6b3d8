"""The spread of model scores, and how often each constraint of a margin learner moved the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TypeVar

from dragoman.analysis import RowKey, Shown
from dragoman.run import CellRound
from dragoman.view.report.records import Records
from dragoman.view.report.tables import Table, words

__all__ = ["CONSTRAINTS", "spread_table", "units_table"]

_T = TypeVar("_T")

CONSTRAINTS = ("margin", "upper", "lower")
"""Kinds of constraints: of the margin, and of the bounds on the spread."""
_UNBOUNDED = frozenset({"mira", "online-mira"})
"""Methods that have margins alone."""
_FACTOR = "score_factor"
_UNITS = {_FACTOR: "scores ×", "cost_factor": "costs ×", "aggressiveness": "C", "bound_step": "D"}


def spread_table(records: Records) -> Table:
    """Rows that learned with margins, a method's feature sets below each other: spread, and shares of constraints.

    As in section 6 of Eidelman et al. 2013: mean ± standard deviation over the lists of the pass that learned the kept
    weights, and over those of all passes; runs are taken together. Of relative units also in those of the start, in
    which methods compare.
    """
    scaled = any(cell.units for cells in records.rows.values() for cell in cells)
    header = [*words("corpus", "system", "optimiser", "features"), *map(Shown, ["best pass", "all passes"])]
    header += map(Shown, ["best pass, scale of the start"] if scaled else [])
    found: list[tuple[RowKey, tuple[list[str], dict[str, str]]]] = []
    for key, cells in records.rows.items():
        passes = [entry for cell in cells for entry in cell.rounds if entry.spread is not None]
        if passes:
            best = [(entry, cell.units.get(_FACTOR, 1.0)) for cell in cells if (entry := cell.best_pass) is not None]
            shown = [_spread((entry, 1.0) for entry, _ in best), _spread((entry, 1.0) for entry in passes)]
            shown += [_spread(best)] if scaled else []
            own = CONSTRAINTS[:1] if all(cell.method in _UNBOUNDED for cell in cells) else CONSTRAINTS
            fired = {kind: _share(entry.fired[kind] for entry in passes if kind in entry.fired) for kind in own}
            found.append((key, (shown, fired)))
    kinds = [kind for kind in CONSTRAINTS if any(fired.get(kind) for _, (_, fired) in found)]
    rows = [
        [
            *words(key.corpus, key.system, key.optimiser, key.features),
            *map(Shown, [*shown, *(fired.get(kind, "") for kind in kinds)]),
        ]
        for key, (shown, fired) in _by_method(found)
    ]
    return [*header, *map(Shown, kinds)], rows


def units_table(records: Records) -> Table:
    """The constants that methods in relative units derived from the lists of the start, means over runs."""
    found = []
    for key, cells in records.rows.items():
        units = [cell.units for cell in cells if cell.units]
        if units:
            found.append((key, {name: fmean(one[name] for one in units if name in one) for name in units[0]}))
    names = list(dict.fromkeys(name for _, units in found for name in units))
    header = [*words("corpus", "system", "optimiser", "features"), *(Shown(_UNITS.get(name, name)) for name in names)]
    rows = [
        [
            *words(key.corpus, key.system, key.optimiser, key.features),
            *(Shown(f"{units[name]:.3g}" if name in units else "") for name in names),
        ]
        for key, units in _by_method(found)
    ]
    return header, rows


def _by_method(rows: Sequence[tuple[RowKey, _T]]) -> list[tuple[RowKey, _T]]:
    """Rows with the feature sets of a method below each other."""
    methods = list(dict.fromkeys((key.corpus, key.system, key.optimiser) for key, _ in rows))
    return sorted(rows, key=lambda row: methods.index((row[0].corpus, row[0].system, row[0].optimiser)))


def _spread(passes: Iterable[tuple[CellRound, float]]) -> str:
    """Mean ± deviation over all lists of some passes, which have as many each, divided by a factor of their scores."""
    known = [(p.spread / factor, (p.spread_deviation or 0.0) / factor) for p, factor in passes if p.spread is not None]
    if not known:
        return ""
    mean = fmean(m for m, _ in known)
    square = fmean(m * m + deviation * deviation for m, deviation in known)
    return f"{mean:.2f} ± {math.sqrt(max(0.0, square - mean * mean)):.2f}"


def _share(shares: Iterable[float]) -> str:
    known = [*shares]
    return f"{100 * fmean(known):.1f}%" if known else ""
