"""What a decoder itself put first, beside what the weights choose from its lists."""

from __future__ import annotations

import numpy as np

from dragoman.candidates import Choice, Pool, Shard, outlines, weights_for
from dragoman.features import Weights
from dragoman.types import Float64Array

__all__ = ["first_candidates", "n_preferred"]

_CLOSE = 1e-3
"""Relative difference of model scores that rounding of printed features explains."""


def first_candidates(pool: Pool) -> Choice:
    """The first candidate of every list."""
    return Choice(
        pool=pool,
        candidates=tuple(
            np.where(np.diff(each.sentences) > 0, each.sentences[:-1], -1).astype(np.int64)
            for each in outlines(pool.shards)
        ),
    )


def n_preferred(chosen: Choice, other: Choice, weights: Weights) -> int:
    """In how many sentences the weights clearly prefer the one choice to the other."""
    values = weights_for(chosen.pool, weights)
    count = 0
    for shard, ours, theirs in zip(chosen.pool.shards, chosen.candidates, other.candidates, strict=True):
        for a, b in zip(ours.tolist(), theirs.tolist(), strict=True):
            if a != b:
                best = _model_score(shard, a, values)
                count += best - _model_score(shard, b, values) > _CLOSE * max(1.0, abs(best))
    return count


def _model_score(shard: Shard, candidate: int, values: Float64Array) -> float:
    begin, end = shard.feature_rows[candidate : candidate + 2]
    return float(values[shard.feature_ids[begin:end]] @ shard.feature_values[begin:end])
