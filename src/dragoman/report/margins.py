"""The spread of model scores, and how often each constraint of a margin learner was violated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean

from dragoman.report.comparison import Shown
from dragoman.report.records import Records
from dragoman.report.tables import Table, words
from dragoman.run import CellRound

__all__ = ["CONSTRAINTS", "spread_table"]

CONSTRAINTS = ("margin", "upper", "lower")
"""Kinds of constraints: of the margin, and of the bounds on the spread."""


def spread_table(records: Records) -> Table:
    """Rows that learned with margins, a method's feature sets below each other: spread, and shares of constraints.

    As in section 6 of Eidelman et al. 2013: mean ± standard deviation over the lists of the pass that learned the kept
    weights, and over those of all passes; runs are taken together.
    """
    header = [*words("corpus", "system", "optimiser", "features"), Shown("best pass"), Shown("all passes")]
    header += map(Shown, CONSTRAINTS)
    found = []
    for key, cells in records.rows.items():
        passes = [entry for cell in cells for entry in cell.rounds if entry.spread is not None]
        if passes:
            best = [cell.best_pass for cell in cells]
            shown = [_spread(entry for entry in best if entry is not None), _spread(passes)]
            shown += [_share(entry.fired[kind] for entry in passes if kind in entry.fired) for kind in CONSTRAINTS]
            found.append((key, shown))
    methods = list(dict.fromkeys((key.corpus, key.system, key.optimiser) for key, _ in found))
    found.sort(key=lambda row: methods.index((row[0].corpus, row[0].system, row[0].optimiser)))
    rows = [[*words(key.corpus, key.system, key.optimiser, key.features), *map(Shown, shown)] for key, shown in found]
    return header, rows


def _spread(passes: Iterable[CellRound]) -> str:
    """Mean ± deviation over all lists of some passes, which have as many each."""
    known = [(p.spread, p.spread_deviation or 0.0) for p in passes if p.spread is not None]
    if not known:
        return ""
    mean = fmean(m for m, _ in known)
    square = fmean(m * m + deviation * deviation for m, deviation in known)
    return f"{mean:.2f} ± {math.sqrt(max(0.0, square - mean * mean)):.2f}"


def _share(shares: Iterable[float]) -> str:
    known = [*shares]
    return f"{100 * fmean(known):.1f}%" if known else ""
