"""The tables of an experiment: methods side by side, costs, active features by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dragoman.analysis import Row, RunComparison, Shown, Within, mark_of, plus_minus
from dragoman.metric import metric_label
from dragoman.run import CellResult
from dragoman.view.report.records import Records, best_rounds, start_rounds
from dragoman.view.report.tables import Table, mean_points, mean_text, names_of_row, row_header, words

__all__ = [
    "class_table",
    "cost_table",
    "cpu_by_part",
    "feature_table",
    "overview_table",
    "parts_of_cpu",
    "score_table",
    "stage_table",
]

_STEPS = "steps on training lines"


def overview_table(records: Records, comparison: RunComparison) -> Table:
    """Test scores by the first metric, one column per optimiser, with the marks of the comparison."""
    tests = ["test"] if comparison.several_tests else []
    header = [*words("corpus", *tests, "system", "features"), Shown("start")]
    header += map(Shown, records.optimisers)
    metric = comparison.metrics[0]
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    starts = {(row.key.corpus, row.test, row.key.system): row for row in comparison.rows if row.key.is_start}
    for row in (row for row in comparison.rows if not row.key.is_start):
        corpus, *names = row.key.group(Within.FEATURES)
        found.setdefault((corpus, row.test, *names), {})[row.key.optimiser] = row
    rows = []
    for (corpus, test, *names), by_optimiser in found.items():
        untuned = starts.get((corpus, test, names[0]))
        cells = [cell for row in by_optimiser.values() for cell in records.rows[row.key] if cell.metric == metric]
        start = (
            _start_of(cells, test, test == comparison.tests(corpus)[0]) if untuned is None else _shown(untuned, metric)
        )
        line = [*words(corpus, *([test] if tests else []), *names), start]
        found_here = (by_optimiser.get(optimiser) for optimiser in records.optimisers)
        rows.append([*line, *(Shown("") if row is None else _shown(row, metric) for row in found_here)])
    return header, rows


def _shown(row: Row, metric: str) -> Shown:
    return Shown(plus_minus(row.scores[metric]), mark=mark_of(row.scores[metric]))


def _start_of(cells: Sequence[CellResult], test: str, is_main: bool) -> Shown:
    """The score that the cells recorded of their initial weights, where translations with these are not kept."""
    cells = [cell for cell in cells if not cell.steps]  # others had learned before their first round
    if is_main:
        return Shown(mean_points([entry.test for entry in start_rounds(cells)]))
    return Shown(mean_points([cell.start.get(test) for cell in cells]))


def score_table(records: Records, corpus: str) -> Table:
    """Rounds, dev and test scores of the initial weights and the best round, and sizes; means over the runs.

    Scores are by the metric that was tuned for, which is named where there are several, and of decoding; where that of
    the best round on the development set is not known, the score of the pass that learned its weights is marked. A
    tuning by steps has learned before its first round: there the scores of the start are not known.
    """
    names = ["rounds", "best round", "dev, start", "dev", "test, start", "test", "length", "candidates"]
    of_corpus = records.of_corpus(corpus)
    several = len({cell.metric for cells in of_corpus.values() for cell in cells}) > 1
    header = [*row_header(), *words(*(["metric"] if several else []))]
    header += map(Shown, [*names, *(["active features"] if records.has_sparse else [])])
    rows = []
    for key, cells in of_corpus.items():
        first = start_rounds([cell for cell in cells if not cell.steps])
        best, last = best_rounds(cells), [cell.rounds[-1] for cell in cells if cell.rounds]
        numbers = [
            mean_text([len(cell.rounds) for cell in cells], 1),
            mean_text([cell.best_round for cell in cells], 1),
            mean_points((entry.dev for entry in first), cells[0].metric),
            _kept(records, cells),
            mean_points((entry.test for entry in first), cells[0].metric),
            mean_points((entry.test for entry in best), cells[0].metric),
            mean_text([cell.scores["length_ratio"] for cell in cells if "length_ratio" in cell.scores], 3),
            mean_text([entry.n_candidates for entry in last], 0),
        ]
        if records.has_sparse:
            numbers.append(mean_text([entry.n_active for entry in best], 0))
        metric = words(metric_label(cells[0].metric)) if several else []
        rows.append([*names_of_row(key), *metric, *map(Shown, numbers)])
    return header, rows


def _kept(records: Records, cells: Sequence[CellResult]) -> str:
    """The mean score of the kept weights on the development set, marked where it is live."""
    found = [records.kept_score(cell) for cell in cells if cell.rounds]
    is_live = any(live for _, live in found)
    return mean_points((score for score, _ in found), cells[0].metric) + (" (live)" if is_live else "")


def cost_table(records: Records, corpus: str) -> Table:
    """Time and memory of a tuning run, means over the runs; steps cost what they did where they were made."""
    of_corpus = records.of_corpus(corpus)
    names = parts_of_cpu([cell for cells in of_corpus.values() for cell in cells])
    totals = ["together, CPU s", "wall s", "CPU s a round", "peak MiB"]
    header = row_header("rounds", *(f"{name}, CPU s" for name in names), *totals)
    rows = []
    for key, cells in of_corpus.items():
        parts = {name: values for name, values in cpu_by_part(cells).items() if name in names}
        wall = [
            sum(entry.decode_wall_s + entry.learn_wall_s for entry in cell.rounds)
            + sum(step.wall_s for step in cell.steps)
            for cell in cells
        ]
        together = [sum(part) for part in zip(*parts.values(), strict=True)]
        in_rounds = [
            total - sum(step.cpu_s for step in cell.steps) for total, cell in zip(together, cells, strict=True)
        ]
        a_round = [total / len(cell.rounds) for total, cell in zip(in_rounds, cells, strict=True) if cell.rounds]
        peak = max((stage.peak_bytes for cell in cells for stage in cell.stages), default=0)
        shown = [*parts.values(), together, wall]
        numbers = [mean_text([len(cell.rounds) for cell in cells], 1), *(mean_text(values, 1) for values in shown)]
        rows.append([*names_of_row(key), *map(Shown, [*numbers, mean_text(a_round, 1), f"{peak / 2**20:,.0f}"])])
    return header, rows


def cpu_by_part(cells: Sequence[CellResult]) -> dict[str, list[float]]:
    """CPU seconds of each cell's tuning: decoding, statistics of the metric, learning, and steps before the rounds."""
    return {
        "decoding": [sum(entry.decode_cpu_s for entry in cell.rounds) for cell in cells],
        "statistics": [sum(entry.statistics_cpu_s for entry in cell.rounds) for cell in cells],
        "learning": [sum(entry.learn_cpu_s for entry in cell.rounds) for cell in cells],
        _STEPS: [sum(step.cpu_s for step in cell.steps) for cell in cells],
    }


