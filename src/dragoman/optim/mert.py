"""Minimum error rate training: Och 2003, with the settings of Hopkins and May 2011, section 3.

The metric G of the best candidates, as a function of the weights w, is piecewise constant. Along a line w + t.d
it is known exactly: a candidate's model score w.x + t.(d.x) is a line in t, a sentence's best candidate an
upper envelope of lines, and the envelopes' corners of all sentences, in one sorted sweep, give G between any
two of them (`Surface`, in the native core). From each start the weights climb, coordinate by coordinate, to the
middle of the best interval, until no coordinate helps; then along random directions; until those do not help
either. The best end of all starts is the result. Into wide intervals, as of rare features, steps go no further than it
takes to change model scores as much as the median feature does.

Symbols: w weights, d direction, t step, G `pool.metric` (BLEU unsmoothed). Deviations from Och: random
directions besides the coordinates; of the other starts half are near the given weights and half anywhere;
plateaus of equal G count as one interval; intervals too narrow for the weights' precision are passed over; `resamples`
averages weights over samples of the sentences (bagging, Breiman 1996).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from dragoman import _core
from dragoman.candidates import rerank, resampled, spooled
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim.base import Learned, Optimiser, Problem
from dragoman.settings import about
from dragoman.types import Float64Array, Int32Array

__all__ = ["Mert", "Norm"]

_NO_BETTER = "no better weights were found; these are the starting weights"


class Norm(StrEnum):
    """What is 1 in the resulting weights."""

    NONE = "none"  # nothing: weights as they were found
    L1 = "l1"  # the sum of their magnitudes
    L2 = "l2"  # their length


@dataclass(frozen=True, slots=True, kw_only=True)
class Mert(Optimiser):
    """Exact line search from many starts.

    `features` are the ones to tune (default: the pool's dense features, or all if it has none or with `sparse`).
    `bounds` are lower and upper limits by name. `norm` scales the result (default: l1, but none where weights are
    bounded or frozen, because scaling would move them).
    """

    name = "mert"
    n_starts: int = 20
    """Points to climb from: the given weights, points near them, and points anywhere."""
    max_passes: int = 50
    """Passes over all coordinates from a start at most."""
    n_directions: int = 20
    """Random directions after the coordinates."""
    features: tuple[str, ...] | None = field(default=None, metadata=about(resolved="the dense features, or all"))
    """Features to tune."""
    sparse: bool = False
    """Tune all features, not only dense ones."""
    max_features: int = 2000
    """More features than this are refused."""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lower and upper limit of a weight, by the name of its feature."""
    resamples: int = 0
    """Average the weights of so many trainings, each on as many sentences drawn with replacement; 0: one, on all."""
    norm: Norm | None = field(default=None, metadata=about(resolved="l1; none where weights are frozen or bounded"))
    """What is 1 in the resulting weights."""

    def _check(self) -> None:
        if self.n_starts < 1 or self.max_passes < 1 or self.n_directions < 0:
            raise InputError("mert needs at least one start and one pass, and no negative number of directions")
        if self.resamples < 0:
            raise InputError(f"resamples must be at least 0, not {self.resamples}")
        for name, (lower, upper) in self.bounds.items():
            if math.isnan(lower) or math.isnan(upper) or lower > upper:
                raise InputError(f"the bounds of '{name}' are not a range: {lower} to {upper}")

    def learn(self, problem: Problem) -> Learned:
        return self._averaged(problem) if self.resamples else self._climbed(problem)

    def _averaged(self, problem: Problem) -> Learned:
        """The mean over resamples of weights, of the same norm unless they are frozen or bounded."""
        pool = problem.pool
        if not isinstance(pool.shards, tuple):
            raise InputError("mert averages over resamples of lists in memory alone; leave out `resamples`")
        whole = pool.in_memory()
        usable = np.flatnonzero(np.diff(whole.shards[0].sentences) > 0)
        free = self._is_free(problem)
        total, trace, failure = np.zeros(len(pool.index)), [], None
        notes: list[str] = []
        for number in range(self.resamples):
            rng = np.random.default_rng([problem.seed, problem.round_number, number])
            drawn = np.sort(rng.choice(usable, size=len(usable)))
            seed = int(rng.integers(1 << 63))
            try:
                learned = self._climbed(replace(problem, pool=resampled(whole, drawn), seed=seed))
            except InputError as error:  # as of few sentences, in which no candidate is better than another
                failure = error
                continue
            weights = Weights(pool.index, learned.values)
            self._normalise(weights, free=free)
            total += weights.values
            gain = rerank(pool, weights, n_threads=problem.n_threads).gain()
            trace.append({"resample": number, "gain": gain})
            notes = notes or [note for note in learned.notes if note != _NO_BETTER]
        if not trace and failure is not None:
            raise failure
        weights = Weights(pool.index, total / len(trace))
        self._normalise(weights, free=free)
        return Learned(values=weights.values, trace=trace, notes=notes)

    def _climbed(self, problem: Problem) -> Learned:
        """Climb from `start` and from random weights; the best end, or `start` itself when nothing beats it."""
        pool, start = problem.pool, problem.start
        chosen = self._chosen(problem)
        objective = problem.metric.scorer()
        surface = _core.surface(
            [(*shard.candidates, shard.stats) for shard in spooled(pool.shards)],
            chosen,
            start.values,
            objective,
            problem.n_threads,
        )
        spreads = surface.spreads()
        names = pool.index.names(chosen)
        constant = [name for name, spread in zip(names, spreads, strict=True) if spread == 0]
        if len(constant) == len(names):
            raise InputError(
                "no feature to tune differs between the candidates of a sentence, so weights cannot matter"
            )
        rng = np.random.default_rng([problem.seed, problem.round_number])
        bounds = [self.bounds.get(name, (-math.inf, math.inf)) for name in names]
        lower, upper = np.array(bounds, dtype=np.float64).T.copy()
        starts = np.clip(self._starts(start.values[chosen], spreads, rng), lower, upper)
        ends, gains, n_passes, n_searches = surface.climb(
            starts, lower, upper, self.max_passes, self.n_directions, int(rng.integers(1 << 63)), problem.n_threads
        )
        best = int(np.argmax(gains))  # the first of equals
        trace = tuple(
            {"start": i, "gain": float(gain), "passes": int(passes), "searches": int(searches)}
            for i, (gain, passes, searches) in enumerate(zip(gains, n_passes, n_searches, strict=True))
        )
        notes = []
        if constant:
            what = (
                "feature never differs and keeps its weight"
                if len(constant) == 1
                else "features never differ and keep their weights"
            )
            notes.append(f"{len(constant)} {what}: {_listed(constant)}")
        if self.features is None and (others := self._left_out(problem, chosen)):
            notes.append(
                f"{len(others)} features are not in every line and keep their weights: {_listed(others)}; "
                "`sparse=True` tunes them too"
            )
        weights = start.copy()
        weights.values[chosen] = ends[best]
        self._normalise(weights, free=self._is_free(problem))
        before, after = (objective.gain(rerank(pool, w, n_threads=problem.n_threads).total()) for w in (start, weights))
        inside = ((start.values[chosen] >= lower) & (start.values[chosen] <= upper)).all()
        if inside and start.is_usable() and before >= after:
            weights = start.copy()
            notes.append(_NO_BETTER)
        return Learned(values=weights.values, trace=trace, notes=notes)

    def _chosen(self, problem: Problem) -> Int32Array:
        pool = problem.pool
        if self.features is not None:
            ids = [pool.index.find(name) for name in self.features]
            if -1 in ids:
                raise InputError(f"the candidates have no feature '{self.features[ids.index(-1)]}'")
        else:
            ids = (not self.sparse and sorted(pool.dense)) or list(range(len(pool.index)))
        for name in self.bounds:
            if pool.index.find(name) not in ids:
                raise InputError(f"'{name}' has bounds but is not tuned")
        chosen = [id_ for id_ in dict.fromkeys(ids) if not problem.frozen[id_]]
        if not chosen:
            raise InputError("there is no feature to tune; all are frozen")
        if len(chosen) > self.max_features:
            raise InputError(
                f"mert would tune {len(chosen)} features, which it cannot do well; choose at most {self.max_features} "
                "with `features`, or use pro"
            )
        return np.array(chosen, dtype=np.int32)

    def _left_out(self, problem: Problem, chosen: Int32Array) -> list[str]:
        """Features that candidates have and that are neither tuned nor frozen."""
        left = ~problem.frozen
        left[chosen] = False
        if not left.any():
            return []
        used = np.zeros(len(left), dtype=bool)
        for shard in problem.pool.shards:
            used[shard.feature_ids] = True
        return problem.pool.index.names(np.flatnonzero(left & used).astype(np.int32))

    def _starts(self, given: Float64Array, spreads: Float64Array, rng: np.random.Generator) -> Float64Array:
        """The given weights, then by turns weights near them and weights anywhere.

        Everything is measured in what a weight does to model scores: weight times the feature's spread.
        """
        per_unit = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=spreads > 0)
        size = float(np.mean(np.abs(given * spreads)[spreads > 0]))
        starts = []
        for number in range(self.n_starts):
            if size > 0 and number == 0:
                starts.append(given)
            elif size > 0 and number % 2 == 1:
                starts.append(given + 0.3 * size * per_unit * rng.standard_normal(len(given)))
            else:
                anywhere = rng.uniform(-1.0, 1.0, len(given)) * per_unit * (2 * size or 1.0)
                starts.append(np.where(spreads > 0, anywhere, given))
        return np.array(starts)

    def _is_free(self, problem: Problem) -> bool:
        return not problem.frozen.any() and not self.bounds

    def _normalise(self, weights: Weights, *, free: bool) -> None:
        norm = self.norm if self.norm is not None else (Norm.L1 if free else Norm.NONE)
        if norm is not Norm.NONE and not free:
            raise InputError(f"the {norm} norm would move weights that are frozen or bounded; use norm none")
        values = weights.values
        size = {Norm.NONE: 1.0, Norm.L1: float(np.abs(values).sum()), Norm.L2: float(np.sqrt(values @ values))}[norm]
        if size > 0 and math.isfinite(size):
            values /= size


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
