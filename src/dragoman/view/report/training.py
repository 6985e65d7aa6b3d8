"""Learning from the training text: scores over the sentences seen, and what updates of held-out line search did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from statistics import fmean

from dragoman.analysis import RowKey, Shown, Within
from dragoman.features import HOLS_BEFORE, HOLS_STEP
from dragoman.metric import metric_label
from dragoman.run import CellResult, CellRound, Update
from dragoman.view.report.charts import Dash, Line, LineChart
from dragoman.view.report.figures import file_name
from dragoman.view.report.records import Records
from dragoman.view.report.tables import Table, words

__all__ = ["flip_table", "training_charts", "update_table"]

_Points = dict[float, float]


def training_charts(records: Records) -> Iterator[LineChart]:
    """Train, dev and test score over the sentences learned from: a chart for every method that does so.

    As Figure 1 of Flanigan et al. 2013. Charts of the same corpus, system and features share the range of their y axes,
    so that those with and without folds can be compared.
    """
    groups: dict[tuple[str, ...], dict[RowKey, Sequence[CellResult]]] = {}
    for key, cells in records.rows.items():
        if any(entry.train is not None for cell in cells for entry in cell.rounds):
            groups.setdefault(key.group(Within.FEATURES), {})[key] = cells
    for rows in groups.values():
        lines = {key: [*_lines(cells, records.optimisers.index(key.optimiser))] for key, cells in rows.items()}
        values = [y for found in lines.values() for line in found for _, y in line.points]
        for key, found in lines.items():
            yield LineChart(
                name=file_name("training", key.corpus, key.system, key.features, key.optimiser),
                title=f"{key.corpus}: {key.system}, {key.features}, {key.optimiser}",
                x_label="training sentences",
                y_label=metric_label(rows[key][0].metric),
                lines=found,
                real_x=True,
                y_reach=(min(values), max(values)),
            )


def _lines(cells: Sequence[CellResult], colour: int) -> Iterator[Line]:
    """Test solid, dev dashed, train dotted, as everywhere; means over runs where there are several."""
    kinds: tuple[tuple[str, Dash, Callable[[CellResult], _Points]], ...] = (
        ("test", Dash.SOLID, lambda cell: _measured(cell, lambda entry: entry.test)),
        ("train", Dash.DOTTED, _trained),
        ("dev", Dash.DASHED, lambda cell: _measured(cell, lambda entry: entry.dev)),
    )
    for name, dash, points_of in kinds:
        runs = [points for cell in cells if (points := points_of(cell))]
        places = sorted(set.intersection(*map(set, runs))) if runs else []
        if places:
            mean = [(x, fmean(points[x] for points in runs)) for x in places]
            yield Line(name=name, points=mean, colour=colour, dash=dash)


def _ends(cell: CellResult) -> list[int]:
    """Sentences that were learned from before each round, and at last by all of them."""
    return [0, *accumulate(entry.n_trained for entry in cell.rounds)]


def _measured(cell: CellResult, score: Callable[[CellRound], float | None]) -> _Points:
    """A score of the weights that each round began with, by the sentences seen before."""
    found = zip(_ends(cell), map(score, cell.rounds), strict=False)
    return {float(seen): 100 * value for seen, value in found if value is not None}


def _trained(cell: CellResult) -> _Points:
    """The score of the sentences of each round, which stands at the middle of them."""
    ends = _ends(cell)
    return {
        (begin + end) / 2: 100 * entry.train
        for begin, end, entry in zip(ends, ends[1:], cell.rounds, strict=False)
        if entry.train is not None
    }


def update_table(records: Records) -> Table:
    """Every update of held-out line search: the gradient, the weights of its blocks, and the gain; means over runs.

    `c₁` is the weight of the sparse weights before, the other blocks have their step α, both relative to the dense
    weights.
    """
    found = [(key, updates) for key, cells in records.rows.items() for updates in _by_update(cells)]
    names = list(dict.fromkeys(name for _, updates in found for update in updates for name in update.blocks))
    header = [*words("corpus", "system", "features", "optimiser", "update", "searched on")]
    header += map(Shown, ["gradient lines", "features", "loss", "factor", *map(_block_label, names)])
    header += map(Shown, ["before", "after"])
    rows = []
    for key, updates in found:
        first = updates[0]
        cells = words(key.corpus, key.system, key.features, key.optimiser, f"{first.update}", first.searched)
        weights = [
            [update.dense_scale * update.blocks[name] for update in updates if name in update.blocks] for name in names
        ]
        numbers = [
            f"{fmean(update.n_lines for update in updates):,.0f}",
            f"{fmean(update.n_features for update in updates):,.0f}",
            f"{fmean(update.loss for update in updates):.3f}",
            f"{fmean(update.factor for update in updates):.3g}",
            *(f"{fmean(values):.3g}" if values else "" for values in weights),
            f"{100 * fmean(update.score_before for update in updates):.2f}",
            f"{100 * fmean(update.score_after for update in updates):.2f}",
        ]
        rows.append([*cells, *map(Shown, numbers)])
    return header, rows


def flip_table(records: Records) -> Table:
    """Shares of features whose gradient changed its sign since the update before, by frequency and by size.

    Section 5.2 of Flanigan et al. 2013: what oscillates. Shares are of the features with a component in both
    gradients, cosines those of the angle between them; of the first run, because seeds differ in the last search alone.
    """
    found: dict[tuple[RowKey, str], dict[int, tuple[str, str]]] = {}
    for key, cells in records.rows.items():
        for update in (update for cell in cells[:1] for update in cell.updates):
            for one in update.flips:
                shown = f"{100 * one.share:.1f}% of {one.n_features:,}", f"{one.cosine:+.2f}"
                found.setdefault((key, one.group), {})[update.update] = shown
    numbers = sorted({number for of_group in found.values() for number in of_group})
    header = words("corpus", "system", "features", "optimiser", "features in lists")
    for number in numbers:
        header += map(Shown, [f"update {number}: flipped", "cosine"])
    rows = [
        [
            *words(key.corpus, key.system, key.features, key.optimiser, group),
            *(Shown(text) for number in numbers for text in of_group.get(number, ("", ""))),
        ]
        for (key, group), of_group in found.items()
    ]
    return header, rows


def _by_update(cells: Sequence[CellResult]) -> Iterator[Sequence[Update]]:
    """The same update of all runs, in the order of the first run that has it."""
    found: dict[tuple[int, str], list[Update]] = {}
    for cell in cells:
        for update in cell.updates:
            found.setdefault((update.update, update.searched), []).append(update)
    yield from found.values()


def _block_label(name: str) -> str:
    """As the paper names the weight of a block: c₁, α, or α and which features it is the step of."""
    if name == HOLS_BEFORE:
        return "c₁"
    if name == HOLS_STEP or name.startswith(f"{HOLS_STEP}_"):
        return f"α {name.removeprefix(HOLS_STEP).replace('_', ' ').strip()}".strip()
    return name
