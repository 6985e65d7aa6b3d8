"""Bootstrap and approximate randomisation on segment statistics, with sacrebleu's definitions and draws.

Statistics are [system, sentence, n_stats]; all systems see the same draws, as a paired test wants. Drawing
happens in blocks, which bound the memory and do not change what is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Interval",
    "confidence_interval",
    "paired_bootstrap",
    "paired_randomisation",
    "resampled_totals",
    "shuffled_totals",
]

Floats = NDArray[np.float64]

_BLOCK_DRAWS = 1 << 22
# NumPy draws booleans from words of 32 bits and drops what is left of a word at the end of a call.
_BITS_PER_WORD = 32
# Differences that are equal in exact arithmetic must not count as larger.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The mean over resamples, and the bounds that hold 95% of them."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """What sacrebleu prints after the plus-minus sign."""
        return (self.high - self.low) / 2


def resampled_totals(statistics: Floats, n_resamples: int, seed: int) -> Floats:
    """Summed statistics of bootstrap resamples, [resample, system, n_stats]."""
    n_systems, n_sentences, n_stats = _checked(statistics, n_resamples)
    columns = statistics.transpose(1, 0, 2).reshape(n_sentences, n_systems * n_stats)
    rng = np.random.default_rng(seed)
    totals = np.empty((n_resamples, n_systems * n_stats))
    for begin, end in _blocks(n_resamples, n_sentences):
        drawn = rng.choice(n_sentences, size=(end - begin, n_sentences), replace=True)
        drawn += n_sentences * np.arange(end - begin)[:, None]
        times = np.bincount(drawn.ravel(), minlength=(end - begin) * n_sentences)
        totals[begin:end] = times.reshape(end - begin, n_sentences).astype(np.float64) @ columns
    return totals.reshape(n_resamples, n_systems, n_stats)


def shuffled_totals(statistics: Floats, n_trials: int, seed: int) -> tuple[Floats, Floats]:
    """Summed statistics after swapping sentences between system 0 and each other one by the toss of a coin.

    Two arrays [trial, other system, n_stats]: what system 0 ends up with, and what the other does.
    """
    n_systems, n_sentences, n_stats = _checked(statistics, n_trials)
    columns = statistics.transpose(1, 0, 2).reshape(n_sentences, n_systems * n_stats)
    rng = np.random.default_rng(seed)
    stayed, left = np.empty((2, n_trials, n_systems, n_stats))
    for begin, end in _blocks(n_trials, n_sentences):
        stays = rng.integers(2, size=(end - begin, n_sentences), dtype=bool)
        # Two products rather than a difference from the total: counts stay free of cancellation.
        for part, chosen in ((stayed, stays), (left, ~stays)):
            part[begin:end] = (chosen.astype(np.float64) @ columns).reshape(-1, n_systems, n_stats)
    return stayed[:, :1] + left[:, 1:], left[:, :1] + stayed[:, 1:]


def confidence_interval(scores: Floats) -> Interval:
    """95% of the resampled scores of one system: a fortieth is cut off at either end."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return Interval(mean=float(ordered.mean()), low=float(ordered[cut]), high=float(ordered[len(ordered) - cut - 1]))


def paired_bootstrap(scores: Floats, baseline: Floats, difference: float) -> float:
    """p-value of an absolute `difference`, from the scores of the same resamples (Koehn 2004)."""
    sampled = np.abs(scores - baseline)
    return _p_value(sampled - sampled.mean(), difference)


def paired_randomisation(scores: Floats, baseline: Floats, difference: float) -> float:
    """p-value of an absolute `difference`, from the scores of shuffled systems (Riezler and Maxwell 2005)."""
    return _p_value(np.abs(scores - baseline), difference)


def _p_value(sampled: Floats, difference: float) -> float:
    exceed = int(np.count_nonzero(sampled > difference + _ROUNDING))
    return (exceed + 1) / (len(sampled) + 1)


def _blocks(n: int, n_sentences: int) -> Iterator[tuple[int, int]]:
    size = max(1, _BLOCK_DRAWS // n_sentences // _BITS_PER_WORD) * _BITS_PER_WORD
    for begin in range(0, n, size):
        yield begin, min(n, begin + size)


def _checked(statistics: Floats, n: int) -> tuple[int, int, int]:
    n_systems, n_sentences, n_stats = statistics.shape
    if n_sentences == 0:
        raise InputError("no sentences to resample")
    if n < 1:
        raise InputError(f"at least one resample is needed, not {n}")
    return n_systems, n_sentences, n_stats
