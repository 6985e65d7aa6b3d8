"""The metric that a pool's statistics belong to."""

from __future__ import annotations

from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.pool.pool import Pool

__all__ = ["metric_of"]


def metric_of(pool: Pool) -> Metric:
    """The pool's metric. Raises InputError when it has none."""
    if pool.metric is None:
        raise InputError("the pool has no metric yet: give references, or name a score of the candidates")
    return pool.metric
