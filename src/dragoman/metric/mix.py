"""Linear combinations of metrics, such as (TER - BLEU) / 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric.base import Draws, Metric, Totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from dragoman.metric.segments import References, Segments, Spelling
    from dragoman.metric.sentence import SentenceBleu

__all__ = ["Mix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix(Metric):
    """A weighted sum of scores; the statistics are concatenated in the order of the terms.

    All terms must have the same direction: metrics that are better when lower need the opposite sign.
    """

    terms: tuple[tuple[float, Metric], ...]

    def _check(self) -> None:
        if not self.terms or any(weight == 0 or not np.isfinite(weight) for weight, _ in self.terms):
            raise InputError("a combination of metrics needs at least one term, each with a finite nonzero weight")
        if len({(weight > 0) == metric.higher_is_better for weight, metric in self.terms}) > 1:
            raise InputError(
                f"{self.name}: the terms have different directions; "
                "give metrics that are better when lower, such as ter, the opposite sign"
            )

    @property
    def name(self) -> str:
        """The sum in the syntax of `by_name`."""
        parts = [f"{'-' if weight < 0 else '+'} {abs(weight)!r}*{metric.name}" for weight, metric in self.terms]
        return " ".join(parts).removeprefix("+ ")

    @property
    def n_stats(self) -> int:
        return sum(metric.n_stats for _, metric in self.terms)

    @property
    def higher_is_better(self) -> bool:
        weight, metric = self.terms[0]
        return (weight > 0) == metric.higher_is_better

    def statistics(
        self,
        hyps: Segments,
        refs: References,
        *,
        sentence: NDArray[np.int32] | None = None,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        return np.concatenate(
            [
                metric.statistics(hyps, refs, sentence=sentence, spelling=spelling, n_threads=n_threads)
                for _, metric in self.terms
            ],
            axis=1,
        )

    def text_statistics(
        self,
        hyps: Sequence[str],
        refs: Sequence[Sequence[str]],
        *,
        sentence: NDArray[np.int32] | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """The concatenated statistics of the terms, each with its own tokenisation."""
        return np.concatenate(
            [metric.text_statistics(hyps, refs, sentence=sentence, n_threads=n_threads) for _, metric in self.terms],
            axis=1,
        )

    def score_of(self, total: Totals) -> Totals:
        scores = [weight * metric.score_of(part) for weight, metric, part in self._parts(total)]
        total_score: Totals = np.sum(scores, axis=0)
        return total_score

    def gain(self, total: Totals) -> Totals:
        """The weighted mean of the terms' gains: in [0, 1] if theirs are."""
        gains = [
            share * metric.gain(part) for share, (_, metric, part) in zip(self._shares, self._parts(total), strict=True)
        ]
        mean_gain: Totals = np.sum(gains, axis=0)
        return mean_gain

    def segment_gains(self, stats: Totals, sentence_bleu: SentenceBleu | None = None) -> NDArray[np.float64]:
        gains = np.zeros(len(stats))
        for share, (_, metric, part) in zip(self._shares, self._parts(stats), strict=True):
            gains += share * metric.segment_gains(part, sentence_bleu)
        return gains

    def expected_gains(
        self,
        hyps: Segments,
        lists: NDArray[np.int64],
        mass: NDArray[np.float64],
        *,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        return self._mean(
            metric.expected_gains(hyps, lists, mass, spelling=spelling, n_threads=n_threads) for _, metric in self.terms
        )

    def expected_text_gains(
        self, texts: Sequence[str], lists: NDArray[np.int64], mass: NDArray[np.float64], *, n_threads: int = 1
    ) -> NDArray[np.float64]:
        return self._mean(
            metric.expected_text_gains(texts, lists, mass, n_threads=n_threads) for _, metric in self.terms
        )

    def _mean(self, gains: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = np.sum(
            [share * each for share, each in zip(self._shares, gains, strict=True)], axis=0
        )
        return mean

    def scorer(self) -> _core.Scorer:
        return _core.mix_scorer(0.0, self._shares, [metric.scorer() for _, metric in self.terms])

    @property
    def in_context(self) -> bool:
        """Whether all terms are; numbers from outside have no corpus."""
        return all(metric.in_context for _, metric in self.terms)

    def context_prior(self) -> NDArray[np.float64]:
        return np.concatenate([metric.context_prior() for _, metric in self.terms])

    @property
    def uses_references(self) -> bool:
        return any(metric.uses_references for _, metric in self.terms)

    @property
    def reads_text(self) -> bool:
        return any(metric.reads_text for _, metric in self.terms)

    @property
    def has_known_scale(self) -> bool:
        return all(metric.has_known_scale for _, metric in self.terms)

    def length_ratio(self, total: Totals) -> float | None:
        """The length ratio of the first term that has one."""
        ratios = (metric.length_ratio(part) for _, metric, part in self._parts(total))
        return next((ratio for ratio in ratios if ratio is not None), None)

    def doubt(self, total: Totals) -> str | None:
        """The doubt of the first term that has one."""
        return next((doubt for _, metric, part in self._parts(total) if (doubt := metric.doubt(part))), None)

    def signature(self, n_refs: int | None, draws: Draws | None = None) -> str:
        return " ".join(f"{weight:+g}*{metric.name}|{metric.signature(n_refs, draws)}" for weight, metric in self.terms)

    @property
    def _shares(self) -> list[float]:
        size = sum(abs(weight) for weight, _ in self.terms)
        return [abs(weight) / size for weight, _ in self.terms]

    def _parts(self, total: Totals) -> Iterator[tuple[float, Metric, Totals]]:
        begin = 0
        for weight, metric in self.terms:
            yield weight, metric, total[..., begin : begin + metric.n_stats]
            begin += metric.n_stats
