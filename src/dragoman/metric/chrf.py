"""chrF and chrF++ (Popović 2015, 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric.base import ListArrays, Totals, WordArrays, WordMetric, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from dragoman.metric.segments import Spelling
    from dragoman.types import Int32Array, Int64Array

__all__ = ["Chrf"]


class _Orders(TypedDict):
    char_order: int
    word_order: int
    beta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chrf(WordMetric):
    """Character n-gram F-score, as in sacrebleu; with `word_order` 2 it is chrF++.

    Statistics: for each order, characters first, the numbers of n-grams in the hypothesis, in the reference, and in
    both, for the reference with the best F-score.
    """

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False

    def _check(self) -> None:
        if self.char_order < 0 or self.word_order < 0 or self.char_order + self.word_order == 0:
            raise InputError("chrF needs a positive character or word order, and no negative one")
        if self.beta <= 0:
            raise InputError(f"chrF needs a positive beta, not {self.beta}")

    @property
    def name(self) -> str:
        """`chrf` with one plus per word order."""
        return "chrf" + "+" * self.word_order

    @property
    def n_stats(self) -> int:
        return 3 * (self.char_order + self.word_order)

    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        return split_words(lines, lowercase=self.lowercase)

    def _count(self, words: WordArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        return _core.chrf_statistics(*words, *self._units(spelling), **self._orders(), n_threads=n_threads)

    def _expected(self, lists: ListArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        if self.char_order + self.word_order > 8:
            raise InputError("chrF between candidates needs orders of at most 8 together")
        return _core.expected_chrf(*lists, *self._units(spelling), **self._orders(), n_threads=n_threads)

    def _units(self, spelling: Spelling | None) -> tuple[Int64Array, Int32Array, Int64Array, Int32Array]:
        """Offsets and ids of characters and of pieces of words."""
        spelling = self._spelling_needed(spelling)
        if self.lowercase:
            spelling = spelling.lower
        characters = spelling.characters
        pieces = spelling.pieces if self.word_order else characters
        return characters.offsets, characters.ids, pieces.offsets, pieces.ids

    def _orders(self) -> _Orders:
        return {"char_order": self.char_order, "word_order": self.word_order, "beta": float(self.beta)}

    def score_of(self, total: Totals) -> Totals:
        """F-score of precision and recall averaged over the orders that occur."""
        total = np.asarray(total, dtype=np.float64)
        triples = total.reshape(*total.shape[:-1], -1, 3)
        hyp, ref, match = triples[..., 0], triples[..., 1], triples[..., 2]
        occurs = (hyp > 0) & (ref > 0)
        n_orders = np.maximum(occurs.sum(axis=-1), 1)
        precision = np.where(occurs, match / np.where(occurs, hyp, 1.0), 0.0).sum(axis=-1) / n_orders
        recall = np.where(occurs, match / np.where(occurs, ref, 1.0), 0.0).sum(axis=-1) / n_orders
        weight = float(self.beta**2)
        below = weight * precision + recall
        score: Totals = (1 + weight) * precision * recall / np.where(below > 0, below, 1.0)
        return score

    @property
    def in_context(self) -> bool:
        return True

    def scorer(self) -> _core.Scorer:
        return _core.chrf_scorer(self.char_order + self.word_order, float(self.beta))

    def doubt(self, total: Totals) -> str | None:
        """Without any match, the score is 0 for every choice."""
        return None if total[2::3].any() else "no candidate shares an n-gram with its reference"

    def settings(self) -> Mapping[str, object]:
        """As in sacrebleu; beta is added if it is not 2."""
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes",
            "nc": self.char_order,
            "nw": self.word_order,
            "space": "no",
            "beta": None if self.beta == 2 else self.beta,
        }
