"""Tuning on fixed lists: read a pool elsewhere, optimise once, measure."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dragoman.features import Weights
from dragoman.optim import Optimiser
from dragoman.pool import Pool, metric_of, rerank

__all__ = ["TuneRecord", "tune_pool"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuneRecord:
    """What tuning did. Scores are the metric's own, in [0, 1] (TER: lower is better)."""

    weights: Weights
    metric: str
    score_before: float
    score_after: float
    rounds: tuple[Mapping[str, object], ...]
    n_sentences: int
    n_candidates: int
    n_features: int
    cpu_s: float
    notes: tuple[str, ...]


def tune_pool(
    pool: Pool,
    optimiser: Optimiser,
    start: Weights,
    *,
    seed: int,
    frozen: Collection[str] = (),
    threads: int = 1,
) -> TuneRecord:
    """Optimise once on a pool that carries its metric."""
    began = time.process_time()
    result = optimiser.optimise(pool, start, seed=seed, frozen=frozen, threads=threads)
    scores = [rerank(pool, weights, threads=threads).score() for weights in (start, result.weights)]
    return TuneRecord(
        weights=result.weights,
        metric=metric_of(pool).name,
        score_before=scores[0],
        score_after=scores[1],
        rounds=({"round": 1, "score": scores[1], "trace": list(result.trace)},),
        n_sentences=pool.n_sentences,
        n_candidates=pool.n_candidates,
        n_features=pool.n_features,
        cpu_s=time.process_time() - began,
        notes=result.notes,
    )
