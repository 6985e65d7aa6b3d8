"""Running the synthetic experiment cell by cell, and its report."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from dragoman.features import Weights
from dragoman.pool import cosine, synthetic_pool
from dragoman.recipe.read import SyntheticRecipe
from dragoman.report import Cell, Figure, Note, Page, Rows, Section, Series, line_chart
from dragoman.run import RunFolder
from dragoman.text import replace_bytes
from dragoman.tune import build_optimiser

__all__ = ["SyntheticCell", "run_synthetic", "write_synthetic_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticCell:
    """One method on one made-up pool."""

    method: str
    noise: float
    dimension: int
    seed: int
    cosine: float
    cpu_s: float

    @property
    def key(self) -> str:
        """Names the cell in the trace of a run."""
        return _key(self.method, self.noise, self.dimension, self.seed)


def _key(method: str, noise: float, dimension: int, seed: int) -> str:
    return f"{method} noise={noise:g} dimension={dimension} seed={seed}"


def run_synthetic(
    recipe: SyntheticRecipe, run: RunFolder, *, threads: int, on_cell: Callable[[SyntheticCell], None] | None = None
) -> list[SyntheticCell]:
    """All cells of the grid; those that the run's trace has are not done again."""
    done = {cell.key: cell for cell in _logged(run)}
    cells = []
    for noise, dimension, seed in product(recipe.noise, recipe.dimensions, recipe.seeds):
        made = None
        for method, settings in recipe.methods.items():
            cell = done.get(_key(method, noise, dimension, seed))
            if cell is None:
                made = made or synthetic_pool(
                    dimension,
                    seed=seed,
                    n_sentences=recipe.n_sentences,
                    n_candidates=recipe.n_candidates,
                    upper=recipe.upper,
                    noise=noise,
                )
                began = time.process_time()
                start = Weights.from_dict({}, made.pool.index)
                result = build_optimiser(method, settings).optimise(made.pool, start, seed=seed, threads=threads)
                cell = SyntheticCell(
                    method=method,
                    noise=noise,
                    dimension=dimension,
                    seed=seed,
                    cosine=cosine(result.weights, made.gold),
                    cpu_s=time.process_time() - began,
                )
                run.log("cell", **{name: getattr(cell, name) for name in SyntheticCell.__slots__})
            cells.append(cell)
            if on_cell:
                on_cell(cell)
    return cells


def _logged(run: RunFolder) -> Iterator[SyntheticCell]:
    for entry in run.trace():
        if entry["event"] == "cell":
            yield SyntheticCell(**{name: entry[name] for name in SyntheticCell.__slots__})


def write_synthetic_report(recipe: SyntheticRecipe, cells: list[SyntheticCell], folder: Path) -> Path:
    """`report.html` with the table and the figure, and `figure.svg` for a paper."""
    series = []
    rows: list[list[Cell | str]] = []
    for method, noise in product(recipe.methods, recipe.noise):
        points = []
        for dimension in recipe.dimensions:
            chosen = [c for c in cells if (c.method, c.noise, c.dimension) == (method, noise, dimension)]
            values = [c.cosine for c in chosen]
            mean = statistics.fmean(values)
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            points.append((float(dimension), mean))
            numbers = (
                f"{dimension}",
                f"{mean:.4f}",
                f"{spread:.4f}",
                f"{statistics.fmean(c.cpu_s for c in chosen):.1f}",
            )
            rows.append([method, f"{noise:g}", *(Cell(text, numeric=True) for text in numbers)])
        series.append(Series(name=f"{method}, noise {noise:g}", points=points, dashed=noise > 0))
    picture = line_chart(
        series, title=recipe.title, x_label="features", y_label="cosine to the gold weights", y_range=(0.0, 1.0)
    )
    header = ["method", "noise", "features", "cosine", "deviation", "CPU seconds"]
    page = Page(title=recipe.title, lead=recipe.citation)
    page.sections = [
        Section(title="Figure", parts=[Figure(svg=picture, caption="Mean over repetitions"), Note(recipe.expected)]),
        Section(title="Table", parts=[Rows(header=header, rows=rows)]),
    ]
    page.save(folder / "report.html")
    replace_bytes(folder / "figure.svg", picture.encode("utf-8"))
    return folder / "report.html"
