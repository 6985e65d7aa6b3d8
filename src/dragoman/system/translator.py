"""What a decoder must offer to be the translator of a system, whatever its grammar."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

import numpy as np

from dragoman.corpus import Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Derivation, Forest, KBest
from dragoman.types import Float64Array, Progress

__all__ = ["PreparedSentences", "Preset", "SearchTranslator", "Translator", "live_values"]

Options = TypeVar("Options")
Made = TypeVar("Made", covariant=True)
Taken = TypeVar("Taken", contravariant=True)


class Preset(StrEnum):
    """How much search; speed and model score trade off."""

    FAST = "fast"
    DEFAULT = "default"
    ACCURATE = "accurate"


class Translator(Protocol):
    """Tables and a decoder, for one view of the data. Nothing weighted is kept between calls; threads may share it."""

    index: FeatureIndex
    """Over which weights are given and features come. Grows when sparse features are met for the first time."""
    vocab: Vocab
    """Of the target side."""

    def dense(self) -> tuple[str, ...]:
        """Names of the dense features."""
        ...

    def forests(
        self,
        sentences: Sequence[str],
        weights: Weights | Float64Array,
        *,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Forest]:
        """The search space of each sentence of tokens."""
        ...

    def kbest(
        self,
        sentences: Sequence[str],
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        grow: bool = True,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[KBest, tuple[str, ...]]:
        """The k best candidates of each, and the words that ids beyond the vocabulary stand for.

        Without `grow`, sparse features that the index lacks, which weigh nothing, are left out.
        """
        ...

    def prepare(self, sentences: Sequence[str], *, preset: Preset = Preset.DEFAULT) -> PreparedSentences:
        """Sentences to be searched again and again; the index learns all features that they can have."""
        ...

    def alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Word links (source, target position) of a derivation that came from this translator's forests."""
        ...


class PreparedSentences(Protocol):
    """Sentences whose options are built, so that a call costs little more than its search. Threads may share it."""

    def own_words(self, sentence: int) -> tuple[str, ...]:
        """The words that ids beyond the vocabulary stand for in candidates of this sentence."""
        ...

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> KBest:
        """The k best candidates of one sentence by weights over the index."""
        ...


class Builder(Protocol[Made]):
    """From sentences to what a decoder may use."""

    def build(
        self, sentences: Sequence[str], *, grow: bool = True, n_threads: int = 1, progress: Progress | None = None
    ) -> tuple[Made, tuple[str, ...]]:
        """Options, and the words of target ids beyond the vocabulary."""
        ...


class Searcher(Protocol[Taken]):
    """The interface of decoders that translators use."""

    def decode(
        self,
        options: Taken,
        weights: Weights | Float64Array,
        *,
        own_words: tuple[str, ...] = (),
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Forest]:
        """The search space of each sentence."""
        ...

    def kbest(
        self,
        options: Taken,
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> KBest:
        """The k best candidates of each sentence."""
        ...


class SearchTranslator(ABC, Generic[Options]):
    """What the translators share: options from a builder, then search by a decoder of the preset."""

    def __init__(self, index: FeatureIndex, vocab: Vocab, builder: Builder[Options], dense: Sequence[str]) -> None:
        self.index = index
        self.vocab = vocab
        self._builder = builder
        self._dense = tuple(dense)
        self._decoders: dict[Preset, Searcher[Options]] = {}
        for name in self._dense:
            index.intern(name)

    @abstractmethod
    def new_decoder(self, preset: Preset) -> Searcher[Options]:
        """A decoder that searches as much as the preset says."""

    def dense(self) -> tuple[str, ...]:
        """Names of the dense features."""
        return self._dense

    def forests(
        self,
        sentences: Sequence[str],
        weights: Weights | Float64Array,
        *,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Forest]:
        """The search space of each sentence of tokens."""
        options, own_words = self._builder.build(sentences, n_threads=n_threads)
        values = live_values(weights, self.index)  # after the options, which may name new features
        with _sound_tables():
            return self._decoder(preset).decode(
                options, values, own_words=own_words, n_threads=n_threads, progress=progress
            )

    def kbest(
        self,
        sentences: Sequence[str],
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        grow: bool = True,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[KBest, tuple[str, ...]]:
        """The k best candidates of each, and the words that ids beyond the vocabulary stand for."""
        options, own_words = self._builder.build(sentences, grow=grow, n_threads=n_threads)
        values = live_values(weights, self.index)
        with _sound_tables():
            best = self._decoder(preset).kbest(
                options, values, k, distinct=distinct, n_threads=n_threads, progress=progress
            )
        return best, own_words

    def prepare(self, sentences: Sequence[str], *, preset: Preset = Preset.DEFAULT) -> PreparedSentences:
        """Sentences to be searched again and again; the index learns all features that they can have."""
        return _Prepared(self._decoder(preset), [self._builder.build([sentence]) for sentence in sentences])

    def _decoder(self, preset: Preset) -> Searcher[Options]:
        if preset not in self._decoders:
            self._decoders[preset] = self.new_decoder(preset)
        return self._decoders[preset]


class _Prepared(Generic[Options]):
    def __init__(self, decoder: Searcher[Options], sentences: Sequence[tuple[Options, tuple[str, ...]]]) -> None:
        self._decoder = decoder
        self._sentences = sentences

    def own_words(self, sentence: int) -> tuple[str, ...]:
        return self._sentences[sentence][1]

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> KBest:
        with _sound_tables():
            return self._decoder.kbest(self._sentences[sentence][0], weights, k, distinct=distinct)


@contextlib.contextmanager
def _sound_tables() -> Iterator[None]:
    """What search refuses to work with was in the tables of the system."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("translation "):
            raise
        raise InputError(f"{error}; the system may be damaged: see `dragoman system verify`") from error


def live_values(weights: Weights | Float64Array, index: FeatureIndex) -> Float64Array:
    """The weights as one number for each feature of the index; a caller's own buffer is used as it is.

    A buffer may be shorter than the index: features met later weigh 0.
    """
    if not isinstance(weights, np.ndarray):
        return weights.values if weights.index is index else weights.values_on(index)
    missing = len(index) - len(weights)
    return np.concatenate([weights, np.zeros(missing)]) if missing > 0 else weights
