"""Which lines of the training text held-out line search takes: D_g for gradients, D_l for searches."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError
from dragoman.optim import Hols
from dragoman.system import TrainingLines, sample_lines
from dragoman.tuning.judge import draw_judges, n_judging
from dragoman.types import Int64Array

__all__ = ["LineSets", "draw_lines"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineSets:
    """Line numbers."""

    search: Int64Array
    """D_l, fold by fold."""
    gradient: Int64Array
    """D_g, ascending."""
    n_parts: int
    """Updates that share a pass through D_g."""
    held_in: bool = False
    """D_l may be part of D_g."""
    judges: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    """Lines that judge what was learned."""

    def __post_init__(self) -> None:
        if not self.held_in and (n_shared := int(np.isin(self.search, self.gradient).sum())):
            raise InputError(
                f"{n_shared:,} lines of the line search are among those of the gradient; hils is the method for this"
            )

    def part(self, update: int) -> Int64Array:
        """The gradient lines of an update, from 1: every n-th, so that all folds and the whole text are in each."""
        return self.gradient[(update - 1) % self.n_parts :: self.n_parts]


def draw_lines(
    training: TrainingLines, method: Hols, *, fold: int | None, limit: int | None, judge_lines: int = 0
) -> LineSets:
    """D_l is drawn by the training seed from the last fold and D_g are all lines of the others, or `limit` of them.

    A seed of 0 draws as 1 does. With a `fold`, both are lines of it, and D_g has no source sentence of D_l. D_l of hils
    is drawn from D_g. At most `judge_lines` of the last fold, or of `fold`, are in neither and judge. Raises InputError
    for too few lines.
    """
    folds = training.folds
    last = training.n_folds - 1 if fold is None else fold
    if method.held_in:
        own = np.flatnonzero(folds != last if fold is None else folds == fold)
        gradient = training.evenly(limit, own)
        search = _drawn(gradient, method, last)
    else:
        search = _drawn(np.flatnonzero(folds == last), method, last)
        # Equal sentences share a fold, so that lines of different folds have different text.
        others = np.flatnonzero(folds != last) if fold is None else _unlike(training, folds == fold, search)
        gradient = training.evenly(limit, others)
    of_fold, seed = np.flatnonzero(folds == last), method.training_seed or 1
    n_judges = n_judging(len(of_fold), judge_lines)
    judges, gradient = draw_judges(training, of_fold, n_judges, learned=gradient, searched=search, seed=seed)
    n_parts = max(1, method.updates // method.passes)
    if len(gradient) < n_parts and method.updates:
        raise InputError(f"{len(gradient)} gradient lines are too few for {n_parts} updates in a pass")
    search = search[np.argsort(folds[search], kind="stable")]
    return LineSets(
        search=search,
        gradient=gradient.astype(np.int64),
        n_parts=n_parts,
        judges=judges,
        held_in=method.held_in,
    )


def _unlike(training: TrainingLines, allowed: NDArray[np.bool_], search: Int64Array) -> Int64Array:
    """The lines that are allowed, but for those with the source text of a line of the search."""
    texts = {training.source(line) for line in search.tolist()}
    lines = np.flatnonzero(allowed)
    return lines[[training.source(line) not in texts for line in lines.tolist()]]


def _drawn(lines: Int64Array, method: Hols, fold: int) -> Int64Array:
    """Lines of the search; of a whole fold they are those of `TrainingLines.of_fold`."""
    n_lines = method.line_search
    if len(lines) < n_lines:
        raise InputError(
            f"the line search asks for {n_lines:,} lines, but there are {len(lines):,} to draw from; set line_search "
            "to fewer"
        )
    return sample_lines(lines, n_lines, fold=fold, seed=method.training_seed or 1)
