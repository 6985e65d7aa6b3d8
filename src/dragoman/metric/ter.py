"""TER, the translation edit rate (Snover et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dragoman import _core
from dragoman.metric.base import ListArrays, Totals, WordArrays, WordMetric, split_words
from dragoman.metric.edits import Edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from dragoman.metric.segments import Spelling
    from dragoman.types import Int32Array, Int64Array

__all__ = ["Ter", "edit_rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ter(WordMetric):
    """Edits and block shifts per reference word, lower is better; sacrebleu's default.

    Statistics: the fewest edits over the references, the mean length of the references.
    """

    case_sensitive: bool = False
    asian: bool = False
    """Punctuation is apart, and every CJK character is a word: sacrebleu's `normalized` and `asian_support`."""

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
        if not self.asian:
            return split_words(lines, lowercase=not self.case_sensitive)
        from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

        split = TercomTokenizer(normalized=True, asian_support=True, case_sensitive=self.case_sensitive)
        return [split(line).split() for line in lines]

    @property
    def ignores_case(self) -> bool:
        return not self.case_sensitive

    @property
    def reads_text(self) -> bool:
        return self.asian

    def _count(self, words: WordArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        return _core.ter_statistics(*words, n_threads=n_threads)

    def _expected(self, lists: ListArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        return _core.expected_ter(*lists, n_threads=n_threads)

    def edits(self, hyps: Sequence[str], refs: Sequence[Sequence[str]], *, n_threads: int = 1) -> Edits:
        """The edits between each line and the nearest of its references, of which `text_statistics` has the number."""
        segments, references, spelling = self._read(hyps, refs)
        found, n_shifts, offsets, steps, places, reference_places, is_shifted = _core.ter_edits(
            segments.offsets,
            segments.ids,
            np.arange(len(segments), dtype=np.int32),
            references.ref_offsets,
            references.segments.offsets,
            references.segments.ids,
            n_threads=n_threads,
        )
        n_steps = np.diff(offsets)
        nearest = references.segments.offsets[references.ref_offsets[:-1] + found]
        return Edits(
            references=found,
            n_shifts=n_shifts,
            offsets=offsets,
            steps=steps,
            words=_words(segments.ids, np.repeat(segments.offsets[:-1], n_steps), places),
            reference_words=_words(references.segments.ids, np.repeat(nearest, n_steps), reference_places),
            is_shifted=is_shifted,
            vocabulary=spelling.words,
        )

    def score_of(self, total: Totals) -> Totals:
        return edit_rate(total)

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
            "norm": "yes" if self.asian else "no",
            "punct": "yes",
            "asian": "yes" if self.asian else "no",
        }


def edit_rate(total: Totals) -> Totals:
    """Edits per reference word, [..., 2] -> [...]; with empty references 0 for an empty hypothesis, else 1."""
    total = np.asarray(total, dtype=np.float64)
    edits, length = total[..., 0], total[..., 1]
    rate = np.where(length > 0, edits / np.where(length > 0, length, 1.0), (edits > 0).astype(np.float64))
    return rate[()]


def _words(ids: Int32Array, begins: Int64Array, places: Int32Array) -> Int32Array:
    """The word at each place of the segment that begins there; -1 for place -1."""
    words = np.full(len(places), -1, dtype=np.int32)
    there = places >= 0
    words[there] = ids[begins[there] + places[there]]
    return words
