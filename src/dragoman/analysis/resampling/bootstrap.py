"""How sure weights are: the same training on resampled sentences (Efron 1979), measured on the sentences left out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from dragoman.candidates import Pool, metric_of, rerank, resampled
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.optim import Optimiser
from dragoman.optim.frozen import frozen_names
from dragoman.types import Float64Array

__all__ = ["BootstrappedWeights", "WeightInterval", "bootstrap_weights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightInterval:
    """The share of a weight in the sum of all sizes, which is comparable between trainings: a score has no scale.

    `low` and `high` are the bounds of the 95% interval over resamples, `same_sign` the share of resamples in which the
    weight has the sign of its median.
    """

    name: str
    median: float
    low: float
    high: float
    same_sign: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrappedWeights:
    """Intervals of dense weights, and scores on the sentences that a resample left out: of the result and the start."""

    n_resamples: int
    weights: tuple[WeightInterval, ...]
    left_out: tuple[float, ...]
    left_out_start: tuple[float, ...]

    def interval(self) -> tuple[float, float, float]:
        """Mean and 95% interval of the score on sentences left out."""
        low, high = np.quantile(self.left_out, [0.025, 0.975])
        return float(np.mean(self.left_out)), float(low), float(high)


def bootstrap_weights(
    pool: Pool,
    optimiser: Optimiser,
    start: Weights,
    *,
    seed: int,
    n_resamples: int,
    frozen: Collection[str] = (),
    n_threads: int = 1,
    on_resample: Callable[[int], None] | None = None,
) -> BootstrappedWeights:
    """Train on resamples of a pool's sentences, as many as there are, drawn with replacement.

    A training that fails (a resample in which nothing can be learned) is left out; FailedError if fewer than two stay.
    """
    if n_resamples < 2:
        raise InputError(f"intervals need at least 2 resamples, not {n_resamples}")
    metric_of(pool)
    whole = pool.in_memory()
    (shard,) = whole.shards
    usable = np.flatnonzero(np.diff(shard.sentences) > 0)
    frozen = frozen_names(start.on(pool.index).index, frozen)
    shares, scores, starts = [], [], []
    for number in range(n_resamples):
        drawn = np.sort(np.random.default_rng([seed, number]).choice(usable, size=len(usable)))
        left_out = whole.of_sentences(shard.sentence_ids[np.setdiff1d(usable, drawn)].astype(np.int64))
        try:
            found = optimiser.optimise(
                resampled(whole, drawn), start, seed=seed, frozen=frozen, n_threads=n_threads
            ).weights
            if left_out.n_candidates:
                scores.append(rerank(left_out, found, n_threads=n_threads).score())
                starts.append(rerank(left_out, start, n_threads=n_threads).score())
            shares.append(_shares(found, pool))
        except (InputError, FailedError):
            continue
        finally:
            if on_resample is not None:
                on_resample(number + 1)
    if len(shares) < 2 or len(scores) < 2:
        raise FailedError(
            f"{optimiser.name} found no weights on {n_resamples - len(shares)} of {n_resamples} resamples"
        )
    return BootstrappedWeights(
        n_resamples=len(shares),
        weights=_intervals(pool, np.array(shares)),
        left_out=tuple(scores),
        left_out_start=tuple(starts),
    )


def _shares(weights: Weights, pool: Pool) -> Float64Array:
    values = weights.values_on(pool.index)[sorted(pool.dense)]
    size = np.abs(values).sum()
    return values / size if size > 0 else values


def _intervals(pool: Pool, shares: Float64Array) -> tuple[WeightInterval, ...]:
    low, median, high = np.quantile(shares, [0.025, 0.5, 0.975], axis=0)
    same = (np.sign(shares) == np.sign(median)).mean(axis=0)
    return tuple(
        WeightInterval(name=name, median=float(m), low=float(a), high=float(b), same_sign=float(s))
        for name, m, a, b, s in zip(pool.dense_names(), median, low, high, same, strict=True)
    )
