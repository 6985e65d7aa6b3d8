"""The shared base of decoders: from options and weights to forests or k-best lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights, live_values
from dragoman.forest import Forest, KBest
from dragoman.search.forced import Forced, ForcedConfig, ForcedPairs
from dragoman.types import Float64Array, Int64Array, Progress

__all__ = ["Batch", "Decoder"]


class AnyBatch(Protocol):
    """Options of some sentences, owned by the native core.

    Features that the index lacked when they were built have ids of the batch's own, from 2^30 on: they weigh 0 until
    the index has them, and get its ids when they are on a candidate or an edge that a search returns.
    """

    @property
    def own_words(self) -> tuple[str, ...]:
        """Out-of-vocabulary words, which are copied; their ids follow those of the vocabulary."""
        ...

    def interned(self, index: FeatureIndex) -> Self:
        """The batch with all its features in the index."""
        ...


Batch = TypeVar("Batch", bound=AnyBatch)


class Decoder(ABC, Generic[Batch]):
    """Search over the options of a batch. Immutable; nothing weighted is kept between calls.

    `vocab` names the target ids of options; the dense features are interned into `index`, over which weights are
    given: Weights, or a live float64 buffer whose content counts at the time of a call.
    """

    def __init__(
        self, vocab: Vocab, index: FeatureIndex, native: _core.PhraseDecoder | _core.ChartDecoder, max_words: int
    ) -> None:
        self.vocab = vocab
        self.index = index
        self.max_words = max_words
        self._native: Any = native

    @abstractmethod
    def labels(self, batch: Batch) -> tuple[str, ...]:
        """Names of the labels of a forest's nodes."""

    @abstractmethod
    def offsets(self, batch: Batch) -> Int64Array:
        """Where the words of each sentence begin, and the end of the last."""

    def meaning(self, batch: Batch) -> dict[str, Any]:
        """Further arguments of the native search for a batch."""
        return {}

    def decode(
        self,
        batch: Batch,
        weights: Weights | Float64Array,
        *,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Forest]:
        """The search space of each sentence; empty if no derivation covers it. The index gets the features on edges.

        Raises InputError, as all searches do, for a sentence of more than `max_words` words.
        """
        self._check_lengths(batch)
        values = live_values(weights, self.index)
        cores = self._native.decode(batch, self.index, values, n_threads, progress, **self.meaning(batch))
        vocab, labels = self.vocab.extended(batch.own_words), self.labels(batch)
        return [Forest(core, vocab, self.index, labels=labels) for core in cores]

    def kbest(
        self,
        batch: Batch,
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        derivations: bool = False,
        steady: bool = False,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> KBest:
        """The k best candidates of each sentence; the same as from `decode`, without keeping the forests.

        The index gets their features, by sentence, candidate and name. With `derivations`, the lists say which rules
        every candidate is made of. A buffer of weights is copied first unless the caller says that it is `steady` until
        the call ends.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        self._check_lengths(batch)
        values, meaning = live_values(weights, self.index), self.meaning(batch)
        options = k, distinct, n_threads, progress, derivations, steady
        found = self._native.kbest(batch, self.index, values, *options, **meaning)
        return KBest.of(found)

    def force(
        self,
        batch: Batch,
        pairs: ForcedPairs,
        weights: Weights | Float64Array,
        config: ForcedConfig | None = None,
        *,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> Forced:
        """The best derivation of each given translation; the index gets its features.

        All options are looked at, also those beyond the limit of options or rules; no other limit is lifted.
        """
        self._check_lengths(batch)
        config = config or ForcedConfig()
        found = self._native.force(
            batch,
            self.index,
            live_values(weights, self.index),
            pairs.sentences,
            *pairs.targets,
            *pairs.copies,
            config.width,
            config.may_edit,
            n_threads,
            progress,
            **self.meaning(batch),
        )
        return Forced.of(found, pairs, self.index, self.labels(batch))

    def _check_lengths(self, batch: Batch) -> None:
        lengths = np.diff(self.offsets(batch))
        for number in np.flatnonzero(lengths > self.max_words)[:1].tolist():
            raise InputError(
                f"sentence {number + 1} of {len(lengths)} has {lengths[number]:,} words; at most {self.max_words:,} "
                "are searched at once (max_words): cut it into sentences"
            )
