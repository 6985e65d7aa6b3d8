"""Smoothed sentence-level BLEU, for ranking candidates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dragoman.metric.base import Totals

__all__ = ["AddOne", "SentenceBleu", "brevity_penalty"]


class AddOne(StrEnum):
    """Which orders get one added to matches and n-grams."""

    HIGHER = "higher"  # all but unigrams: Lin and Och 2004
    ALL = "all"  # unigrams too: Moses


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceBleu:
    """BLEU+1 of each candidate from its BLEU statistics.

    Nakov et al. (2012) found that smoothing only precision favours short translations. `smooth_brevity` also
    adds one to the reference length. `grounded` subtracts the precision due to smoothing: that of the same
    candidate with no match in any smoothed order. An empty candidate scores 0.
    """

    add_one: AddOne = AddOne.HIGHER
    """Orders whose precision is smoothed by adding one."""
    smooth_brevity: bool = False
    """Also add one to the reference length."""
    grounded: bool = False
    """Subtract the precision due to smoothing."""

    def score(self, statistics: Totals) -> Totals:
        """[..., 2 + 2 N] -> [...], in [0, 1]."""
        statistics = np.asarray(statistics, dtype=np.float64)
        order = (statistics.shape[-1] - 2) // 2
        hyp_length, ref_length = statistics[..., 0], statistics[..., 1]
        correct, possible = statistics[..., 2 : 2 + order], statistics[..., 2 + order :]
        added = np.ones(order)
        if self.add_one is AddOne.HIGHER:
            added[0] = 0
        below = possible + added
        below = np.where(below > 0, below, 1.0)
        precision = _geometric_mean((correct + added) / below)
        if self.grounded:
            unmatched = np.where(added > 0, 0.0, correct)
            precision = precision - _geometric_mean((unmatched + added) / below)
        brevity = brevity_penalty(hyp_length, ref_length + (1 if self.smooth_brevity else 0))
        return np.where(hyp_length > 0, brevity * precision, 0.0)[()]


def brevity_penalty(hyp_length: Totals, ref_length: Totals) -> Totals:
    """1 if the hypothesis is not shorter, else exp(1 - r / c); 0 for an empty hypothesis with a non-empty reference."""
    ratio = np.divide(ref_length, hyp_length, out=np.full(np.shape(hyp_length), np.inf), where=hyp_length > 0)
    return np.where(hyp_length < ref_length, np.exp(np.minimum(1 - ratio, 0.0)), 1.0)


def _geometric_mean(values: Totals) -> Totals:
    with np.errstate(divide="ignore"):
        mean: Totals = np.exp(np.log(values).mean(axis=-1))
    return mean
