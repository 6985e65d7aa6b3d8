"""Running the synthetic experiment cell by cell, and its report."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dragoman.candidates import SyntheticPool, cosine, synthetic_pool
from dragoman.cost import cpu_seconds
from dragoman.experiments.synthetic_form import SyntheticPoint, SyntheticRecipe
from dragoman.features import Weights
from dragoman.run import RunFolder
from dragoman.text import replace_bytes

__all__ = ["SyntheticCell", "run_synthetic", "write_synthetic_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticCell:
    """One optimiser on one synthetic pool."""

    optimiser: str
    noise: float
    dimension: int
    seed: int
    cosine: float
    cpu_s: float

    @property
    def point(self) -> SyntheticPoint:
        return SyntheticPoint(optimiser=self.optimiser, noise=self.noise, dimension=self.dimension, seed=self.seed)


def run_synthetic(
    recipe: SyntheticRecipe, run: RunFolder, *, n_threads: int, on_cell: Callable[[SyntheticCell], None] | None = None
) -> list[SyntheticCell]:
    """All cells of the grid; those in the run's trace are not repeated."""
    done = {cell.point: cell for cell in run.records("cell", SyntheticCell)}
    cells = []
    made: tuple[tuple[float, int, int], SyntheticPool] | None = None
    for point in recipe.points:
        cell = done.get(point)
        if cell is None:
            place = (point.noise, point.dimension, point.seed)
            if made is None or made[0] != place:
                made = (place, _pool(recipe, point))
            cell = _run_point(recipe, point, made[1], n_threads)
            run.log_record("cell", cell)
        cells.append(cell)
        if on_cell:
            on_cell(cell)
    return cells


def _pool(recipe: SyntheticRecipe, point: SyntheticPoint) -> SyntheticPool:
    return synthetic_pool(
        point.dimension,
        seed=point.seed,
        n_sentences=recipe.n_sentences,
        n_candidates=recipe.n_candidates,
        upper=recipe.upper,
        noise=point.noise,
    )


def _run_point(recipe: SyntheticRecipe, point: SyntheticPoint, made: SyntheticPool, n_threads: int) -> SyntheticCell:
    began = cpu_seconds()
    start = Weights.from_dict({}, made.pool.index)
    result = recipe.optimisers[point.optimiser].optimise(made.pool, start, seed=point.seed, n_threads=n_threads)
    return SyntheticCell(
        optimiser=point.optimiser,
        noise=point.noise,
        dimension=point.dimension,
        seed=point.seed,
        cosine=cosine(result.weights, made.gold),
        cpu_s=cpu_seconds() - began,
    )


def write_synthetic_report(recipe: SyntheticRecipe, cells: list[SyntheticCell], folder: Path) -> Path:
    """`report.html` with the table and the figure, and `figure.svg` for a paper."""
    from dragoman.analysis import Shown
    from dragoman.view.report import Dash, Line, LineChart, draw_chart, write_chart_page

    lines, rows = [], []
    groups: dict[tuple[str, float], dict[int, list[SyntheticCell]]] = {}
    order = list(recipe.optimisers)
    for cell in sorted(cells, key=lambda c: (order.index(c.optimiser), c.noise, c.dimension)):
        groups.setdefault((cell.optimiser, cell.noise), {}).setdefault(cell.dimension, []).append(cell)
    for (optimiser, noise), by_dimension in groups.items():
        points = []
        for dimension, chosen in by_dimension.items():
            values = [c.cosine for c in chosen]
            mean = statistics.fmean(values)
            deviation = statistics.stdev(values) if len(values) > 1 else 0.0
            points.append((float(dimension), mean))
            cpu_s = statistics.fmean(c.cpu_s for c in chosen)
            numbers = (f"{dimension}", f"{mean:.4f}", f"{deviation:.4f}", f"{cpu_s:.1f}")
            rows.append([Shown(optimiser, numeric=False), Shown(f"{noise:g}"), *map(Shown, numbers)])
        name, dash = f"{optimiser}, noise {noise:g}", Dash.DASHED if noise > 0 else Dash.SOLID
        lines.append(Line(name=name, points=points, colour=order.index(optimiser), dash=dash))
    chart = LineChart(
        name="figure",
        title="Mean over repetitions",
        x_label="features",
        y_label="cosine to the gold weights",
        lines=lines,
        log_x=True,
        y_reach=(0.0, 1.0),
    )
    header = [
        Shown("optimiser", numeric=False),
        *map(Shown, ("noise", "features", "cosine", "deviation", "CPU seconds")),
    ]
    page = folder / "report.html"
    write_chart_page(
        page, title=recipe.title, lead=recipe.citation, chart=chart, note=recipe.expected, table=(header, rows)
    )
    replace_bytes(folder / "figure.svg", draw_chart(chart).encode("utf-8"))
    return page
