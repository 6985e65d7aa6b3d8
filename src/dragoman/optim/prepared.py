"""The lists of a pool prepared for descent: features in columns, without those that do not matter."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.candidates import Pool, Shard
from dragoman.errors import InputError
from dragoman.optim.base import Problem
from dragoman.optim.list_loss import GainLoss
from dragoman.optim.loss import Loss
from dragoman.optim.update import Conditioning, Update
from dragoman.types import Float64Array

__all__ = ["MEMORY_BYTES", "Prepared", "prepare"]

MEMORY_BYTES = 1 << 29
"""Prepared lists beyond this size go to a scratch file in the folder for temporary files."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """Lists in which a feature that is not `fixed` differs between candidates; `differing` are these features."""

    pool: Pool
    lists: _core.ListStore
    fixed: NDArray[np.bool_]
    differing: NDArray[np.bool_]
    variances: Float64Array  # of each feature that differs, within lists

    def rates(self, update: Update) -> tuple[Float64Array, Float64Array]:
        """What multiplies the gradient and what multiplies the penalty of each feature; empty where all are 1."""
        dense = np.array(sorted(self.pool.dense), dtype=np.int32)
        dense = dense[self.differing[dense]]
        gradient = np.ones(len(self.differing))
        if update.conditioning is Conditioning.LISTS:
            gradient /= np.maximum(self.lists.list_counts(), 1)
            gradient[dense] = 1 / len(self.lists)
        penalty = gradient.copy()
        if update.scale_dense and len(dense):
            gradient[dense] /= self.variances[dense]
        if update.l2 == 0 and (gradient == 1).all():
            return np.zeros(0), np.zeros(0)
        penalty[~self.differing] = 0
        return gradient, penalty


def prepare(problem: Problem, loss: Loss, freeze_dense: bool | None) -> tuple[Prepared, str]:
    """The lists, and a note where `freeze_dense` None had to be decided. Raises InputError where there are none."""
    dense = np.zeros(len(problem.frozen), dtype=bool)
    dense[sorted(problem.pool.dense)] = True
    note = ""
    if freeze_dense is None and dense.any():
        freeze_dense = bool(problem.start.values[dense].any())
        if not freeze_dense:
            note = "the start has no weights for the dense features, so they are learned too"
        else:
            prepared = _prepared(problem, loss, problem.frozen | dense)
            if len(prepared.lists):
                return prepared, ""
            freeze_dense = False
            note = "the candidates differ in dense features alone, so these are learned instead of being frozen"
    prepared = _prepared(problem, loss, problem.frozen | dense if freeze_dense else problem.frozen)
    if len(prepared.lists) == 0:
        which = "that is not frozen " if freeze_dense or problem.frozen.any() else ""
        raise InputError(f"no feature {which}differs between the candidates of a sentence, so weights cannot matter")
    return prepared, note


def _prepared(problem: Problem, loss: Loss, fixed: NDArray[np.bool_]) -> Prepared:
    pool = problem.pool
    lists = _core.ListStore(len(pool.index), MEMORY_BYTES, tempfile.gettempdir())
    mask = fixed.view(np.uint8) if fixed.any() else np.zeros(0, dtype=np.uint8)
    for shard in pool.shards:
        lists.add(*shard.candidates, _gains(problem, loss, shard), mask, problem.start.values, problem.n_threads)
    lists.seal()
    differing = lists.differing().astype(bool)
    return Prepared(pool=pool, lists=lists, fixed=fixed, differing=differing, variances=lists.variances())


def _gains(problem: Problem, loss: Loss, shard: Shard) -> Float64Array:
    return loss.gains(shard) if isinstance(loss, GainLoss) else problem.metric.segment_gains(shard.stats)
