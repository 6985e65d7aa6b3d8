"""What a recipe says of its report: `[report]` and `[[published]]`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from dragoman.analysis import START, Primary, Within
from dragoman.experiments.table import RecipeTable
from dragoman.metric import by_name
from dragoman.run import CellKey
from dragoman.settings import Record, listed

__all__ = ["ReportPlan", "matches", "read_published", "read_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPlan(Record):
    """What the run records for the report, and what the report shows."""

    metrics: tuple[str, ...] = ("bleu", "chrf", "ter")
    baseline: tuple[str, ...] = ()
    """Names of baselines; each corpus takes the first that it has."""
    within: Within = Within.CORPUS
    """The group whose best row is marked: the corpus, each system, or each feature set of a system."""
    focus: str | None = None
    """An optimiser whose gains over the others the report averages and tests."""
    against: tuple[str, ...] = ()
    """Those others; empty: all."""
    primary: Primary | None = None
    """The comparison that the recipe names before it runs, and that needs no correction."""
    samples: int = 8
    """Number of test sentences whose derivations are kept."""
    rounds_on_test: tuple[str, ...] = ()
    """Patterns of cells whose test set is decoded in every round, not only in the first and the best."""

    def follows(self, cell: CellKey) -> bool:
        """Whether every round of a cell is tested."""
        return matches(cell, self.rounds_on_test)


def matches(cell: CellKey, patterns: Sequence[str]) -> bool:
    """Whether the name of a cell matches one of the patterns."""
    return any(fnmatch.fnmatchcase(cell.name, pattern) for pattern in patterns)


def read_report(table: RecipeTable, names: set[str], orders: Sequence[Collection[str]], example: CellKey) -> ReportPlan:
    """`[report]`, whose baselines are among `names`; `orders` are the names that cells are made of."""
    metrics = table.texts("metrics") or ReportPlan().metrics
    for metric in metrics:
        with table:
            by_name(metric)
    baseline = table.texts("baseline")
    for name in baseline:
        if name not in names:
            raise table.wrong("baseline", listed(name, sorted(names)))
    focus, against = _read_focus(table, orders[-1])
    primary = _read_primary(table, metrics, focus, names, orders, example)
    plan = ReportPlan(
        metrics=metrics,
        baseline=baseline,
        focus=focus,
        against=against,
        primary=primary,
        within=table.choice("within", Within, Within.CORPUS),
        samples=table.number("samples", 0, 8, most=200),
        rounds_on_test=_read_followed(table, orders, example),
    )
    table.done()
    return plan


def _read_focus(table: RecipeTable, optimisers: Collection[str]) -> tuple[str | None, tuple[str, ...]]:
    focus, against = table.find("focus", str), table.texts("against")
    for key, name in (*((("focus", focus),) if focus else ()), *(("against", other) for other in against)):
        if name not in optimisers:
            raise table.wrong(key, listed(name, sorted(optimisers)))
    if against and (focus is None or focus in against):
        raise table.wrong("against", f"expected other optimisers than '{table.named('focus')}'")
    return focus, against


def _read_primary(
    table: RecipeTable,
    metrics: Sequence[str],
    focus: str | None,
    names: set[str],
    orders: Sequence[Collection[str]],
    example: CellKey,
) -> Primary | None:
    """`[report.primary]`, whose rows are by default those of the focus, by the first metric, on all test sets."""
    if "primary" not in table:
        table.find("primary", dict)
        return None
    inner = table.need_table("primary")
    if focus is None:
        inner.take("rows", str, list)
    rows = inner.texts("rows") or (str(focus),)
    known = {name for name in names if name in orders[-1] or "/" in name}
    for pattern in rows:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in known):
            raise inner.wrong("rows", f"no row matches {pattern!r}; rows are optimisers, or named like {_row(example)}")
    baseline = inner.take("baseline", str)
    if baseline not in names | {START}:
        raise inner.wrong("baseline", listed(baseline, sorted(names | {START})))
    metric = inner.one_of("metric", metrics, metrics[0])
    tests = inner.texts("tests")
    for pattern in tests:
        if not any(fnmatch.fnmatchcase(corpus, pattern.partition("/")[0]) for corpus in orders[0]):
            raise inner.wrong("tests", f"no corpus matches {pattern!r}; expected patterns of CORPUS or CORPUS/TEST")
    inner.done()
    return Primary(rows=rows, baseline=baseline, metric=by_name(metric).name, tests=tests)


def _row(cell: CellKey) -> str:
    return f"{cell.system}/{cell.features}/{cell.optimiser}"


def _read_followed(table: RecipeTable, names: Sequence[Collection[str]], example: CellKey) -> tuple[str, ...]:
    key = "rounds_on_test"
    if isinstance(table.find(key, bool, str, list), bool):
        return ("*",) if table.flag(key) else ()
    patterns = table.texts(key)
    for pattern in patterns:
        # Of names that are defined, whether or not the grid has them, and of any seed: the grid may have been changed.
        digits = pattern.rpartition("/")[2]
        seeds = {str(example.seed), *re.findall(r"\d+", digits), *re.findall(r"\d", digits)}
        if not any(fnmatch.fnmatchcase("/".join(parts), pattern) for parts in product(*names, seeds)):
            raise table.wrong(key, f"no cell matches {pattern}; cells are named like {example.name}")
    return patterns


def read_published(table: RecipeTable) -> dict[str, Any]:
    """A published result."""
    keys = ("corpus", "test", "system", "features", "optimiser", "metric", "source", "note")
    row = {key: table.text(key) for key in keys}
    score = table.take("score", int, float)
    deviation = table.find("deviation", int, float)
    table.done()
    return {key: value for key, value in row.items() if value} | {
        "score": float(score),
        **({} if deviation is None else {"deviation": float(deviation)}),
    }
