"""The tables of an experiment: methods side by side, costs, active features by class, published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from dragoman.evaluate import Row, RowKey, RunComparison, Within
from dragoman.report.comparison import Shown, mark_of, metric_label, plus_minus
from dragoman.report.records import Records, best_rounds, start_rounds
from dragoman.run import CellResult

__all__ = [
    "Table",
    "class_table",
    "cost_table",
    "cpu_by_part",
    "overview_table",
    "published_table",
    "score_table",
    "stage_table",
]

Table = tuple[list[Shown], list[list[Shown]]]
"""The cells of the header, and those of every row."""


def overview_table(records: Records, comparison: RunComparison) -> Table:
    """Test scores by the first metric, one column per optimiser, with the marks of the comparison."""
    header = [*(Shown(word, numeric=False) for word in ("corpus", "system", "features")), Shown("start")]
    header += map(Shown, records.optimisers)
    metric = comparison.metrics[0]
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in comparison.rows:
        found.setdefault(row.key.group(Within.FEATURES), {})[row.key.optimiser] = row
    rows = []
    for names, by_optimiser in found.items():
        cells = [cell for row in by_optimiser.values() for cell in records.rows[row.key] if cell.metric == metric]
        start = _points(entry.test for entry in start_rounds(cells))
        line = [*(Shown(name, numeric=False) for name in names), Shown(start)]
        for optimiser in records.optimisers:
            score = by_optimiser[optimiser].scores[metric] if optimiser in by_optimiser else None
            line.append(Shown("") if score is None else Shown(plus_minus(score), mark=mark_of(score)))
        rows.append(line)
    return header, rows


def score_table(records: Records, corpus: str) -> Table:
    """Rounds, dev and test scores of the initial weights and the best round, and sizes; means over the runs."""
    names = ["rounds", "best round", "dev, start", "dev", "test, start", "test", "length", "candidates"]
    header = _header(*names, *(["active features"] if records.has_sparse else []))
    rows = []
    for key, cells in records.of_corpus(corpus).items():
        first, best, last = start_rounds(cells), best_rounds(cells), [cell.rounds[-1] for cell in cells if cell.rounds]
        numbers = [
            _mean([len(cell.rounds) for cell in cells], 1),
            _mean([cell.best_round for cell in cells], 1),
            _points(entry.dev for entry in first),
            _points(entry.dev for entry in best),
            _points(entry.test for entry in first),
            _points(entry.test for entry in best),
            _mean([cell.scores["length_ratio"] for cell in cells if "length_ratio" in cell.scores], 3),
            _mean([entry.n_candidates for entry in last], 0),
        ]
        if records.has_sparse:
            numbers.append(_mean([entry.n_active for entry in best], 0))
        rows.append([*_names(key), *map(Shown, numbers)])
    return header, rows


def cost_table(records: Records, corpus: str) -> Table:
    """Time and memory of a tuning run, means over the runs."""
    header = _header(
        "rounds",
        "decoding, CPU s",
        "statistics, CPU s",
        "learning, CPU s",
        "together, CPU s",
        "wall s",
        "CPU s a round",
        "peak MiB",
    )
    rows = []
    for key, cells in records.of_corpus(corpus).items():
        parts = cpu_by_part(cells)
        wall = [sum(entry.decode_wall_s + entry.learn_wall_s for entry in cell.rounds) for cell in cells]
        together = [sum(part) for part in zip(*parts.values(), strict=True)]
        a_round = [total / len(cell.rounds) for total, cell in zip(together, cells, strict=True) if cell.rounds]
        peak = max((stage.peak_bytes for cell in cells for stage in cell.stages), default=0)
        shown = [*parts.values(), together, wall]
        numbers = [_mean([len(cell.rounds) for cell in cells], 1), *(_mean(values, 1) for values in shown)]
        rows.append([*_names(key), *map(Shown, [*numbers, _mean(a_round, 1), f"{peak / 2**20:,.0f}"])])
    return header, rows


def cpu_by_part(cells: Sequence[CellResult]) -> dict[str, list[float]]:
    """CPU seconds of each cell's tuning: decoding, statistics of the metric, learning."""
    return {
        "decoding": [sum(entry.decode_cpu_s for entry in cell.rounds) for cell in cells],
        "statistics": [sum(entry.statistics_cpu_s for entry in cell.rounds) for cell in cells],
        "learning": [sum(entry.learn_cpu_s for entry in cell.rounds) for cell in cells],
    }


