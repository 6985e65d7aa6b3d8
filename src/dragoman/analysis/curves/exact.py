"""The corpus score as a function of one weight, from candidate lists: exact, with all its corners.

While all other weights stay, a candidate's model score is a line in the weight of one feature, the best candidate of
a sentence an upper envelope of such lines, and the corpus score is constant between any two neighbouring corners of
the envelopes of all sentences (Och 2003). A candidate below the envelope of its list stays below it when the list
grows, so `on_envelopes` may drop it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dragoman._core import best_candidates, model_scores
from dragoman.candidates import Pool, Shard, metric_of, weights_for
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Metric
from dragoman.types import Float64Array, Int64Array

__all__ = ["MAX_WEIGHT", "Curve", "Stretch", "check_range", "curve_of", "differing", "feature_column", "on_envelopes"]

MAX_WEIGHT = 1e100
"""Of a weight: sums of some million scores stay finite."""
_NARROW = 1e-9
"""Corners nearer than this part of the range are one: where they lie exactly is a matter of rounding."""
_SAME = 1e-12
"""Scores that differ by no more are equal."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Weights between two corners, and the score of all of them."""

    low: float
    high: float
    score: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """The score of the best candidates for every weight of a feature from `low` to `high`.

    Between corners i - 1 and i it is scores[i], in the metric's own direction. Neighbours with the same score are one.
    """

    feature: str
    metric: Metric
    low: float
    high: float
    corners: Float64Array  # [n], ascending, inside the range
    scores: Float64Array  # [n + 1]
    n_changes: int
    """How often the best candidate of a sentence changes, whether the score does or not."""

    def at(self, weight: float) -> float:
        """The score at a weight of the range; at a corner, that of the weights above it."""
        return float(self.scores[np.searchsorted(self.corners, weight, side="right")])

    def stretches(self) -> Iterator[Stretch]:
        """The whole curve, in the order of the weight."""
        ends = [self.low, *self.corners.tolist(), self.high]
        for low, high, score in zip(ends, ends[1:], self.scores.tolist(), strict=False):
            yield Stretch(low, high, score)

    def best(self) -> Stretch:
        """Where the score is best; of equally good stretches the widest."""
        gains = self.scores if self.metric.higher_is_better else -self.scores
        ends = np.array([self.low, *self.corners, self.high])
        widths = np.where(gains >= gains.max() - _SAME, np.diff(ends), -np.inf)
        i = int(np.argmax(widths))
        return Stretch(float(ends[i]), float(ends[i + 1]), float(self.scores[i]))

    def span(self) -> float:
        """The difference between the highest and the lowest score."""
        return float(self.scores.max() - self.scores.min())


def curve_of(pool: Pool, weights: Weights, feature: str, low: float, high: float, *, n_threads: int = 1) -> Curve:
    """The curve of one weight from `low` to `high`; the other weights are fixed. The pool has a metric.

    Raises InputError for a range without weights between its ends.
    """
    metric = metric_of(pool)
    check_range(low, high)
    total, places, steps = np.zeros(metric.n_stats), [np.zeros(0)], [np.zeros((0, metric.n_stats))]
    for shard, found in _envelopes(pool, weights, feature, low, high, n_threads):
        total = total + shard.stats[found.first].sum(axis=0)
        places.append(found.places)
        steps.append(shard.stats[found.after] - shard.stats[found.before])
    at = np.concatenate(places)
    order = np.argsort(at, kind="stable")
    at = at[order]
    totals = total + np.concatenate([np.zeros((1, metric.n_stats)), np.cumsum(np.concatenate(steps)[order], axis=0)])
    narrow = _NARROW * (high - low)
    n_below = np.count_nonzero(at <= low + narrow)  # corners at the lower end
    apart = np.diff(at, append=high) > narrow  # corner i from the one after it, or from the upper end
    apart[:n_below] = False
    corners = at[apart]
    scores = np.asarray(metric.score_of(totals[[n_below, *np.flatnonzero(apart) + 1]]), dtype=np.float64)
    changed = np.abs(np.diff(scores)) > _SAME
    return Curve(
        feature=feature,
        metric=metric,
        low=low,
        high=high,
        corners=corners[changed],
        scores=scores[np.concatenate([[True], changed])],
        n_changes=len(at),
    )


