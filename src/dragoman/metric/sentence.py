"""Smoothed sentence-level BLEU, for ranking candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from dragoman.errors import InputError
from dragoman.settings import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dragoman.metric.base import Totals

__all__ = ["HE_DENG", "AddOne", "SentenceBleu", "brevity_penalty"]


class AddOne(StrEnum):
    """Which orders get one added to matches and n-grams."""

    HIGHER = "higher"  # all but unigrams: Lin and Och 2004
    ALL = "all"  # unigrams too: Moses


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceBleu(Record):
    """BLEU+1 of each candidate from its BLEU statistics.

    Nakov et al. (2012) found that smoothing only precision favours short translations. `smooth_brevity` also
    adds one to the reference length. `grounded` subtracts the precision due to smoothing: that of the same
    candidate with no match in any smoothed order. An empty candidate scores 0.

    `prior` eta > 0 smooths as He and Deng (2012) do instead of adding one: of the orders n > 2, whose precision is

        p_n = (matches + eta p_n^0) / (n-grams + eta)        p_n^0 = p_{n-1}^2 / p_{n-2}, at most 1

    with eta 5, while p_1 and p_2 are as they are (p_2 of a single word is p_1). Their brevity penalty is not `clipped`
    at 1: exp(1 - r / c) rewards length where matches are lost to it; the score is at most 1 all the same.
    """

    add_one: AddOne = AddOne.HIGHER
    """Orders whose precision is smoothed by adding one."""
    smooth_brevity: bool = False
    """Also add one to the reference length."""
    grounded: bool = False
    """Subtract the precision due to smoothing."""
    prior: float = 0.0
    """Eta: n-grams by which the precision that lower orders predict smooths orders above 2; 0: add one."""
    clipped: bool = True
    """Brevity penalty at most 1; false: exp(1 - r / c) of long candidates too."""

    def _check(self) -> None:
        if not 0 <= self.prior < math.inf:
            raise InputError(f"the prior of sentence BLEU must not be negative, but is {self.prior}")
        if self.prior > 0 and self.add_one is not AddOne.HIGHER:
            raise InputError(f"sentence BLEU with a prior does not add one; leave out add_one={self.add_one}")

    def score(self, statistics: Totals) -> Totals:
        """[..., 2 + 2 N] -> [...], in [0, 1]."""
        statistics = np.asarray(statistics, dtype=np.float64)
        order = (statistics.shape[-1] - 2) // 2
        hyp_length, ref_length = statistics[..., 0], statistics[..., 1]
        correct, possible = statistics[..., 2 : 2 + order], statistics[..., 2 + order :]
        precisions = self._with_prior if self.prior > 0 else self._add_one
        precision = _geometric_mean(precisions(correct, possible))
        if self.grounded:
            unmatched = np.where(self._is_smoothed(order), 0.0, correct)
            precision = precision - _geometric_mean(precisions(unmatched, possible))
        ref_length = ref_length + (1 if self.smooth_brevity else 0)
        brevity = brevity_penalty(hyp_length, ref_length, clipped=self.clipped)
        return np.where(hyp_length > 0, np.minimum(brevity * precision, 1.0), 0.0)[()]

    def _is_smoothed(self, order: int) -> NDArray[np.bool_]:
        """Of each order."""
        first = 2 if self.prior > 0 else int(self.add_one is AddOne.HIGHER)
        return np.arange(order) >= first

    def _add_one(self, correct: Totals, possible: Totals) -> Totals:
        added = self._is_smoothed(correct.shape[-1]).astype(np.float64)
        below = possible + added
        return (correct + added) / np.where(below > 0, below, 1.0)

    def _with_prior(self, correct: Totals, possible: Totals) -> Totals:
        found = correct / np.maximum(possible, 1.0)
        if found.shape[-1] > 1:
            found[..., 1] = np.where(possible[..., 1] > 0, found[..., 1], found[..., 0])
        for n in range(2, found.shape[-1]):
            before, last = found[..., n - 2], found[..., n - 1]
            expected = np.minimum(np.divide(last**2, before, out=np.zeros(before.shape), where=before > 0), 1.0)
            found[..., n] = (correct[..., n] + self.prior * expected) / (possible[..., n] + self.prior)
        return found


HE_DENG = SentenceBleu(prior=5.0, clipped=False)
"""Of He and Deng 2012 and Gao and He 2013."""


def brevity_penalty(hyp_length: Totals, ref_length: Totals, *, clipped: bool = True) -> Totals:
    """1 if the hypothesis is not shorter, else exp(1 - r / c); 0 for an empty hypothesis with a non-empty reference.

    Not `clipped`, it is exp(1 - r / c) of long hypotheses too.
    """
    ratio = np.divide(ref_length, hyp_length, out=np.full(np.shape(hyp_length), np.inf), where=hyp_length > 0)
    if not clipped:
        return np.where(hyp_length > 0, np.exp(1 - ratio), np.where(ref_length > 0, 0.0, 1.0))
    return np.where(hyp_length < ref_length, np.exp(np.minimum(1 - ratio, 0.0)), 1.0)


def _geometric_mean(values: Totals) -> Totals:
    with np.errstate(divide="ignore"):
        mean: Totals = np.exp(np.log(values).mean(axis=-1))
    return mean
