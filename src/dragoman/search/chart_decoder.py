"""The hierarchical decoder."""

from __future__ import annotations

import numpy as np

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Forest, KBest
from dragoman.lm import LanguageModel
from dragoman.search.chart_config import ChartConfig, ChartFeatures
from dragoman.search.chart_options import RuleOptions
from dragoman.types import Float64Array, Progress

__all__ = ["ChartDecoder"]

_NO_LIMIT = 2**31 - 1


class ChartDecoder:
    """Chart decoding over given rules. Immutable; nothing weighted is kept between calls.

    `vocab` names the target ids of rules; the dense features are interned into `index`, over which weights are
    given: Weights of that index, or a live float64 buffer whose content counts at the time of a call.
    """

    def __init__(
        self,
        config: ChartConfig,
        vocab: Vocab,
        index: FeatureIndex,
        *,
        features: ChartFeatures | None = None,
        lm: LanguageModel | None = None,
    ) -> None:
        self.config = config
        self.vocab = vocab
        self.index = index
        self.features = features = ChartFeatures.chiang8() if features is None else features
        self.lm = lm
        for name in features.names():
            index.intern(name)
        self._native = _core.ChartDecoder(
            config.pop_limit,
            config.beam,
            0 if config.rule_limit is None else config.rule_limit,
            _NO_LIMIT if config.max_span is None else config.max_span,
            self._id(features.lm),
            self._id(features.lm_oov),
            self._id(features.words),
            self._id(features.rules),
            self._id(features.glue),
            self._id(features.unknown),
            [self._id(name) for name in features.arities],
            [self._id(name) for name in features.scores],
            None if lm is None else lm.native,
            np.zeros(0, np.int32) if lm is None else lm.ids_of(vocab),
        )

    def decode(
        self,
        options: RuleOptions,
        weights: Weights | Float64Array,
        *,
        own_words: tuple[str, ...] = (),
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Forest]:
        """The search space of each sentence, empty where no derivation covers it.

        `own_words` name the target ids beyond the vocabulary.
        """
        cores = self._native.decode(
            options.native(), *self._labels(options), self._values(weights), n_threads, progress
        )
        labels = options.labels if self.config.goal in options.labels else (*options.labels, self.config.goal)
        return [Forest(core, self.vocab, self.index, labels=labels, own_words=own_words) for core in cores]

    def kbest(
        self,
        options: RuleOptions,
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
        labels = self._labels(options)
        values = self._values(weights)
        return KBest(*self._native.kbest(options.native(), *labels, values, k, distinct, n_threads, progress))

    def _labels(self, options: RuleOptions) -> tuple[int, list[int], list[int]]:
        """Of the goal, of glue, and of words passed through."""
        names, config = options.labels, self.config
        if len(set(names)) < len(names):
            raise ValueError(f"duplicate label in {names}")
        glue = [name for name in names if name != config.goal] if config.glue_labels is None else config.glue_labels
        unknown = names[:1] if config.unknown_labels is None else config.unknown_labels
        for name in (*glue, *unknown):
            if name not in names:
                raise ValueError(f"the rules have no label {name!r}; they have {', '.join(names)}")
        goal = names.index(config.goal) if config.goal in names else len(names)
        return goal, sorted({names.index(name) for name in glue}), sorted({names.index(name) for name in unknown})

    def _id(self, name: str | None) -> int:
        return -1 if name is None else self.index.intern(name)

    def _values(self, weights: Weights | Float64Array) -> Float64Array:
        return weights if isinstance(weights, np.ndarray) else weights.on(self.index).values