def on_envelopes(pool: Pool, weights: Weights, feature: str, low: float, high: float, *, n_threads: int = 1) -> Pool:
    """The pool with only the candidates that are the best of their sentence somewhere from `low` to `high`."""
    shards = [
        shard.select(np.unique(np.concatenate([found.first, found.after])))
        for shard, found in _envelopes(pool, weights, feature, low, high, n_threads)
    ]
    return replace(pool, shards=tuple(shards))


def check_range(low: float, high: float) -> None:
    """Raise InputError for what is not a range of weights."""
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(f"from {low:g} to {high:g} is not a range of weights; expected two numbers, the lesser first")
    if max(abs(low), abs(high)) > MAX_WEIGHT:
        raise InputError(f"from {low:g} to {high:g}: weights beyond {MAX_WEIGHT:g} are too great to sum scores")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Envelopes:
    """Of the sentences of a shard: candidates by their number in the shard."""

    first: Int64Array  # the best at the lower end, of each sentence that has candidates
    places: Float64Array  # [n]: where corners are
    before: Int64Array  # [n]: the best candidate left of a corner
    after: Int64Array  # [n]: and right of it


def _envelopes(
    pool: Pool, weights: Weights, feature: str, low: float, high: float, n_threads: int
) -> Iterator[tuple[Shard, _Envelopes]]:
    id_ = pool.index.find(feature)
    values = weights_for(pool, weights)
    if id_ >= 0:
        values[id_] = 0.0
    for shard in pool.shards:
        first = best_candidates(*shard.candidates, values, n_threads)
        base = model_scores(*shard.candidates, values, n_threads)
        slopes = feature_column(shard, id_)
        places: list[float] = []
        before: list[int] = []
        after: list[int] = []
        for sentence in differing(shard, slopes).tolist():
            begin, end = shard.sentences[sentence : sentence + 2].tolist()
            best, corners = _upper_envelope(base[begin:end], slopes[begin:end], low, high)
            first[sentence] = begin + best[0]
            places += corners
            before += [begin + i for i in best[:-1]]
            after += [begin + i for i in best[1:]]
        yield (
            shard,
            _Envelopes(
                first=first[first >= 0],
                places=np.array(places, np.float64),
                before=np.array(before, np.int64),
                after=np.array(after, np.int64),
            ),
        )


def feature_column(shard: Shard, feature: int) -> Float64Array:
    """The value of a feature of each candidate."""
    column = np.zeros(shard.n_candidates)
    places = np.flatnonzero(shard.feature_ids == feature)
    column[np.searchsorted(shard.feature_rows, places, side="right") - 1] = shard.feature_values[places]
    return column


def differing(shard: Shard, column: Float64Array) -> Int64Array:
    """Positions of the sentences whose candidates have different values in a column."""
    filled = np.flatnonzero(np.diff(shard.sentences))
    if not len(filled):
        return filled
    begins = shard.sentences[filled]
    return filled[np.maximum.reduceat(column, begins) > np.minimum.reduceat(column, begins)]


def _upper_envelope(base: Float64Array, slopes: Float64Array, low: float, high: float) -> tuple[list[int], list[float]]:
    """The highest of the lines base + t.slope from `low` to `high`, in order, and where each but the first begins.

    Of equal lines it is the first, as in reranking.
    """
    scores = base + low * slopes
    top = np.flatnonzero(scores == scores.max())
    best = [int(top[np.argmax(slopes[top])])]
    corners: list[float] = []
    while True:
        now = best[-1]
        steeper = np.flatnonzero(slopes > slopes[now])
        if not len(steeper):
            return best, corners
        crossings = (base[now] - base[steeper]) / (slopes[steeper] - slopes[now])
        nearest = crossings.min()
        if not nearest < high:
            return best, corners
        met = steeper[crossings == nearest]
        best.append(int(met[np.argmax(slopes[met])]))
        corners.append(max(float(nearest), corners[-1] if corners else low))
