"""Lengths, absolute and relative to the source."""

from __future__ import annotations

import numpy as np

from dragoman.candidates.features.base import CandidateBlock, CandidateFeature
from dragoman.errors import InputError
from dragoman.text import split_tokens
from dragoman.types import Float64Array

__all__ = ["Lengths"]


class Lengths(CandidateFeature):
    """Words, and the log ratio to the words of the source with its square: a Gaussian whose mean weights can move."""

    def __init__(self, argument: str | None) -> None:
        if argument:
            raise InputError(f"length takes no argument, not '{argument}'")

    @property
    def names(self) -> tuple[str, ...]:
        return ("length", "length_ratio", "length_ratio_squared")

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        sources = np.array([len(split_tokens(source)) for source in block.sources], dtype=np.float64)
        ratio = np.log((block.lengths + 1) / (sources[block.shard.sentence_of_each()] + 1))
        return np.stack([block.lengths, ratio, ratio**2], axis=1)
