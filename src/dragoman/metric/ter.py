"""TER, the translation edit rate (Snover et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dragoman import _core
from dragoman.metric.base import Totals, WordMetric, sentence_of_each, spelling_needed, write_signature

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dragoman.metric.segments import References, Segments, Spelling

__all__ = ["Ter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ter(WordMetric):
    """Edits and block shifts per reference word, lower is better; as sacrebleu's default.

    Statistics: the fewest edits over the references, the mean length of the references.
    """

    case_sensitive: bool = False

    @property
    def name(self) -> str:
        """Always `ter`."""
        return "ter"

    @property
    def n_stats(self) -> int:
        """Edits and reference length."""
        return 2

    @property
    def higher_is_better(self) -> bool:
        """It counts errors."""
        return False

    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        """Words, lowercased unless case matters."""
        return [(line if self.case_sensitive else line.lower()).split() for line in lines]

    def statistics(
        self,
        hyps: Segments,
        refs: References,
        *,
        sentence: NDArray[np.int32] | None = None,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """[len(hyps), 2]; `spelling` is needed unless case matters."""
        hyp_ids, ref_ids = hyps.ids, refs.segments.ids
        if not self.case_sensitive:
            spelling = spelling_needed(spelling, "TER without case")
            hyp_ids, ref_ids = spelling.without_case(hyp_ids), spelling.without_case(ref_ids)
        return _core.ter_statistics(
            hyps.offsets,
            hyp_ids,
            sentence_of_each(hyps, refs, sentence),
            refs.ref_offsets,
            refs.segments.offsets,
            ref_ids,
            n_threads=n_threads,
        )

    def score(self, total: Totals) -> Totals:
        """Edits per reference word; against empty references 1 for anything and 0 for nothing."""
        total = np.asarray(total, dtype=np.float64)
        edits, length = total[..., 0], total[..., 1]
        rate = np.where(length > 0, edits / np.where(length > 0, length, 1.0), (edits > 0).astype(np.float64))
        return rate[()]

    def signature(
        self,
        n_refs: int | None,
        *,
        n_bootstrap: int | None = None,
        n_trials: int | None = None,
        seed: int | None = None,
    ) -> str:
        """As sacrebleu's."""
        return write_signature(
            n_refs,
            {
                "case": "mixed" if self.case_sensitive else "lc",
                "tok": "tercom",
                "norm": "no",
                "punct": "yes",
                "asian": "no",
            },
            n_bootstrap=n_bootstrap,
            n_trials=n_trials,
            seed=seed,
        )
