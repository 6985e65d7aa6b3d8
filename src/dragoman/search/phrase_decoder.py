"""The phrase-based decoder: stack search with cube pruning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex
from dragoman.lm import LanguageModel
from dragoman.search.decoder import Decoder
from dragoman.search.phrase_config import Algorithm, PhraseConfig, PhraseFeatures, phrase15
from dragoman.types import Float64Array, Int32Array, Int64Array, Progress

__all__ = ["PhraseDecoder"]


class PhraseDecoder(Decoder[_core.PhraseBatch]):
    """Stack decoding over given options."""

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
        self.features = features = phrase15() if features is None else features

        def ids(names: Sequence[str]) -> list[int]:
            return [index.intern(name) for name in names]

        ids(features.names())
        native = _core.PhraseDecoder(
            stack_size=config.stack_size,
            pop_limit=config.pop_limit if config.algorithm is Algorithm.CUBE_PRUNING else 0,
            beam=config.beam,
            option_limit=0 if config.option_limit is None else config.option_limit,
            distortion_limit=-1 if config.distortion_limit is None else config.distortion_limit,
            lm_feature=index.intern(features.lm),
            words=index.intern(features.words),
            phrases=index.intern(features.phrases),
            unknown=index.intern(features.unknown),
            distortion=index.intern(features.distortion),
            scores=ids(features.scores),
            reordering=[
                (model.is_hierarchical, n := model.n_orientations, ids(names[:n]), ids(names[n:]))
                for model, names in zip(features.reordering, features.reordering_names(), strict=True)
            ],
            lm=None if lm is None else lm.native,
            lm_words=np.zeros(0, np.int32) if lm is None else lm.ids_of(vocab),
        )
        super().__init__(vocab, index, native, config.max_words)

    def references(
        self,
        batch: _core.PhraseBatch,
        weights: Float64Array,
        targets: tuple[Int64Array, Int32Array],
        links: tuple[Int64Array, Int32Array],
        *,
        n_threads: int = 1,
        progress: Progress | None = None,
        **settings: Any,
    ) -> dict[str, NDArray[Any]]:
        """Arrays of the forests around given translations; see `PhraseReferenceParser`."""
        found: dict[str, NDArray[Any]] = self._native.references(
            batch, self.index, weights, *targets, *links, n_threads, progress, **settings
        )
        return found

    def labels(self, batch: _core.PhraseBatch) -> tuple[str, ...]:
        return ()

    def offsets(self, batch: _core.PhraseBatch) -> Int64Array:
        return batch.pass_offsets
