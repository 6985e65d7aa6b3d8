"""Recipes of kind `synthetic`: optimisers on synthetic pools with known gold weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from dragoman.experiments.optimisers import read_method
from dragoman.experiments.table import RecipeTable
from dragoman.optim import LearnsFrom, Optimiser
from dragoman.settings import plain

__all__ = ["SyntheticPoint", "SyntheticRecipe", "read_synthetic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticPoint:
    """One point of the grid."""

    optimiser: str
    noise: float
    dimension: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticRecipe:
    """The experiment of PRO, sections 3 and 4.2: which methods recover the gold weights."""

    title: str
    citation: str
    expected: str
    cost: str
    points: tuple[SyntheticPoint, ...]
    n_sentences: int
    n_candidates: int
    upper: float
    optimisers: Mapping[str, Optimiser]

    def settings(self) -> dict[str, Any]:
        return dict(plain(self)) | {"methods": {name: method.name for name, method in self.optimisers.items()}}


def read_synthetic(table: RecipeTable, _content: Mapping[str, Any], _base: Path) -> SyntheticRecipe:
    """Read and check a synthetic recipe."""
    title, citation, expected, cost = (table.text(key) for key in ("title", "citation", "expected", "cost"))
    pool = table.table("pool")
    n_sentences, n_candidates = pool.number("n_sentences", 1), pool.number("n_candidates", 2)
    upper = float(pool.take("upper", int, float))
    pool.done()
    optimisers = {name: _optimiser(name, entry) for name, entry in table.entries("optimisers").items()}
    points: dict[SyntheticPoint, None] = {}
    for grid in table.tables("grid"):
        names = grid.names("optimisers", optimisers)
        noise, dimensions = grid.numbers("noise", 0, float), grid.numbers("dimensions", 1, int)
        seeds = grid.numbers("seeds", 0, int)
        grid.done()
        for n, d, s, o in product(noise, dimensions, seeds, names):
            points[SyntheticPoint(optimiser=o, noise=n, dimension=d, seed=s)] = None
    table.need("grid", points)
    table.done()
    return SyntheticRecipe(
        title=title,
        citation=citation,
        expected=expected,
        cost=cost,
        points=tuple(points),
        n_sentences=n_sentences,
        n_candidates=n_candidates,
        upper=upper,
        optimisers=optimisers,
    )


def _optimiser(name: str, table: RecipeTable) -> Optimiser:
    method = read_method(name, table)
    table.done()
    if method.learns_from is not LearnsFrom.LISTS:
        raise table.wrong("method", f"{method.name} does not learn from lists")
    return method
