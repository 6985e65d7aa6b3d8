"""Lists as they are stored: derivations, dense features, statistics and totals; sparse features are computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dragoman.candidates import Pool, Shard
from dragoman.errors import InputError
from dragoman.forest import Derivations
from dragoman.types import Float32Array, Float64Array, Int32Array, Int64Array

__all__ = ["ALL_DATA", "ListShard"]

ALL_DATA = -1
"""In place of a fold: decoded by the view of all data."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListShard:
    """Lists of S lines with N candidates; line s has candidates sentences[s] to sentences[s + 1] (half-open)."""

    lines: Int32Array  # [S], ascending: line of the training text, from 0
    folds: NDArray[np.int16]  # [S]: the fold whose data the decoder did not have, or ALL_DATA
    source_lengths: Int32Array  # [S]: words
    sentences: Int64Array  # [S + 1]
    derivations: Derivations
    dense_names: tuple[str, ...]
    dense: Float32Array  # [N, number of dense features], as the decoder gave them
    stats: Float64Array  # [N, n_stats] of the metric; n_stats is 0 without one
    totals: Float64Array  # [N]: the decoder's total score

    def __post_init__(self) -> None:
        s, n = len(self.lines), len(self.totals)
        fits = (
            len(self.folds) == len(self.source_lengths) == s
            and len(self.sentences) == s + 1
            and self.sentences[0] == 0
            and self.sentences[-1] == n
            and (np.diff(self.sentences) >= 0).all()
            and (np.diff(self.lines) > 0).all()
            and self.lines.min(initial=0) >= 0
            and (self.derivations.n_sentences, self.derivations.n_candidates) == (s, n)
            and self.dense.shape == (n, len(self.dense_names))
            and len(self.stats) == n
        )
        if not fits:
            raise ValueError("the arrays of a shard of lists have inconsistent sizes")

    @property
    def n_lines(self) -> int:
        return len(self.lines)

    @property
    def n_candidates(self) -> int:
        return len(self.totals)

    @classmethod
    def of(cls, pool: Pool, shard: Shard, folds: NDArray[np.integer] | None) -> ListShard:
        """What is kept of a shard of a pool that has derivations. `folds` of its lines; None: the view of all data."""
        if shard.derivations is None:
            raise InputError("the candidates have no derivations; ask the decoder for them")
        ids = np.array(sorted(pool.dense), np.int32)
        return cls(
            lines=shard.sentence_ids,
            folds=np.full(shard.n_sentences, ALL_DATA, np.int16) if folds is None else folds.astype(np.int16),
            source_lengths=shard.source_lengths,
            sentences=shard.sentences,
            derivations=shard.derivations,
            dense_names=tuple(pool.dense_names()),
            dense=_columns(shard, ids),
            stats=shard.stats,
            totals=shard.totals,
        )


def _columns(shard: Shard, ids: Int32Array) -> Float32Array:
    """The values of some features, [N, number of them]."""
    column = np.full(int(max(shard.feature_ids.max(initial=-1), ids.max(initial=-1))) + 1, -1)
    column[ids] = np.arange(len(ids))
    columns = column[shard.feature_ids]
    rows = np.repeat(np.arange(shard.n_candidates), np.diff(shard.feature_rows))
    values = np.zeros((shard.n_candidates, len(ids)), np.float32)
    kept = columns >= 0
    values[rows[kept], columns[kept]] = shard.feature_values[kept]
    return values