def parts_of_cpu(cells: Sequence[CellResult]) -> list[str]:
    """The parts of CPU time that some of the cells have: steps only where a method has them."""
    has_steps = any(cell.steps for cell in cells)
    return [name for name in cpu_by_part(()) if has_steps or name != _STEPS]


def stage_table(records: Records, corpus: str) -> Table:
    """Time and memory of every stage when it was computed, means over the cells of a system."""
    header = words("stage", "system")
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
            mean_text([stage.cpu_s for stage in shown], 1),
            mean_text([stage.wall_s for stage in shown], 1),
            f"{max(stage.peak_bytes for stage in shown) / 2**20:,.0f}",
            f"{len(found) - len(made)}",
        ]
        rows.append([*words(name, system), *map(Shown, numbers)])
    return header, rows


def class_table(records: Records, corpus: str) -> Table:
    """Active features of the best round by class, the part of a name before the colon; means over the runs."""
    rows = records.of_corpus(corpus)
    counts = {key: [records.classes(cell) for cell in cells] for key, cells in rows.items()}
    names = sorted({name for found in counts.values() for count in found for name in count if name})
    header = row_header("without a class", *names, "all")
    body = []
    for key, found in counts.items():
        numbers = [mean_text([count[name] for count in found], 0) for name in ("", *names)]
        total = mean_text([sum(count.values()) for count in found], 0)
        body.append([*names_of_row(key), *map(Shown, [*numbers, total])])
    return header, body


def feature_table(records: Records) -> Table:
    """Active features of the best round by optimiser, and possible ones, where there are sparse ones; means over runs.

    As Table 2 of Eidelman et al. 2013: possible are the features that weights could be learned of, the most of any
    method (see `CellRound.n_possible`, and `Update.n_seen` of held-out line search, whose lists have blocks instead).
    """
    groups: dict[tuple[str, ...], dict[str, Sequence[CellResult]]] = {}
    for key, cells in records.rows.items():
        groups.setdefault(key.group(Within.FEATURES), {})[key.optimiser] = cells
    found = {
        names: row
        for names, row in groups.items()
        if any(name for cells in row.values() for cell in cells for name in records.classes(cell))
    }
    optimisers = [name for name in records.optimisers if any(name in row for row in found.values())]
    header = [*words("corpus", "system", "features"), *map(Shown, [*optimisers, "possible"])]
    rows = []
    for names, row in found.items():
        active = [mean_text([entry.n_active for entry in best_rounds(row.get(name, ()))], 0) for name in optimisers]
        of_row = [cell for cells in row.values() for cell in cells]
        possible = [entry.n_possible for cell in of_row for entry in cell.rounds if entry.n_possible]
        possible += [update.n_seen for cell in of_row for update in cell.updates if update.n_seen]
        rows.append([*words(*names), *map(Shown, [*active, f"{max(possible):,}" if possible else ""])])
    return header, rows
