"""The hierarchical decoder: chart search with cube pruning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex
from dragoman.lm import LanguageModel
from dragoman.search.chart_config import ChartConfig, ChartFeatures
from dragoman.search.decoder import Decoder
from dragoman.types import Float64Array, Int32Array, Int64Array, Progress

__all__ = ["ChartDecoder"]

_NO_LIMIT = 2**31 - 1


class ChartDecoder(Decoder[_core.RuleBatch]):
    """Chart decoding over given rules."""

    def __init__(
        self,
        config: ChartConfig,
        vocab: Vocab,
        index: FeatureIndex,
        *,
        features: ChartFeatures | None = None,
        lm: LanguageModel | None = None,
        n_unweighted: int = 0,
    ) -> None:
        """Of the scores of the rules the last `n_unweighted` are no features."""
        self.config = config
        self.features = features = ChartFeatures.chiang8() if features is None else features

        def id_(name: str | None) -> int:
            return -1 if name is None else index.intern(name)

        for name in features.names():
            index.intern(name)
        native = _core.ChartDecoder(
            pop_limit=config.pop_limit,
            beam=config.beam,
            rule_limit=0 if config.rule_limit is None else config.rule_limit,
            max_span=_NO_LIMIT if config.max_span is None else config.max_span,
            lm_feature=id_(features.lm),
            lm_oov=id_(features.lm_oov),
            words=id_(features.words),
            rules=id_(features.rules),
            glue=id_(features.glue),
            unknown=id_(features.unknown),
            arities=[id_(name) for name in features.arities],
            scores=[*(id_(name) for name in features.scores), *[-1] * n_unweighted],
            lm=None if lm is None else lm.native,
            lm_words=np.zeros(0, np.int32) if lm is None else lm.ids_of(vocab),
        )
        super().__init__(vocab, index, native, config.max_words)

    def references(
        self,
        batch: _core.RuleBatch,
        minimal: _core.RuleBatch | None,
        weights: Float64Array,
        targets: tuple[Int64Array, Int32Array],
        links: tuple[Int64Array, Int32Array],
        *,
        n_threads: int = 1,
        progress: Progress | None = None,
        **settings: Any,
    ) -> dict[str, NDArray[Any]]:
        """Arrays of the forests around given translations; see `ReferenceParser`."""
        settings |= self.meaning(batch)
        found: dict[str, NDArray[Any]] = self._native.references(
            batch, minimal, self.index, weights, *targets, *links, n_threads, progress, **settings
        )
        return found

    def labels(self, batch: _core.RuleBatch) -> tuple[str, ...]:
        return batch.labels if self.config.goal in batch.labels else (*batch.labels, self.config.goal)

    def offsets(self, batch: _core.RuleBatch) -> Int64Array:
        return batch.sentence_offsets

    def meaning(self, batch: _core.RuleBatch) -> dict[str, Any]:
        """The labels of the goal, of glue, and of out-of-vocabulary words."""
        names, config = batch.labels, self.config
        if len(set(names)) < len(names):
            raise ValueError(f"duplicate label in {names}")
        glue = [name for name in names if name != config.goal] if config.glue_labels is None else config.glue_labels
        unknown = names[:1] if config.unknown_labels is None else config.unknown_labels
        for name in (*glue, *unknown):
            if name not in names:
                raise ValueError(f"the rules have no label {name!r}; they have {', '.join(names)}")
        return {
            "goal": names.index(config.goal) if config.goal in names else len(names),
            "glue": sorted({names.index(name) for name in glue}),
            "unknown": sorted({names.index(name) for name in unknown}),
        }
