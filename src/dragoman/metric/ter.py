"""TER, the translation edit rate (Snover et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dragoman import _core
from dragoman.metric.base import Totals, WordArrays, WordMetric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from dragoman.metric.segments import Spelling

__all__ = ["Ter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ter(WordMetric):
    """Edits and block shifts per reference word, lower is better; sacrebleu's default.

    Statistics: the fewest edits over the references, the mean length of the references.
    """

    case_sensitive: bool = False

    @property
    def name(self) -> str:
        return "ter"

    @property
    def n_stats(self) -> int:
        return 2

    @property
    def higher_is_better(self) -> bool:
        return False

    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        return [(line if self.case_sensitive else line.lower()).split() for line in lines]

    @property
    def ignores_case(self) -> bool:
        return not self.case_sensitive

    def _count(self, words: WordArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        return _core.ter_statistics(*words, n_threads=n_threads)

    def score(self, total: Totals) -> Totals:
        """Edits per reference word; with empty references 0 for an empty hypothesis, else 1."""
        total = np.asarray(total, dtype=np.float64)
        edits, length = total[..., 0], total[..., 1]
        rate = np.where(length > 0, edits / np.where(length > 0, length, 1.0), (edits > 0).astype(np.float64))
        return rate[()]

    @property
    def in_context(self) -> bool:
        return True

    def scorer(self) -> _core.Scorer:
        return _core.ter_scorer()

    def reference_lengths(self, stats: Totals) -> NDArray[np.float64]:
        return stats[:, 1]

    def settings(self) -> Mapping[str, object]:
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": "no",
            "punct": "yes",
            "asian": "no",
        }
