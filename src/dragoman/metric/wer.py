"""WER, the word error rate: edits without shifts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman import _core
from dragoman.metric.base import ListArrays, Totals, WordArrays, WordMetric, split_words
from dragoman.metric.ter import edit_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from dragoman.metric.segments import Spelling

__all__ = ["Wer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wer(WordMetric):
    """Substituted, inserted and deleted words per reference word, lower is better.

    Statistics, as of TER: the fewest edits over the references, the mean length of the references.
    """

    lowercase: bool = False

    @property
    def name(self) -> str:
        return "wer"

    @property
    def n_stats(self) -> int:
        return 2

    @property
    def higher_is_better(self) -> bool:
        return False

    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        return split_words(lines, lowercase=self.lowercase)

    @property
    def ignores_case(self) -> bool:
        return self.lowercase

    def _count(self, words: WordArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        return _core.wer_statistics(*words, n_threads=n_threads)

    def _expected(self, lists: ListArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        return _core.expected_wer(*lists, n_threads=n_threads)

    def score_of(self, total: Totals) -> Totals:
        return edit_rate(total)

    @property
    def in_context(self) -> bool:
        return True

    def scorer(self) -> _core.Scorer:
        return _core.ter_scorer()  # the same formula

    def reference_lengths(self, stats: Totals) -> NDArray[np.float64]:
        return stats[:, 1]

    def settings(self) -> Mapping[str, object]:
        return {"case": "lc" if self.lowercase else "mixed"}
