"""Agreement with the other candidates of the list: expected matches and gains under a posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dragoman import _core
from dragoman.candidates import Pool, Shard, expected_gains, posteriors, with_list_means
from dragoman.candidates.features.base import CandidateBlock, CandidateFeature
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu, Chrf
from dragoman.types import Float64Array

__all__ = ["LEARNED", "Agreement", "filled_with_means", "stem_of"]

LEARNED = "learned"
"""In the place of a scale: `tune` finds it on the lists that it learns from."""
_ORDER = 4


class Agreement(CandidateFeature):
    """Expected n-gram matches of order 1 to 4, expected sentence BLEU and chrF if a candidate is the reference.

    Uniform without argument; `l2r:0.5` makes candidates count by exp(0.5 · l2r), a feature of theirs, and `total:1` by
    the totals of the lists. A feature that is null counts as the mean of the list's others. A scale that is `learned`
    has to be replaced by a number first (`agreement_scale`).
    """

    def __init__(self, argument: str | None) -> None:
        name, _, scale = (argument or "").partition(":")
        self._by = name
        if name and scale == LEARNED:
            raise InputError(
                f"agreement={argument}: a scale is learned from lists with references; use `tune --nbest … --add`, "
                f"which reports it, and give its number here: agreement={name}:0.5"
            )
        try:
            self._scale = float(scale) if scale else 1.0
        except ValueError:
            raise InputError(f"agreement={argument}: expected a feature and a scale, such as l2r:0.5") from None
        self._stem = "agree" if not name else stem_of(name, f"{self._scale:g}")

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
            filled = filled_with_means(pool, block.shard, self._by)
            (mass,) = posteriors(filled, Weights.from_dict({self._by: 1.0}), scale=self._scale)
        shard = block.shard
        lists = np.ascontiguousarray(shard.sentences)
        rows = np.ascontiguousarray(shard.token_rows)
        tokens = np.ascontiguousarray(shard.tokens)
        matches = _core.expected_matches(rows, tokens, lists, mass, order=_ORDER, n_threads=n_threads)
        gains = [expected_gains(pool, metric, [mass], n_threads=n_threads)[0] for metric in (Bleu(), Chrf())]
        return np.concatenate([matches, np.stack(gains, axis=1)], axis=1)


def stem_of(name: str, scale: str) -> str:
    """What the names of features with this posterior begin with."""
    return f"agree_{name}_{scale}"


def filled_with_means(pool: Pool, shard: Shard, name: str) -> Pool:
    """The shard alone; a candidate whose feature is null has the mean of its list's others."""
    return replace(pool, shards=(with_list_means(shard, pool.index, name),))
