"""The shared base of decoders: from options and weights to forests or k-best lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights, live_values
from dragoman.forest import Forest, KBest
from dragoman.types import Float64Array, Progress

__all__ = ["Batch", "Decoder"]


class AnyBatch(Protocol):
    """Options of some sentences, owned by the native core."""

    @property
    def own_words(self) -> tuple[str, ...]:
        """Out-of-vocabulary words, which are copied; their ids follow those of the vocabulary."""
        ...


Batch = TypeVar("Batch", bound=AnyBatch)


class Decoder(ABC, Generic[Batch]):
    """Search over the options of a batch. Immutable; nothing weighted is kept between calls.

    `vocab` names the target ids of options; the dense features are interned into `index`, over which weights are
    given: Weights, or a live float64 buffer whose content counts at the time of a call.
    """

    def __init__(self, vocab: Vocab, index: FeatureIndex, native: _core.PhraseDecoder | _core.ChartDecoder) -> None:
        self.vocab = vocab
        self.index = index
        self._native: Any = native

    @abstractmethod
    def labels(self, batch: Batch) -> tuple[str, ...]:
        """Names of the labels of a forest's nodes."""

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
        """The search space of each sentence; empty if no derivation covers it."""
        values = live_values(weights, self.index)
        cores = self._native.decode(batch, values, n_threads, progress, **self.meaning(batch))
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
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> KBest:
        """The k best candidates of each sentence; the same as from `decode`, without keeping the forests.

        With `derivations`, the lists say which rules every candidate is made of.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        values = live_values(weights, self.index)
        meaning = self.meaning(batch)
        return KBest.of(self._native.kbest(batch, values, k, distinct, n_threads, progress, derivations, **meaning))
