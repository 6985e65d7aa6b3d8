"""The phrase-based decoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Forest, KBest
from dragoman.lm import LanguageModel
from dragoman.search.phrase_config import Algorithm, PhraseConfig, PhraseFeatures, phrase15
from dragoman.search.phrase_options import PhraseOptions
from dragoman.types import Float64Array, Progress

__all__ = ["PhraseDecoder"]


class PhraseDecoder:
    """Stack decoding over given options. Immutable; nothing weighted is kept between calls.

    `vocab` names the target ids of options; the dense features are interned into `index`, over which weights are
    given: Weights of that index, or a live float64 buffer whose content counts at the time of a call.
    """

    def __init__(
        self,
        config: PhraseConfig,
        vocab: Vocab,
        index: FeatureIndex,
        *,
        features: PhraseFeatures | None = None,
        lm: LanguageModel | None = None,
    ) -> None:
        self.config = config
        self.vocab = vocab
        self.index = index
        self.features = features = phrase15() if features is None else features
        self.lm = lm
        for name in features.names():
            index.intern(name)
        cube = config.algorithm is Algorithm.CUBE_PRUNING
        self._native = _core.PhraseDecoder(
            config.stack_size,
            config.pop_limit if cube else 0,
            config.beam,
            0 if config.option_limit is None else config.option_limit,
            -1 if config.distortion_limit is None else config.distortion_limit,
            index.intern(features.lm),
            index.intern(features.words),
            index.intern(features.phrases),
            index.intern(features.unknown),
            index.intern(features.distortion),
            self._ids(features.scores),
            [
                (model.is_hierarchical, n := model.n_orientations, self._ids(names[:n]), self._ids(names[n:]))
                for model, names in zip(features.reordering, features.reordering_names(), strict=True)
            ],
            None if lm is None else lm.native,
            np.zeros(0, np.int32) if lm is None else lm.ids_of(vocab),
        )

    def decode(
        self,
        options: PhraseOptions,
        weights: Weights | Float64Array,
        *,
        own_words: tuple[str, ...] = (),
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Forest]:
        """The search space of each sentence. `own_words` name the target ids beyond the vocabulary."""
        cores = self._native.decode(options.native(), self._values(weights), n_threads, progress)
        return [Forest(core, self.vocab, self.index, own_words=own_words) for core in cores]

    def kbest(
        self,
        options: PhraseOptions,
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> KBest:
        """The k best candidates of each sentence; the same as from `decode`, without keeping the forests."""
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        return KBest(*self._native.kbest(options.native(), self._values(weights), k, distinct, n_threads, progress))

    def _ids(self, names: Sequence[str]) -> list[int]:
        return [self.index.intern(name) for name in names]

    def _values(self, weights: Weights | Float64Array) -> Float64Array:
        return weights if isinstance(weights, np.ndarray) else weights.on(self.index).values
