"""Named scores of JSON Lines, such as a quality estimate, as features."""

from __future__ import annotations

import numpy as np

from dragoman.candidates.features.base import CandidateBlock, CandidateFeature
from dragoman.errors import InputError
from dragoman.types import Float64Array

__all__ = ["NamedScore"]


class NamedScore(CandidateFeature):
    """A score of the candidates; where it is absent or null its mean over the list, and an indicator."""

    def __init__(self, argument: str | None) -> None:
        if not argument:
            raise InputError("score needs the name of a score of the JSON lines: score=qe")
        self._name = argument

    @property
    def names(self) -> tuple[str, ...]:
        return (self._name, f"{self._name}:absent")

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        if self._name not in block.pool.score_names:
            there = ", ".join(block.pool.score_names) or "none"
            raise InputError(f"the candidates have no score '{self._name}'; they have: {there}")
        column = block.pool.score_names.index(self._name)
        scores = block.shard.scores[:, column] if column < block.shard.scores.shape[1] else None
        result = np.zeros((block.shard.n_candidates, 2))
        if scores is None:
            result[:, 1] = 1
            return result
        absent = np.isnan(scores)
        of_each = block.shard.sentence_of_each()
        n_lists = block.shard.n_sentences
        known = np.where(absent, 0.0, scores)
        counts = np.bincount(of_each[~absent], minlength=n_lists)
        means = np.bincount(of_each, known, minlength=n_lists) / np.maximum(counts, 1)
        result[:, 0] = np.where(absent, means[of_each], known)
        result[:, 1] = absent
        return result
