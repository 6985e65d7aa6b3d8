"""What a metric is: statistics of a segment, added up over a corpus, scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError
from dragoman.metric.segments import Lexicon, References
from dragoman.types import offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dragoman.metric.segments import Segments, Spelling

__all__ = ["Metric", "Totals", "WordMetric", "sentence_of_each", "spelling_needed", "write_signature"]

Totals = NDArray[np.float64]


class Metric(ABC):
    """Scores are fractions: 0.25 is what papers write as 25."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """As `by_name` reads it."""

    @property
    @abstractmethod
    def n_stats(self) -> int:
        """Numbers per segment."""

    @property
    def higher_is_better(self) -> bool:
        """Of `score`; `gain` is always better when higher."""
        return True

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

        `sentence` says which sentence of `refs` each candidate translates (default: candidate i sentence i);
        keep candidates of a sentence together, then its references are looked at once. Metrics that look
        inside words need `spelling`. Raises InputError where a candidate has no reference.
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
        """The same from lines of text and, per sentence, any number of reference lines."""

    @abstractmethod
    def score(self, total: Totals) -> Totals:
        """The score of summed statistics, [..., n_stats] -> [...]."""

    def gain(self, total: Totals) -> Totals:
        """A score that is better when higher, for optimisers."""
        score = self.score(total)
        return score if self.higher_is_better else 1 - score

    @abstractmethod
    def signature(
        self,
        n_refs: int | None,
        *,
        n_bootstrap: int | None = None,
        n_trials: int | None = None,
        seed: int | None = None,
    ) -> str:
        """What a reader needs to repeat the score; `n_refs` None says that it varies."""


class WordMetric(Metric):
    """A metric on words, with its own way to find them in text."""

    __slots__ = ()

    @abstractmethod
    def tokenise(self, lines: Iterable[str]) -> list[list[str]]:
        """The words of each line that `statistics` expects to get as ids."""

    def text_statistics(
        self,
        hyps: Sequence[str],
        refs: Sequence[Sequence[str]],
        *,
        sentence: NDArray[np.int32] | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Tokenises, numbers the words, and counts."""
        lexicon = Lexicon()
        hyp_segments = lexicon.segments(self.tokenise(hyps))
        references = References(
            ref_offsets=offsets_of([len(lines) for lines in refs]),
            segments=lexicon.segments(self.tokenise(chain.from_iterable(refs))),
        )
        return self.statistics(
            hyp_segments, references, sentence=sentence, spelling=lexicon.spelling(), n_threads=n_threads
        )


def write_signature(
    n_refs: int | None,
    settings: Mapping[str, object],
    *,
    n_bootstrap: int | None,
    n_trials: int | None,
    seed: int | None,
) -> str:
    """Fields in sacrebleu's order, with our version."""
    fields: dict[str, object] = {
        "nrefs": "var" if n_refs is None else n_refs,
        "bs": n_bootstrap,
        "ar": n_trials,
        "seed": seed,
        **settings,
        "version": f"dragoman-{version('dragoman')}",
    }
    return "|".join(f"{key}:{value}" for key, value in fields.items() if value is not None)


def sentence_of_each(hyps: Segments, refs: References, sentence: NDArray[np.int32] | None) -> NDArray[np.int32]:
    """The sentence of each candidate, counting up unless it was given."""
    if sentence is not None:
        return sentence
    if len(hyps) != len(refs):
        raise InputError(
            f"{len(hyps)} hypotheses but references of {len(refs)} sentences; "
            "give one hypothesis per sentence, or say which sentence each belongs to"
        )
    return np.arange(len(hyps), dtype=np.int32)


def spelling_needed(spelling: Spelling | None, name: str) -> Spelling:
    """The spelling, or an error that says why it is needed."""
    if spelling is None:
        raise InputError(f"{name} looks inside words: pass the spelling of the vocabulary with the word ids")
    return spelling
