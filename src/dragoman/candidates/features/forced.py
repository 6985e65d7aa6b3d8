"""Forced decoding of the candidates by a system."""

from __future__ import annotations

import numpy as np

from dragoman.candidates.features.base import CandidateBlock, CandidateFeature
from dragoman.candidates.features.system_text import tokens_of
from dragoman.errors import InputError
from dragoman.search import Forced, ForcedConfig
from dragoman.system import System
from dragoman.types import Float64Array

__all__ = ["ForcedDerivations"]

_EDITS = ("deleted", "inserted", "copied")
_CONFIG = ForcedConfig(width=100)
"""Narrower than for people: a list has a hundred candidates, and most are out of reach."""


class ForcedDerivations(CandidateFeature):
    """The dense features and the score of the best derivation of a candidate by a system.

    Where the tables cannot make it, those of the nearest: with the fewest source words deleted, target words inserted
    and words copied, which are counted, and an indicator.
    """

    def __init__(self, argument: str | None) -> None:
        if not argument:
            raise InputError("forced needs a system that derives the candidates: forced=FOLDER")
        self._system = System.load(argument)
        self._dense = self._system.translator.dense()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"forced_{name}" for name in (*self._dense, "score", *_EDITS, "unreachable"))

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        block = tokens_of(self._system, block)
        found = self._system.translator.force(
            block.sources,
            block.texts,
            self._system.weights,
            sentences=block.shard.sentence_of_each().astype(np.int64),
            config=_CONFIG,
            grow=False,
            n_threads=n_threads,
        )
        edits = [np.diff(rows) for rows, _ in (found.deleted, found.inserted, found.copied)]
        edits[2] //= 2
        columns = [found.lists.totals, *edits, sum(edits) > 0]
        return np.concatenate([self._dense_values(found), np.stack(columns, axis=1)], axis=1)

    def _dense_values(self, found: Forced) -> Float64Array:
        index, lists = self._system.index, found.lists
        column = np.full(len(index), -1, np.int64)
        column[[index.find(name) for name in self._dense]] = np.arange(len(self._dense))
        places = column[lists.feature_ids]
        rows = np.repeat(np.arange(len(lists)), np.diff(lists.feature_rows))
        values = np.zeros((len(lists), len(self._dense)))
        # A block's value has two parts.
        np.add.at(values, (rows[places >= 0], places[places >= 0]), lists.feature_values[places >= 0])
        return values
