"""What a method can learn from: lists, search spaces, a decoder at work, or a training text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from dragoman._core import WordTable
from dragoman.candidates import Pool, Shard
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Forest
from dragoman.types import Float64Array, Int32Array, Int64Array

if TYPE_CHECKING:
    from dragoman.optim.learner_pass import Learners, LearningTask

__all__ = ["LearnFrom", "LearningContext", "LearnsFrom", "LiveDecoder", "Material", "TextPlan"]


class LearnsFrom(StrEnum):
    """What a method learns from."""

    LISTS = "candidate lists"
    FORESTS = "search spaces"
    DECODING = "sentences that are decoded while it learns"
    TRAINING_TEXT = "the training text of a system with folds"


class LearnFrom(StrEnum):
    """The sentences that are learned from."""

    DEVELOPMENT = "development"  # those that measure the rounds too
    TRAINING = "training"  # lines of the training text, each decoded by the view that has not seen its fold
    LISTS = "lists"  # the same lines' lists, made once by the baseline's weights: for methods that learn from lists


class Material(StrEnum):
    """What is made once of lines of the training text, for a method to learn from."""

    LISTS = "lists"  # candidates, by decoding
    FORESTS = "forests"  # search spaces around the references


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPlan:
    """What a method that reads the training text by itself does before its last search, and what it needs for that."""

    steps: tuple[str, ...]
    """Names of its steps on disk, in order."""
    seed: int | None
    """That of the steps; None: that of the tuning."""
    loss: str
    """The method whose loss it takes gradients of."""
    loss_settings: Mapping[str, Any]
    n_lines: int
    """Lines of a search."""
    learns_sparse: bool
    """Whether it learns weights of sparse features."""


class LearningContext:
    """What a method may learn from besides the pool: this one offers nothing more, as fixed lists and foreign decoders.

    `k` and `distinct` say how many candidates of a sentence a method that decodes by itself asks for, and which.
    """

    offers: Collection[LearnsFrom] = (LearnsFrom.LISTS,)
    k: int = 0
    distinct: bool = False

    groups: Int64Array | None = None
    """The learner that each sentence of `live_decoder` belongs to, where not any learner may have any sentence."""
    templates: Collection[str] = ()
    """Those whose features the `live_decoder` does not know before it decodes."""

    @property
    def references(self) -> Sequence[Sequence[str]]:
        raise NotImplementedError

    def references_of(self, sentences: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """The references of some sentences of `live_decoder`."""
        return {sentence: self.references[sentence] for sentence in sentences}

    @property
    def dense(self) -> Sequence[str]:
        """Names of the dense features of the search spaces."""
        raise NotImplementedError

    def forests(self, weights: Weights, *, n_threads: int) -> Iterator[Forest]:
        """The search space of each sentence by these weights, all over one index."""
        raise NotImplementedError

    def live_decoder(self) -> LiveDecoder:
        """A decoder of single sentences."""
        raise NotImplementedError

    def learners(self, task: LearningTask, decoder: LiveDecoder) -> Learners:
        """Those who learn while they decode; `decoder` is what `live_decoder` gave."""
        raise NotImplementedError


class LiveDecoder(Protocol):
    """Candidates of single sentences by weights that keep changing. Threads may share it.

    `index` has all features and `words` all words that candidates can have; `dense` are the ids of the dense features;
    `lengths` are the words of each source sentence.
    """

    index: FeatureIndex
    words: WordTable
    dense: frozenset[int]
    lengths: Int32Array

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> Shard:
        """The k best candidates of one sentence, the best first; its id is its position.

        The weights must not change meanwhile.
        """
        ...

    def extraction_shares(self, ids: Int32Array) -> Float64Array:
        """How often the rules that features name were extracted, per sentence pair of the text they come from.

        0 where a feature names none.
        """
        ...

    def pool_of(self, shards: Sequence[Shard]) -> Pool:
        """Candidates of single sentences as a pool."""
        ...
