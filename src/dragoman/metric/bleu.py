"""BLEU (Papineni et al. 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric.base import ListArrays, Totals, WordArrays, WordMetric
from dragoman.metric.sentence import SentenceBleu, brevity_penalty
from dragoman.metric.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from dragoman.metric.segments import Spelling

__all__ = ["Bleu", "BleuDetails", "ReferenceLength", "Smoothing"]


class Smoothing(StrEnum):
    """Smoothing of orders without a match (Chen and Cherry 2014)."""

    NONE = "none"
    FLOOR = "floor"
    ADD_K = "add-k"
    EXP = "exp"


class ReferenceLength(StrEnum):
    """The reference length of the brevity penalty; `closest` takes the shorter on ties."""

    CLOSEST = "closest"
    SHORTEST = "shortest"
    AVERAGE = "average"


@dataclass(frozen=True, slots=True, kw_only=True)
class BleuDetails:
    """What a BLEU score is made of; precisions are fractions, smoothed as in the score."""

    precisions: tuple[float, ...]
    """Of n-grams of order 1..N."""
    brevity_penalty: float
    length: float
    reference_length: float

    @property
    def length_ratio(self) -> float:
        """Hypothesis length over reference length; 0 if the references are empty."""
        return self.length / self.reference_length if self.reference_length > 0 else 0.0

    def __str__(self) -> str:
        """As sacrebleu writes it."""
        return (
            "/".join(f"{100 * precision:.1f}" for precision in self.precisions)
            + f" (BP = {self.brevity_penalty:.3f} ratio = {self.length_ratio:.3f}"
            + f" hyp_len = {self.length:.0f} ref_len = {self.reference_length:.0f})"
        )

    @staticmethod
    def mean(details: Sequence[BleuDetails]) -> BleuDetails:
        """Mean over runs, field by field."""
        return BleuDetails(
            precisions=tuple(np.mean([one.precisions for one in details], axis=0).tolist()),
            brevity_penalty=float(np.mean([one.brevity_penalty for one in details])),
            length=float(np.mean([one.length for one in details])),
            reference_length=float(np.mean([one.reference_length for one in details])),
        )


_DEFAULT_VALUE = {Smoothing.FLOOR: 0.1, Smoothing.ADD_K: 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bleu(WordMetric):
    """Corpus BLEU; the defaults are sacrebleu's except for the tokeniser.

    Statistics: hypothesis length, reference length, matches of order 1..N, n-grams of order 1..N.
    With `smoothing` none the score is 0 if any order has no match, as MERT requires. `smooth_value` is the floor or k;
    `effective_order` omits orders for which the hypotheses are too short.
    """

    max_order: int = 4
    smoothing: Smoothing = Smoothing.EXP
    smooth_value: float | None = None
    effective_order: bool = False
    reference_length: ReferenceLength = ReferenceLength.CLOSEST
    lowercase: bool = False
    tokenizer: Tokenizer = Tokenizer.NONE

    def _check(self) -> None:
        if self.max_order < 1:
            raise InputError(f"BLEU needs an n-gram order of at least 1, not {self.max_order}")
        if self.smooth_value is not None and self.smoothing not in _DEFAULT_VALUE:
            raise InputError(f"smoothing {self.smoothing} takes no value; omit it, or use floor or add-k")

    @property
    def _value(self) -> float:
        return _DEFAULT_VALUE.get(self.smoothing, 0.0) if self.smooth_value is None else self.smooth_value

    @property
    def name(self) -> str:
        """Always `bleu`; the signature distinguishes variants."""
        return "bleu"

    @property
    def n_stats(self) -> int:
        return 2 + 2 * self.max_order

    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        """Lowercased and tokenised according to the settings, then split at whitespace."""
        split = self.tokenizer.load()
        return [split((line.lower() if self.lowercase else line).rstrip()).split() for line in lines]

    @property
    def ignores_case(self) -> bool:
        return self.lowercase

    @property
    def reads_text(self) -> bool:
        return self.tokenizer is not Tokenizer.NONE

    @property
    def in_context(self) -> bool:
        """True; most single sentences score 0."""
        return True

    def context_prior(self) -> NDArray[np.float64]:
        """A trace of every n-gram: unsmoothed BLEU is 0 without a match, whatever the candidate."""
        return np.array([0.0, 0.0] + [0.01] * (2 * self.max_order))

    def _count(self, words: WordArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        length = _core.ReferenceLength[self.reference_length.name]
        return _core.bleu_statistics(*words, order=self.max_order, length=length, n_threads=n_threads)

    def _expected(self, lists: ListArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        """Of sacrebleu's sentence BLEU (exponential smoothing, effective order), regardless of `smoothing`."""
        return _core.expected_bleu(*lists, order=self.max_order, n_threads=n_threads)

    def score_of(self, total: Totals) -> Totals:
        """Brevity penalty times the geometric mean of the smoothed precisions."""
        total = np.asarray(total, dtype=np.float64)
        n = self.max_order
        any_match = total[..., 2 : 2 + n].any(axis=-1)
        correct, possible, usable = self._smoothed(total)
        with np.errstate(divide="ignore"):
            logs = np.log(np.where(usable, correct, 0.0) / np.where(usable, possible, 1.0))
        if self.effective_order:
            orders = np.maximum(usable.sum(axis=-1), 1)
            mean = np.where(usable, logs, 0.0).sum(axis=-1) / orders
        else:
            mean = logs.sum(axis=-1) / n
        result = np.where(any_match, brevity_penalty(total[..., 0], total[..., 1]) * np.exp(mean), 0.0)
        return result[()]

    def _smoothed(self, total: Totals) -> tuple[Totals, Totals, NDArray[np.bool_]]:
        """Matches and totals of each order, and which orders have any n-gram."""
        n = self.max_order
        correct, possible = total[..., 2 : 2 + n], total[..., 2 + n :]
        if self.smoothing is Smoothing.ADD_K:
            added = np.full(n, self._value)
            added[0] = 0
            correct, possible = correct + added, possible + added
        usable = np.logical_and.accumulate(possible > 0, axis=-1)
        missed = usable & (correct == 0)
        if self.smoothing is Smoothing.EXP:
            correct = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), correct)
        elif self.smoothing is Smoothing.FLOOR:
            correct = np.where(missed, self._value, correct)
        return correct, possible, usable

    def details(self, total: Totals) -> BleuDetails:
        """Precisions, brevity penalty and lengths, equal to sacrebleu's."""
        total = np.asarray(total, dtype=np.float64)
        correct, possible, usable = self._smoothed(total)
        any_match = total[2 : 2 + self.max_order].any()
        precisions = np.where(usable & any_match, correct, 0.0) / np.where(usable, possible, 1.0)
        length, reference = float(total[0]), float(total[1])
        return BleuDetails(
            precisions=tuple(precisions.tolist()),
            brevity_penalty=float(brevity_penalty(total[0], total[1])),
            length=length,
            reference_length=reference,
        )

    def segment_gains(self, stats: Totals, sentence_bleu: SentenceBleu | None = None) -> NDArray[np.float64]:
        """Smoothed sentence BLEU, BLEU+1 by default."""
        return np.ascontiguousarray((sentence_bleu or SentenceBleu()).score(stats), dtype=np.float64)

    def scorer(self) -> _core.Scorer:
        """Unsmoothed BLEU, regardless of `smoothing`."""
        return _core.bleu_scorer(self.max_order)

    def reference_lengths(self, stats: Totals) -> NDArray[np.float64]:
        return stats[:, 1]

    def length_ratio(self, total: Totals) -> float | None:
        """None if the references are empty."""
        return float(total[0] / total[1]) if total[1] > 0 else None

    def doubt(self, total: Totals) -> str | None:
        """Without a match of the highest order, BLEU is 0 for every choice."""
        n = self.max_order
        if total[1 + n] > 0 or total[1 + 2 * n] == 0:
            return None
        return f"no candidate shares a {n}-gram with its reference"

    def settings(self) -> Mapping[str, object]:
        """As in sacrebleu; settings that it lacks are added if they differ from its behaviour."""
        value = f"[{self._value:.2f}]" if self.smoothing in _DEFAULT_VALUE else ""
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes" if self.effective_order else "no",
            "tok": self.tokenizer.value,
            "smooth": self.smoothing.value + value,
            "order": None if self.max_order == 4 else self.max_order,
            "reflen": None if self.reference_length is ReferenceLength.CLOSEST else self.reference_length,
        }
