"""n-gram language models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dragoman.candidates.features.base import CandidateBlock, CandidateFeature
from dragoman.errors import InputError
from dragoman.lm import LanguageModel
from dragoman.types import Float64Array

if TYPE_CHECKING:
    from dragoman.system import System

__all__ = ["LmScores"]


class LmScores(CandidateFeature):
    """Natural log probability and out-of-vocabulary words by a model, or by that of a system."""

    def __init__(self, argument: str | None) -> None:
        if not argument:
            raise InputError("lm needs a language model or a system: lm=FILE")
        if Path(argument).is_dir():
            from dragoman.system import System

            self._system: System | None = System.load(argument)
            self._lm = self._system.lm()
        else:
            self._system, self._lm = None, LanguageModel.load(argument)

    @property
    def names(self) -> tuple[str, ...]:
        return ("lm_score", "lm_unknown")

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        if self._system is not None:
            from dragoman.candidates.features.system_text import tokens_of

            block = tokens_of(self._system, block)
        scores = self._lm.score_batch(block.texts, n_threads=n_threads)
        return np.stack([scores.logprob, scores.n_unknown], axis=1)
