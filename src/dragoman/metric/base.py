"""The interface of metrics: segment statistics, summed over a corpus and scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError
from dragoman.metric.segments import Lexicon, References
from dragoman.metric.text import score_text
from dragoman.settings import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dragoman import _core
    from dragoman.metric.bleu import BleuDetails
    from dragoman.metric.segments import Segments, Spelling
    from dragoman.metric.sentence import SentenceBleu

__all__ = ["Draws", "ListArrays", "Metric", "Totals", "WordArrays", "WordMetric", "split_words"]

Totals = NDArray[np.float64]

WordArrays = tuple[
    NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]
]
"""Offsets and ids of the hypotheses, their sentences, and the references: offsets by sentence, offsets, ids."""

ListArrays = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]
"""Offsets and ids of the candidates, offsets of the lists, and the mass of each candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Number of random draws of significance tests: bootstrap resamples, trials of a randomisation test."""

    n_bootstrap: int = 0
    n_trials: int = 0
    seed: int = 0


class Metric(Record, ABC):
    """A metric. Scores are fractions: 0.25 is 25 points in papers.

    A metric must define the members up to `score_of`; the others have defaults that suit most.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that `by_name` accepts."""

    @property
    @abstractmethod
    def n_stats(self) -> int:
        """Number of statistics per segment."""

    @abstractmethod
    def statistics(
        self,
        hyps: Segments,
        refs: References,
        *,
        sentence: NDArray[np.int32] | None = None,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Statistics of each candidate, [len(hyps), n_stats].

        `sentence` is the sentence of `refs` that each candidate translates (default: candidate i sentence i); keep
        candidates of a sentence together, so that its references are processed once. Character-level metrics need
        `spelling`. Raises InputError when a candidate has no reference.
        """

    @abstractmethod
    def text_statistics(
        self,
        hyps: Sequence[str],
        refs: Sequence[Sequence[str]],
        *,
        sentence: NDArray[np.int32] | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """The same from text, with any number of references per sentence."""

    @abstractmethod
    def score_of(self, total: Totals) -> Totals:
        """The score of summed statistics, [..., n_stats] -> [...]."""

    def score(
        self, hyps: Sequence[str], refs: Sequence[str] | Sequence[Sequence[str | None]], *, n_threads: int = 1
    ) -> float:
        """The corpus score of lines of text in the metric's own direction (TER: lower is better).

        `refs` is one line for each of `hyps`, or as in sacrebleu several such lists, one per reference, in which a
        None is a missing reference.
        """
        return score_text(self, hyps, refs, n_threads=n_threads).score

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher `score` is better; a higher `gain` always is."""
        return True

    def gain(self, total: Totals) -> Totals:
        """A score that is better when higher, for optimisers."""
        score = self.score_of(total)
        return score if self.higher_is_better else 1 - score

    def segment_gains(self, stats: Totals, sentence_bleu: SentenceBleu | None = None) -> NDArray[np.float64]:
        """The sentence-level gain of each candidate, [n, n_stats] -> [n]; `sentence_bleu` is the smoothing of BLEU."""
        return np.ascontiguousarray(self.gain(stats), dtype=np.float64)

    def expected_gains(
        self,
        hyps: Segments,
        lists: NDArray[np.int64],
        mass: NDArray[np.float64],
        *,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """For each candidate, the sum over the candidates r of its list of mass[r] times its sentence gain against r.

        List l has the candidates lists[l]:lists[l + 1], [n_lists + 1]; `mass` is a number per candidate. This is what
        minimum-Bayes-risk decoding maximises. Raises InputError where the metric cannot take a candidate as reference.
        """
        raise self._no_kernel()

    def expected_text_gains(
        self, texts: Sequence[str], lists: NDArray[np.int64], mass: NDArray[np.float64], *, n_threads: int = 1
    ) -> NDArray[np.float64]:
        """The same from text, which the metric tokenises."""
        raise self._no_kernel()

    def _no_kernel(self) -> InputError:
        return InputError(
            f"{self.name} cannot compare candidates with each other; use bleu, chrf, chrf++, ter, wer or ribes"
        )

    def scorer(self) -> _core.Scorer:
        """The gain of summed statistics for native kernels. Raises InputError if the metric has no native scorer."""
        raise InputError(f"{self.name} cannot be optimised by this method: it has no native scorer")

    @property
    def uses_references(self) -> bool:
        return True

    @property
    def reads_text(self) -> bool:
        """Whether the metric tokenises text itself, so that it cannot be computed from word ids."""
        return False

    @property
    def has_known_scale(self) -> bool:
        """Whether gains are in [0, 1], as step sizes and thresholds assume."""
        return True

    def details(self, total: Totals) -> BleuDetails | None:
        """What a BLEU score is made of; None for other metrics."""
        return None

    def points(self, score: float) -> float:
        """A score as papers write it, 25 for 0.25; as it is where the scale is unknown."""
        return 100 * score if self.has_known_scale else score

    def shown(self, score: float, after: float | None = None) -> str:
        """A score as text, in points where the scale is known; with a later one, what it became."""
        number = f"{self.points(score):{'.2f' if self.has_known_scale else '.6g'}}"
        return number if after is None else f"{number} -> {self.shown(after)}"

    def describe(self, score: float, after: float | None = None) -> str:
        """Name and score in one line; an arrow where lower is better."""
        return f"{self.name}{'' if self.higher_is_better else ' ↓'}: {self.shown(score, after)}"

    @property
    def in_context(self) -> bool:
        """Whether margin learners take gains with other translations, whose statistics add up to those of a corpus."""
        return False

    def context_prior(self) -> NDArray[np.float64]:
        """What is added to the statistics of any context, [n_stats], so that it tells candidates apart."""
        return np.zeros(self.n_stats)

    def reference_lengths(self, stats: Totals) -> NDArray[np.float64] | None:
        """Reference length of each candidate, [n, n_stats] -> [n]; None if not in the statistics."""
        return None

    def length_ratio(self, total: Totals) -> float | None:
        """Hypothesis length over reference length; None if not in the statistics."""
        return None

    def doubt(self, total: Totals) -> str | None:
        """Why every choice among candidates with these summed statistics scores 0; None if some choice does not."""
        return None

    def settings(self) -> Mapping[str, object]:
        """Fields of the signature; None values are omitted."""
        return {}

    def signature(self, n_refs: int | None, draws: Draws | None = None) -> str:
        """The signature for reproducing the score, in sacrebleu's order; `n_refs` None means that it varies."""
        draws = draws or Draws()
        fields: dict[str, object] = {
            "nrefs": "var" if n_refs is None else n_refs,
            "bs": draws.n_bootstrap or None,
            "ar": draws.n_trials or None,
            "seed": draws.seed if draws.n_bootstrap or draws.n_trials else None,
            **self.settings(),
            "version": f"dragoman-{version('dragoman')}",
        }
        return "|".join(f"{key}:{value}" for key, value in fields.items() if value is not None)


def split_words(lines: Iterable[str], *, lowercase: bool) -> list[list[str]]:
    """What stands between white space on each line."""
    return [(line.lower() if lowercase else line).split() for line in lines]


class WordMetric(Metric):
    """A metric on words, with its own tokenisation of text."""

    __slots__ = ()

    @abstractmethod
    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        """The words of each line, whose ids `statistics` takes."""

    @abstractmethod
    def _count(self, words: WordArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        """Statistics of checked arrays."""

    @property
    def ignores_case(self) -> bool:
        """Whether words that differ only in case are equal, which requires `spelling`."""
        return False

    def statistics(
        self,
        hyps: Segments,
        refs: References,
        *,
        sentence: NDArray[np.int32] | None = None,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """[len(hyps), n_stats]; character-level metrics need `spelling`."""
        if sentence is None:
            if len(hyps) != len(refs):
                raise InputError(
                    f"{len(hyps)} hypotheses but references of {len(refs)} sentences; "
                    "give one hypothesis per sentence, or the sentence of each hypothesis"
                )
            sentence = np.arange(len(hyps), dtype=np.int32)
        hyp_ids, ref_ids = hyps.ids, refs.segments.ids
        if self.ignores_case:
            spelling = self._spelling_needed(spelling)
            hyp_ids, ref_ids = spelling.without_case(hyp_ids), spelling.without_case(ref_ids)
        words = (hyps.offsets, hyp_ids, sentence, refs.ref_offsets, refs.segments.offsets, ref_ids)
        return self._count(words, spelling, n_threads)

    def expected_gains(
        self,
        hyps: Segments,
        lists: NDArray[np.int64],
        mass: NDArray[np.float64],
        *,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        ids = hyps.ids
        if self.ignores_case:
            ids = self._spelling_needed(spelling).without_case(ids)
        return self._expected((hyps.offsets, ids, lists, mass), spelling, n_threads)

    def expected_text_gains(
        self, texts: Sequence[str], lists: NDArray[np.int64], mass: NDArray[np.float64], *, n_threads: int = 1
    ) -> NDArray[np.float64]:
        lexicon = Lexicon()
        hyps = lexicon.segments(self.tokenise(texts))
        return self.expected_gains(hyps, lists, mass, spelling=lexicon.spelling(), n_threads=n_threads)

    def _expected(self, lists: ListArrays, spelling: Spelling | None, n_threads: int) -> NDArray[np.float64]:
        """Expected gains of checked arrays: one reference after another, for a metric without a kernel for them."""
        offsets, ids, ends, mass = lists
        gains = np.zeros(len(mass))
        for begin, end in pairwise(ends.tolist()):
            hyps = offsets[begin : end + 1] - offsets[begin], ids[offsets[begin] : offsets[end]]
            for candidate in begin + np.flatnonzero(mass[begin:end]):
                reference = ids[offsets[candidate] : offsets[candidate + 1]]
                spans = np.array([0, 1]), np.array([0, len(reference)])
                words = (*hyps, np.zeros(end - begin, np.int32), *spans, reference)
                gains[begin:end] += mass[candidate] * self.segment_gains(self._count(words, spelling, n_threads))
        return gains

    def text_statistics(
        self,
        hyps: Sequence[str],
        refs: Sequence[Sequence[str]],
        *,
        sentence: NDArray[np.int32] | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Tokenise, map words to ids, and count."""
        segments, references, spelling = self._read(hyps, refs)
        return self.statistics(segments, references, sentence=sentence, spelling=spelling, n_threads=n_threads)

    def _read(self, hyps: Sequence[str], refs: Sequence[Sequence[str]]) -> tuple[Segments, References, Spelling]:
        """Word ids of tokenised text, and their spelling."""
        lexicon = Lexicon()
        segments = lexicon.segments(self.tokenise(hyps))
        words = iter(self.tokenise(chain.from_iterable(refs)))
        references = lexicon.references(islice(words, len(lines)) for lines in refs)
        return segments, references, lexicon.spelling()

    def _spelling_needed(self, spelling: Spelling | None) -> Spelling:
        if spelling is None:
            raise InputError(f"{self.name} is character-based: pass the spelling of the vocabulary with the word ids")
        return spelling
