"""Published figures, beside ours where they are of the same row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from dragoman.analysis import Row, RunComparison, Shown
from dragoman.metric import metric_label
from dragoman.view.report.tables import Table, words

__all__ = ["Topic", "published_table", "topic_of"]

Entry = Mapping[str, Any]

_LARGE = 1000


class Topic(StrEnum):
    """What a published figure is about, and so which of our tables it stands beside."""

    RESULTS = "results"
    SPREAD = "spread"
    """Metrics whose name begins so, such as `spread, best pass`."""
    FEATURES = "features"
    """Metrics whose name ends so: `active features`, `possible features`."""
    GAINS = "gains"
    """Metrics such as `gain of rm, bleu`: averages over test sets of the gain over the entry's optimiser."""


def topic_of(entry: Entry) -> Topic:
    """The topic, by the metric's name."""
    metric = _metric(entry)
    if metric.startswith("spread"):
        return Topic.SPREAD
    if metric.endswith("features"):
        return Topic.FEATURES
    return Topic.GAINS if metric.startswith("gain of ") else Topic.RESULTS


def published_table(published: Iterable[Entry], comparison: RunComparison) -> Table:
    """Published figures, and the matching row of ours if there is exactly one.

    If none of ours matches any, optimisers are shown side by side instead.
    """
    entries = [entry for entry in published if isinstance(entry.get("score"), int | float)]
    here = [_ours(entry, comparison) for entry in entries]
    if not any(here):
        return _side_by_side(entries)
    columns = _columns(entries)
    header = [*words(*columns, "optimiser", "metric"), Shown("published"), Shown("here"), Shown("source", False)]
    rows = []
    for entry, ours in zip(entries, here, strict=True):
        source = ", ".join(str(entry[key]) for key in ("source", "note") if entry.get(key))
        names = [*_names(entry, [*columns, "optimiser"]), _label(entry)]
        rows.append([*words(*names), Shown(_figure(entry)), Shown(ours), Shown(source, False)])
    return header, rows


def _side_by_side(entries: Sequence[Entry]) -> Table:
    optimisers = list(dict.fromkeys(str(entry.get("optimiser") or "") for entry in entries))
    columns = _columns(entries)
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for entry in entries:
        source = str(entry.get("source") or "")
        group = (*_names(entry, columns), _label(entry), source)
        note = f" ({entry['note']})" if entry.get("note") else ""
        figures = found.setdefault(group, {})
        optimiser = str(entry.get("optimiser") or "")
        figures[optimiser] = ", ".join(filter(None, [figures.get(optimiser), _figure(entry) + note]))
    header = [
        *words(*columns, "metric"),
        *(Shown(optimiser or "any method") for optimiser in optimisers),
        Shown("source", False),
    ]
    rows = [
        [
            *words(*names),
            *(Shown(figures.get(optimiser, "")) for optimiser in optimisers),
            Shown(source, False),
        ]
        for (*names, source), figures in found.items()
    ]
    return header, rows


def _columns(entries: Sequence[Entry]) -> list[str]:
    """The columns of names: that of test sets only where one is named."""
    tests = ["test"] if any(entry.get("test") for entry in entries) else []
    return ["corpus", *tests, "system", "features"]


def _names(entry: Entry, columns: Iterable[str]) -> list[str]:
    return [str(entry.get(word) or "") for word in columns]


def _metric(entry: Entry) -> str:
    return str(entry.get("metric") or "bleu")


def _label(entry: Entry) -> str:
    """The metric's name; that of a gain ends in a metric."""
    *what, metric = _metric(entry).split(", ")
    return ", ".join([*what, metric_label(metric)])


def _figure(entry: Entry) -> str:
    score, deviation = entry["score"], entry.get("deviation")
    if abs(score) >= _LARGE:
        return f"{score:,.0f}"
    return f"{score:.2f}" + (f" ± {deviation:.2f}" if isinstance(deviation, int | float) else "")


def _ours(entry: Entry, comparison: RunComparison) -> str:
    metric = _metric(entry)
    rows = comparison.rows if entry.get("test") else comparison.main()
    here = [row for row in rows if metric in row.scores and _fits(row, entry)]
    return f"{100 * here[0].scores[metric].mean:.2f}" if len(here) == 1 else ""


def _fits(row: Row, entry: Entry) -> bool:
    if entry.get("test", row.test) != row.test:
        return False
    parts = [part for part in ("corpus", "system", "features", "optimiser") if entry.get(part)]
    return bool(parts) and all(getattr(row.key, part) == entry[part] for part in parts)
