"""`start` of `[optimisers.NAME]`: initial weights that are drawn at random, or found by another cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.errors import InputError
from dragoman.experiments.table import RecipeTable
from dragoman.features import Weights
from dragoman.settings import Record

__all__ = ["CellStart", "NormalStart", "read_start"]

_KEY, _NORMAL, _OPTIMISER, _FEATURES, _SPARSE = "start", "normal", "optimiser", "features", "sparse"
_MAX_DEVIATION = 1e6
_STREAM = 1
"""Keeps these draws apart from those of a method with the same seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalStart(Record):
    """Dense weights drawn from a normal distribution of mean 0; sparse ones are 0.

    Flanigan, Dyer and Carbonell 2013, section 6, draw them from the standard normal.
    """

    normal: float
    """The standard deviation."""

    def _check(self) -> None:
        if not (math.isfinite(self.normal) and 0 < self.normal <= _MAX_DEVIATION):
            raise InputError(f"the standard deviation must be positive and at most {_MAX_DEVIATION:g}")

    def draw(self, dense: Sequence[str], seed: int) -> Weights:
        """The weights of a seed."""
        values = np.random.default_rng((seed, _STREAM)).normal(0.0, self.normal, len(dense))
        return Weights.from_dict(dict(zip(dense, values.tolist(), strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStart(Record):
    """Weights of the cell of another optimiser, with the same corpus, system and seed: the dense ones, or all of them.

    Flanigan, Dyer and Carbonell 2013, section 6.1, begin with those of MERT.
    """

    optimiser: str
    features: str | None = None
    """Those of that cell; None: the same."""
    sparse: bool = False
    """Whether sparse weights are taken too; else they are 0."""

    def take(self, weights: Weights, dense: Sequence[str]) -> Weights:
        """The weights that are kept of those of that cell."""
        if self.sparse:
            return weights
        return Weights.from_dict({name: weights[name] for name in dense})


def read_start(table: RecipeTable) -> NormalStart | CellStart | None:
    """The start of an optimiser's table; None: the system's own weights."""
    if _KEY not in table:
        table.find(_KEY, dict)
        return None
    inner = table.need_table(_KEY)
    if _OPTIMISER in inner:
        start = CellStart(
            optimiser=inner.text(_OPTIMISER),
            features=inner.find(_FEATURES, str),
            sparse=bool(inner.find(_SPARSE, bool)),
        )
        inner.done()
        return start
    inner.find(_OPTIMISER, str)
    deviation = inner.take(_NORMAL, int, float)
    inner.done()
    with inner:
        return NormalStart(normal=float(deviation))
