"""What a decoder must offer to be the engine of a system, whatever its grammar."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np

from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Derivation, Forest, KBest
from dragoman.types import Float64Array, Progress

__all__ = ["Engine", "Preset", "live_values"]


class Preset(StrEnum):
    """How much search; speed and model score trade off."""

    FAST = "fast"
    DEFAULT = "default"
    ACCURATE = "accurate"


class Engine(Protocol):
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

    def alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Word links (source, target position) of a derivation that came from this engine's forests."""
        ...


def live_values(weights: Weights | Float64Array, index: FeatureIndex) -> Float64Array:
    """The weights as one number for each feature of the index; a caller's own buffer is used as it is.

    A buffer may be shorter than the index: features met later weigh 0.
    """
    if not isinstance(weights, np.ndarray):
        return weights.values if weights.index is index else weights.values_on(index)
    missing = len(index) - len(weights)
    return np.concatenate([weights, np.zeros(missing)]) if missing > 0 else weights
