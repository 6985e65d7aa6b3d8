"""Agreement with the other candidates of the list: expected matches and gains under a posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu, Chrf
from dragoman.pool import expected_gains, posteriors, with_list_means
from dragoman.rescoring.base import CandidateBlock, CandidateFeature
from dragoman.types import Float64Array

__all__ = ["Agreement"]

_ORDER = 4


class Agreement(CandidateFeature):
    """Expected n-gram matches of order 1 to 4, expected sentence BLEU and chrF if a candidate is the reference.

    Uniform without argument; `l2r:0.5` makes candidates count by exp(0.5 · l2r), a feature of theirs, and `total:1` by
    the totals of the lists. A feature that is null counts as the mean of the list's others.
    """

    def __init__(self, argument: str | None) -> None:
        name, _, scale = (argument or "").partition(":")
        self._by = name
        try:
            self._scale = float(scale) if scale else 1.0
        except ValueError:
            raise InputError(f"agreement={argument}: expected a feature and a scale, such as l2r:0.5") from None
        self._stem = "agree" if not name else f"agree_{name}_{self._scale:g}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self._stem}_{what}" for what in (*range(1, _ORDER + 1), "bleu", "chrf"))

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        pool = replace(block.pool, shards=(block.shard,))
        if not self._by:
            (mass,) = posteriors(pool)
        elif self._by == "total":
            (mass,) = posteriors(pool, scale=self._scale, use_totals=True)
        elif pool.index.find(self._by) < 0:
            raise InputError(f"agreement: the candidates have no feature '{self._by}'")
        else:
            filled = replace(pool, shards=(with_list_means(block.shard, pool.index, self._by),))
            (mass,) = posteriors(filled, Weights.from_dict({self._by: 1.0}), scale=self._scale)
        shard = block.shard
        lists = np.ascontiguousarray(shard.sentences)
        rows = np.ascontiguousarray(shard.token_rows)
        tokens = np.ascontiguousarray(shard.tokens)
        matches = _core.expected_matches(rows, tokens, lists, mass, order=_ORDER, n_threads=n_threads)
        gains = [expected_gains(pool, metric, [mass], n_threads=n_threads)[0] for metric in (Bleu(), Chrf())]
        return np.concatenate([matches, np.stack(gains, axis=1)], axis=1)