def stage_table(records: Records, corpus: str) -> Table:
    """Time and memory of every stage when it was computed, means over the cells of a system."""
    header = [Shown("stage", numeric=False), Shown("system", numeric=False)]
    header += map(Shown, ["made", "CPU s", "wall s", "peak MiB", "found ready"])
    by_stage: dict[tuple[str, str], list[tuple[CellResult, Any]]] = {}
    for key, cells in records.of_corpus(corpus).items():
        for cell in cells:
            for stage in cell.stages:
                by_stage.setdefault((key.system, stage.name), []).append((cell, stage))
    rows = []
    for (system, name), found in by_stage.items():
        # A cached result carries the cost of its computation, which is counted only once.
        made = [stage for _, stage in found if not stage.cached]
        shown = made or [found[0][1]]
        numbers = [
            f"{len(made)}",
            _mean([stage.cpu_s for stage in shown], 1),
            _mean([stage.wall_s for stage in shown], 1),
            f"{max(stage.peak_bytes for stage in shown) / 2**20:,.0f}",
            f"{len(found) - len(made)}",
        ]
        rows.append([Shown(name, numeric=False), Shown(system, numeric=False), *map(Shown, numbers)])
    return header, rows


def class_table(records: Records, corpus: str) -> Table:
    """Active features of the best round by class, the part of a name before the colon; means over the runs."""
    rows = records.of_corpus(corpus)
    counts = {key: [records.classes(cell) for cell in cells] for key, cells in rows.items()}
    names = sorted({name for found in counts.values() for count in found for name in count if name})
    header = _header("without a class", *names, "all")
    body = []
    for key, found in counts.items():
        numbers = [_mean([count[name] for count in found], 0) for name in ("", *names)]
        total = _mean([sum(count.values()) for count in found], 0)
        body.append([*_names(key), *map(Shown, [*numbers, total])])
    return header, body


def published_table(published: Sequence[Mapping[str, Any]], comparison: RunComparison) -> Table:
    """Published figures, and the matching row of ours if there is exactly one.

    If none of ours matches any, optimisers are shown side by side instead.
    """
    entries = [entry for entry in published if isinstance(entry.get("score"), int | float)]
    here = [_ours(entry, comparison) for entry in entries]
    if not any(here):
        return _published_overview(entries)
    header = [*_published_header("optimiser", "metric"), Shown("published"), Shown("here"), Shown("source", False)]
    rows = []
    for entry, ours in zip(entries, here, strict=True):
        source = ", ".join(str(entry[key]) for key in ("source", "note") if entry.get(key))
        names = [*_published_names(entry), str(entry.get("optimiser") or ""), metric_label(_metric(entry))]
        rows.append([*(Shown(name, False) for name in names), Shown(_figure(entry)), Shown(ours), Shown(source, False)])
    return header, rows


def _published_overview(entries: Sequence[Mapping[str, Any]]) -> Table:
    optimisers = list(dict.fromkeys(str(entry.get("optimiser") or "") for entry in entries))
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for entry in entries:
        source = str(entry.get("source") or "")
        group = (*_published_names(entry), metric_label(_metric(entry)), source)
        note = f" ({entry['note']})" if entry.get("note") else ""
        figures = found.setdefault(group, {})
        optimiser = str(entry.get("optimiser") or "")
        figures[optimiser] = ", ".join(filter(None, [figures.get(optimiser), _figure(entry) + note]))
    header = [*_published_header("metric"), *map(Shown, optimisers), Shown("source", False)]
    rows = [
        [
            *(Shown(name, False) for name in names),
            *(Shown(figures.get(optimiser, "")) for optimiser in optimisers),
            Shown(source, False),
        ]
        for (*names, source), figures in found.items()
    ]
    return header, rows


def _published_header(*more: str) -> list[Shown]:
    return [Shown(word, numeric=False) for word in ("corpus", "system", "features", *more)]


def _published_names(entry: Mapping[str, Any]) -> list[str]:
    return [str(entry.get(word) or "") for word in ("corpus", "system", "features")]


def _metric(entry: Mapping[str, Any]) -> str:
    return str(entry.get("metric") or "bleu")


def _figure(entry: Mapping[str, Any]) -> str:
    deviation = entry.get("deviation")
    return f"{entry['score']:.2f}" + (f" ± {deviation:.2f}" if isinstance(deviation, int | float) else "")


def _ours(entry: Mapping[str, Any], comparison: RunComparison) -> str:
    metric = _metric(entry)
    here = [row for row in comparison.rows if metric in row.scores and _fits(row, entry)]
    return f"{100 * here[0].scores[metric].mean:.2f}" if len(here) == 1 else ""


def _fits(row: Row, entry: Mapping[str, Any]) -> bool:
    parts = [part for part in ("corpus", "system", "features", "optimiser") if entry.get(part)]
    return bool(parts) and all(getattr(row.key, part) == entry[part] for part in parts)


def _header(*numbers: str) -> list[Shown]:
    return [*(Shown(word, numeric=False) for word in ("system", "features", "optimiser")), *map(Shown, numbers)]


def _names(key: RowKey) -> list[Shown]:
    return [Shown(part, numeric=False) for part in (key.system, key.features, key.optimiser)]


def _points(scores: Iterable[float | None]) -> str:
    """The mean of the known scores, in points."""
    return _mean([100 * score for score in scores if score is not None], 2)


def _mean(values: Sequence[float], n_digits: int) -> str:
    return f"{fmean(values):,.{n_digits}f}" if values else ""
