"""The interface of translators, for any kind of grammar."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Derivation, Forest, KBest
from dragoman.search import (
    EncodedSentences,
    Forced,
    ForcedConfig,
    ForcedPairs,
    PhraseReferenceParser,
    ReferenceParser,
    SearchBlocks,
)
from dragoman.search.decoder import Batch, Decoder
from dragoman.search.sentences import Sentences
from dragoman.settings import takes_text
from dragoman.types import Float64Array, Int32Array, Int64Array, Progress

__all__ = ["PreparedSentences", "Preset", "ShownPair", "Translator"]

Made = TypeVar("Made", covariant=True)

_FEATURE_IDS = ("feature_ids", "part_feature_ids", "context_feature_ids", "gap_feature_ids")
"""Arrays of a batch that name sparse features."""


class Preset(StrEnum):
    """Search effort: a trade-off between speed and model score."""

    FAST = "fast"
    DEFAULT = "default"
    ACCURATE = "accurate"


class Builder(Protocol[Made]):
    """From sentences to a decoder's options."""

    def build(
        self, sentences: Sentences, *, grow: bool = True, n_threads: int = 1, progress: Progress | None = None
    ) -> Made: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPair:
    """The sides of a rule or phrase pair."""

    source: str
    target: str
    is_added: bool = False
    """Whether it is a rule that decoders do not see."""


class Translator(ABC, Generic[Batch]):
    """Tables and a decoder, for one view of the data: options from a builder, then search.

    Keeps no weights between calls; thread-safe. `index` grows with the sparse features of what is found; `vocab` is
    the target side's.
    """

    in_a_row: ClassVar[bool] = False
    """Whether a derivation is a row of phrases, not a tree of rules."""

    def __init__(
        self,
        index: FeatureIndex,
        vocab: Vocab,
        builder: Builder[Batch],
        dense: Sequence[str],
        blocks: SearchBlocks | None = None,
    ) -> None:
        if blocks is not None:
            blocks.check(dense)
        self.index = index
        self.vocab = vocab
        self._builder = builder
        self._dense = tuple(dense) if blocks is None else (*dense, *blocks.names)
        self._decoders: dict[Preset, Decoder[Batch]] = {}
        for name in self._dense:
            index.intern(name)

    @property
    @abstractmethod
    def max_words(self) -> int:
        """Words of a sentence that are searched at once; for a longer one, searches raise InputError."""

    @abstractmethod
    @takes_text
    def new_decoder(self, preset: Preset) -> Decoder[Batch]:
        """A decoder with the search effort of the preset."""

    @abstractmethod
    def alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Word links (source, target position) of a derivation that came from this translator's forests."""

    @abstractmethod
    def reference_parser(self) -> PhraseReferenceParser | ReferenceParser:
        """Finds derivations of given translations, with the same options, language model and features."""

    @abstractmethod
    def shown_pair(self, number: int) -> ShownPair | None:
        """A rule or phrase pair of the view by its id, be it an added rule; None where the view lacks it."""

    def dense(self) -> tuple[str, ...]:
        return self._dense

    def extraction_shares(self, names: Sequence[str]) -> Float64Array:
        """How often the rule that a feature names was extracted from this view's data, per sentence pair.

        0 where a feature names none, or nobody counted.
        """
        return np.zeros(len(names))

    @takes_text
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
        batch = self._builder.build(sentences, n_threads=n_threads)
        return self._decoder(preset).decode(batch, weights, n_threads=n_threads, progress=progress)

    @takes_text
    def kbest(
        self,
        sentences: Sentences,
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        derivations: bool = False,
        grow: bool = True,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[KBest, Vocab]:
        """The k best candidates of each, and the vocabulary of their words, including words copied from the source.

        Without `grow`, sparse features that are not in the index, whose weight is 0, are left out.
        """
        batch = self._builder.build(sentences, grow=grow, n_threads=n_threads)
        best = self._decoder(preset).kbest(
            batch, weights, k, distinct=distinct, derivations=derivations, n_threads=n_threads, progress=progress
        )
        return best, self.vocab.extended(batch.own_words)

    def force(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        weights: Weights | Float64Array,
        *,
        sentences: Int64Array | None = None,
        config: ForcedConfig | None = None,
        grow: bool = True,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> Forced:
        """The best derivation of each given translation; all are tokens.

        Translation i is one of `sources[sentences[i]]`, by default of `sources[i]`. Without `grow`, sparse features
        that are not in the index are left out.
        """
        batch = self._builder.build(sources, grow=grow, n_threads=n_threads)
        pairs = ForcedPairs.encode(sources, targets, sentences, self.vocab, batch.own_words)
        decoder = self._decoder(Preset.DEFAULT)
        return decoder.force(batch, pairs, weights, config, n_threads=n_threads, progress=progress)

    @takes_text
    def prepare(
        self, sentences: Sequence[str | EncodedSentences], *, preset: Preset = Preset.DEFAULT
    ) -> PreparedSentences[Batch]:
        """Sentences, one by one, that are searched again and again; all their features are added to the index."""
        alone = [[sentence] if isinstance(sentence, str) else sentence for sentence in sentences]
        return PreparedSentences(self._decoder(preset), [self._builder.build(s).interned(self.index) for s in alone])

    def can_have(self, sentences: Sequence[str], features: Int32Array) -> NDArray[np.bool_]:
        """Whether some option of each sentence has each of these sparse features, [sentences, features].

        A feature that no option has cannot matter to the search of the sentence, whatever its weight.
        """
        found = np.zeros((len(sentences), len(features)), dtype=bool)
        for row, sentence in zip(found, sentences, strict=True):
            options = self._builder.build([sentence], grow=False)
            for ids in (getattr(options, name, None) for name in _FEATURE_IDS):
                if ids is not None:
                    row |= np.isin(features, ids)
        return found

    def _decoder(self, preset: Preset) -> Decoder[Batch]:
        if preset not in self._decoders:
            self._decoders[preset] = self.new_decoder(preset)
        return self._decoders[preset]


class PreparedSentences(Generic[Batch]):
    """Sentences with prebuilt options, so that a call costs little more than its search. Thread-safe."""

    def __init__(self, decoder: Decoder[Batch], batches: Sequence[Batch]) -> None:
        self._decoder = decoder
        self._batches = batches

    def vocab(self, sentence: int) -> Vocab:
        return self._decoder.vocab.extended(self._batches[sentence].own_words)

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> KBest:
        """The k best candidates of a sentence; the weights must not change meanwhile."""
        return self._decoder.kbest(self._batches[sentence], weights, k, distinct=distinct, steady=True)
