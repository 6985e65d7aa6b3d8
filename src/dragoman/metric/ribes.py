"""RIBES, rank-based evaluation of word order (Isozaki et al. 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric.base import ListArrays, Totals, WordArrays, WordMetric, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from dragoman.metric.segments import Spelling

__all__ = ["Ribes"]

_UNIT = 2.0**-30
"""Scores are multiples of it, so that sums over less than 2^23 sentences are exact, in whatever order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ribes(WordMetric):
    """The mean over sentences of tau · precision^alpha · brevity^beta, for the best of the references.

    tau, in [0, 1], is the share of pairs of corresponding words in the order of the reference (Kendall); precision the
    share of words that correspond to one; brevity BLEU's penalty. A word that is repeated corresponds by the shortest
    n-gram around it that both texts have once. Statistics: the score, and 1.
    """

    alpha: float = 0.25
    beta: float = 0.10
    lowercase: bool = False

    def _check(self) -> None:
        if not all(isfinite(exponent) and exponent >= 0 for exponent in (self.alpha, self.beta)):
            raise InputError(f"alpha and beta of RIBES must be numbers of at least 0, not {self.alpha} and {self.beta}")

    @property
    def name(self) -> str:
        return "ribes"

    @property
    def n_stats(self) -> int:
        return 2

    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        return split_words(lines, lowercase=self.lowercase)

    @property
    def ignores_case(self) -> bool:
        return self.lowercase

    def _count(self, words: WordArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        scores = _core.ribes_scores(*words, precision=self.alpha, brevity=self.beta, n_threads=n_threads)
        return np.stack([np.round(scores / _UNIT) * _UNIT, np.ones_like(scores)], axis=1)

    def _expected(self, lists: ListArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        return _core.expected_ribes(*lists, precision=self.alpha, brevity=self.beta, n_threads=n_threads)

    def score_of(self, total: Totals) -> Totals:
        """The mean; 0 without sentences."""
        total = np.asarray(total, dtype=np.float64)
        n = total[..., 1]
        return np.where(n > 0, total[..., 0] / np.where(n > 0, n, 1.0), 0.0)[()]

    def scorer(self) -> _core.Scorer:
        return _core.mean_scorer()

    def settings(self) -> Mapping[str, object]:
        return {"case": "lc" if self.lowercase else "mixed", "alpha": self.alpha, "beta": self.beta}
