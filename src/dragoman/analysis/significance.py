"""Bootstrap and approximate randomisation on segment statistics, with sacrebleu's draws.

All systems use the same draws, as a paired test requires. Drawing in blocks bounds the memory and does not change the
draws. Both tests are two-sided, and over sentences: a sentence is drawn or swapped with all its runs. A p-value counts
the draws whose difference is at least the observed one, as a permutation test must; sacrebleu counts only greater ones,
and so finds equal outputs, or outputs that differ in one sentence, significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

__all__ = [
    "LEVEL",
    "ROUNDING",
    "Interval",
    "Seed",
    "confidence_interval",
    "holm",
    "is_significant",
    "paired_bootstrap",
    "paired_randomisation",
    "resampled_totals",
    "shuffled_totals",
]

Floats = NDArray[np.float64]
Seed = int | Sequence[int]
_Key = TypeVar("_Key", bound="Hashable")

LEVEL = 0.05
"""Significance level: differences with a p-value below it are significant."""

_BLOCK_DRAWS = 1 << 22
# NumPy draws booleans from 32-bit words and discards the rest of a word at the end of a call.
_BITS_PER_WORD = 32
# Differences that are equal in exact arithmetic must count as equal.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The mean over resamples, and the bounds of the 95% confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """What sacrebleu prints after the plus-minus sign."""
        return (self.high - self.low) / 2


def resampled_totals(statistics: Floats, n_resamples: int, seed: Seed) -> Floats:
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


def shuffled_totals(ours: Floats, theirs: Floats, n_trials: int, seed: Seed) -> tuple[Floats, Floats]:
    """Statistics after randomly swapping translations between a system and each of several others, by sentence.

    `ours` is [sentence, n_stats], `theirs` [other system, sentence, n_stats], each the mean over the system's runs.
    Returns two arrays [trial, other system, n_stats], for our side and the other side.

    A trial tosses one coin for each sentence: all runs of a system translate the same sentence, so they are no further
    evidence, and change sides together (Riezler and Maxwell 2005, with sacrebleu's draws).
    """
    n_others, n_sentences, n_stats = _checked(theirs, n_trials)
    their_columns = theirs.transpose(1, 0, 2).reshape(n_sentences, n_others * n_stats)
    rng = np.random.default_rng(seed)
    first, second = np.empty((2, n_trials, n_others, n_stats))
    for begin, end in _blocks(n_trials, n_sentences):
        stays = rng.integers(2, size=(end - begin, n_sentences), dtype=bool)
        # Products rather than a difference from the total: counts stay free of cancellation.
        for goal, mine in ((first, stays), (second, ~stays)):
            kept = mine.astype(np.float64) @ ours
            gained = ((~mine).astype(np.float64) @ their_columns).reshape(-1, n_others, n_stats)
            goal[begin:end] = kept[:, None, :] + gained
    return first, second


def confidence_interval(scores: Floats) -> Interval:
    """The 95% confidence interval of one system's resampled scores: 2.5% are cut off at either end."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return Interval(mean=float(ordered.mean()), low=float(ordered[cut]), high=float(ordered[len(ordered) - cut - 1]))


def is_significant(p_value: float | None) -> bool:
    """Whether a p-value is below LEVEL; what was not tested is not significant."""
    return p_value is not None and p_value < LEVEL


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """p-values corrected for the number of comparisons (Holm 1979).

    With all those below LEVEL taken for differences, the probability of any mistake among them is at most LEVEL.
    """
    corrected: dict[_Key, float] = {}
    least = 0.0
    for rank, key in enumerate(sorted(p_values, key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[key]))
        corrected[key] = least
    return {key: corrected[key] for key in p_values}


def paired_bootstrap(scores: Floats, baseline: Floats | float, difference: float) -> float:
    """Two-sided p-value of an absolute `difference`, from the scores of the same resamples (Koehn 2004).

    Resampled differences scatter around the observed one; around their mean they are what chance alone makes of it.
    sacrebleu centres the absolute values, whose greatest deviations are on one side: it rejects twice as often.
    """
    sampled = scores - baseline
    return _p_value(np.abs(sampled - sampled.mean()), difference)


def paired_randomisation(scores: Floats, baseline: Floats | float, difference: float) -> float:
    """Two-sided p-value of an absolute `difference`, from the scores of shuffled systems (Riezler and Maxwell 2005)."""
    return _p_value(np.abs(scores - baseline), difference)


def _p_value(sampled: Floats, difference: float) -> float:
    if difference <= ROUNDING:
        return 1.0
    at_least = int(np.count_nonzero(sampled >= difference - ROUNDING))
    return (at_least + 1) / (len(sampled) + 1)


def _blocks(n: int, n_sentences: int) -> Iterator[tuple[int, int]]:
    size = max(1, _BLOCK_DRAWS // n_sentences // _BITS_PER_WORD) * _BITS_PER_WORD
    for begin in range(0, n, size):
        yield begin, min(n, begin + size)


def _checked(statistics: Floats, n: int) -> tuple[int, int, int]:
    n_systems, n_sentences, n_stats = statistics.shape
    if n_sentences == 0:
        raise InputError("no sentences to resample")
    if n < 1:
        raise InputError(f"the number of resamples must be at least 1, not {n}")
    return n_systems, n_sentences, n_stats
