"""Curves of scores by the number of tuning sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from dragoman.analysis import RowKey
from dragoman.metric import metric_label
from dragoman.run import CellResult, SetScores
from dragoman.view.report.charts import Dash, Line, LineChart
from dragoman.view.report.corpus_groups import plain_key, same_but_dev, shared_name
from dragoman.view.report.figures import file_name
from dragoman.view.report.records import Records

__all__ = ["size_charts", "tuning_sizes"]

_ScoresOf = Callable[[CellResult], SetScores | None]


def tuning_sizes(records: Records) -> dict[str, dict[str, int]]:
    """Corpora that differ in the `limit` of their development set alone: by the name they share, the limit of each."""
    found: dict[tuple[int, str], dict[str, int]] = {}
    for place, group in enumerate(same_but_dev(records)):
        for name, dev in group.items():
            if isinstance(dev.get("limit"), int):
                rest = plain_key({key: value for key, value in dev.items() if key != "limit"})
                found.setdefault((place, rest), {})[name] = dev["limit"]
    return {shared_name([*sizes]): sizes for sizes in found.values() if len({*sizes.values()}) > 1}


def size_charts(records: Records, metric: str) -> Iterator[LineChart]:
    """A chart for each such group, test set, system and feature set: the score of every optimiser by size.

    Solid: the test set; dashed: the tuning set, decoded with the kept weights.
    """
    for group, sizes in tuning_sizes(records).items():
        rows = {key: cells for key, cells in records.rows.items() if key.corpus in sizes}
        tests = dict.fromkeys(name for cells in rows.values() for cell in cells for name in cell.tests)
        for system, features in dict.fromkeys((key.system, key.features) for key in rows):
            same = {k: cells for k, cells in rows.items() if (k.system, k.features) == (system, features)}
            for test in tests if len({sizes[key.corpus] for key in same}) > 1 else ():
                yield LineChart(
                    name=file_name("sizes", group, system, features, test),
                    title=f"{group}: {system}, {features}, {test}",
                    x_label="tuning sentences",
                    y_label=metric_label(metric),
                    lines=[*_lines(same, sizes, records.optimisers, test, metric)],
                    log_x=True,
                )


def _lines(
    rows: Mapping[RowKey, Sequence[CellResult]],
    sizes: Mapping[str, int],
    optimisers: Sequence[str],
    test: str,
    metric: str,
) -> Iterator[Line]:
    sets: tuple[tuple[str, Dash, _ScoresOf], ...] = (
        ("test", Dash.SOLID, lambda cell: cell.tests.get(test)),
        ("tune", Dash.DASHED, lambda cell: cell.tune),
    )
    for optimiser in dict.fromkeys(key.optimiser for key in rows):
        for name, dash, scores_of in sets:
            points = []
            for key, cells in rows.items():
                found = [scores for cell in cells if (scores := scores_of(cell)) and metric in scores.scores]
                if key.optimiser == optimiser and found:
                    points.append((float(sizes[key.corpus]), 100 * fmean(one.scores[metric] for one in found)))
            if points:
                colour = optimisers.index(optimiser)
                yield Line(name=f"{optimiser}, {name}", points=sorted(points), colour=colour, dash=dash)
