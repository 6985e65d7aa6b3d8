"""A system's decoder as the outer loop wants it: here, or by the workers of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dragoman.candidates import Pool
from dragoman.features import FeatureIndex, Weights
from dragoman.settings import takes_text
from dragoman.system import ListsJob, Preset, SystemView, kbest_by_engine
from dragoman.tuning.decoder import Decoder
from dragoman.types import Progress
from dragoman.work.engine import Engine

__all__ = ["EngineDecoder", "SystemDecoder"]


class SystemDecoder(Decoder):
    """A system and a development set, as the outer loop wants them."""

    @takes_text
    def __init__(
        self,
        view: SystemView,
        sentences: Sequence[str],
        *,
        k: int = 100,
        distinct: bool = False,
        preset: Preset = Preset.DEFAULT,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self._view = view
        self._sentences = sentences
        self._k = k
        self._distinct = distinct
        self._preset = preset
        self._n_threads = n_threads
        self._progress = progress

    def decode(self, weights: Weights) -> Pool:
        """The k best candidates of every sentence."""
        return self._view.kbest(
            self._sentences,
            self._k,
            weights=weights.on(self._view.index),
            distinct=self._distinct,
            preset=self._preset,
            n_threads=self._n_threads,
            progress=self._progress,
        )


class EngineDecoder(SystemDecoder):
    """A system's decoder whose sentences are shared out among the workers of an engine."""

    def __init__(self, engine: Engine, view: SystemView, sentences: Sequence[str], **settings: Any) -> None:
        super().__init__(view, sentences, **settings)
        self._engine = engine

    def decode(self, weights: Weights) -> Pool:
        weights.on(self._view.index)  # the order of features is that of decoding here: known weights come first
        job = ListsJob(
            view=self._view,
            weights=weights.on(FeatureIndex()),
            k=self._k,
            distinct=self._distinct,
            preset=self._preset,
        )
        return kbest_by_engine(self._engine, job, self._sentences, progress=self._progress)
