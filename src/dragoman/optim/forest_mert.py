"""Minimum error rate training on forests: Kumar, Macherey, Dyer and Och 2009; the tuner of Eidelman et al. 2013.

As `mert`, but along a line w + t.d the best derivation of a sentence is known over *all* derivations of its forest,
not only over k of them: a node's upper envelope is the maximum over its edges of the edge's line plus the sum of the
tails' envelopes (`dragoman.forest.envelopes`). One sorted sweep over the corners of all sentences gives the metric for
every t. From each start the weights climb along coordinates and random directions, to the middle of the best
interval, until a pass brings less than `tolerance`.

Symbols: w weights, d direction, t step. A sentence may have the forests of several rounds of decoding; the envelope is
then over the derivations of all. Deviations: random directions beside the coordinates, as in `mert`; few starts,
because a search costs a pass over the forests; steps too narrow for the weights' precision are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from dragoman import _core
from dragoman.candidates import Pool, metric_of
from dragoman.errors import FailedError, InputError, MismatchError
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Envelopes, Forest, envelopes, prune_to_density
from dragoman.metric import Metric
from dragoman.optim.base import Learner, Optimiser, Result
from dragoman.optim.context import LearningContext, LearnsFrom
from dragoman.settings import about
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = ["ForestMert", "ForestSurface"]

_SPREAD_CANDIDATES = 50
_BLOCK = 64
"""Sentences pruned at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestMert(Optimiser):
    """Exact line search over all derivations of forests.

    `features` are the ones to tune (default: those that the caller names as dense). `tolerance` is in gain, where BLEU
    is in [0, 1].
    """

    name = "forest-mert"
    learns_from = LearnsFrom.FORESTS
    n_starts: int = 3
    """Points to climb from: the given weights and points near them."""
    max_passes: int = 10
    """Passes over all directions from a start at most."""
    n_directions: int = 5
    """Random directions after the coordinates."""
    tolerance: float = 1e-5
    """Gain of a pass below which climbing ends."""
    prune: float = 100.0
    """Edges kept for each word of the best translation, of the greatest max-marginals; inf: all; few cost quality."""
    features: tuple[str, ...] | None = field(default=None, metadata=about(resolved="the dense features"))
    """Features to tune."""

    def _check(self) -> None:
        if not self.prune > 0:
            raise InputError(f"forest-mert: prune is a number of edges per word, more than 0, not {self.prune:g}")
        if self.n_starts < 1 or self.max_passes < 1 or self.n_directions < 0 or not self.tolerance >= 0:
            raise InputError("forest-mert needs at least one start and one pass, and no negative numbers")

    def optimise_forests(
        self,
        sentences: Iterable[Sequence[Forest]],
        references: Sequence[Sequence[str]],
        metric: Metric,
        start: Weights,
        *,
        dense: Sequence[str],
        seed: int,
        round_number: int = 0,
        frozen: Collection[str] = (),
        n_threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> Result:
        """Climb from `start` and from weights near it. `progress` gets the number of searches done.

        `sentences` are pruned as they come, so that forests of a generator need not all be in memory.
        """
        sentences = self._pruned(sentences, start, n_threads)
        if len(sentences) != len(references):
            raise MismatchError(f"forests of {len(sentences)} sentences but references of {len(references)}")
        index = _index_of(sentences)
        start = start.on(index)
        chosen = self._chosen(index, dense, frozen)
        surface = ForestSurface(sentences, references, metric, n_threads)
        spreads = feature_spreads(sentences, start.values, chosen)
        if not (spreads > 0).any():
            raise InputError(
                "no feature to tune differs between the derivations of a sentence, so weights cannot matter"
            )
        rng = np.random.default_rng([seed, round_number])
        trace = []
        ends = []
        for number, values in enumerate(self._starts(start.values, chosen, spreads, rng)):
            end, gain, n_passes = self._climb(surface, values, chosen, spreads, rng, progress)
            ends.append((gain, end))
            trace.append({"start": number, "gain": gain, "passes": n_passes, "searches": surface.n_searches})
        before = surface.gain(start.values)
        gain, values = max(ends, key=lambda pair: pair[0])  # the first of equals
        notes: tuple[str, ...] = ()
        weights = start.copy()
        if gain > before or not start.is_usable():
            weights.values[:] = values
        else:
            gain, notes = before, ("no better weights were found; these are the starting weights",)
        if not weights.is_usable():
            raise FailedError("forest-mert found no usable weights (not finite, or all zero); nothing was changed")
        return Result(weights=weights, gain_before=before, gain_after=gain, trace=tuple(trace), notes=notes)

    def _learner(self, context: LearningContext) -> Learner:
        return _ForestLearner(self, context)

    def _pruned(
        self, sentences: Iterable[Sequence[Forest]], start: Weights, n_threads: int
    ) -> Sequence[Sequence[Forest]]:
        if self.prune == np.inf:
            return list(sentences)
        pruned: list[Sequence[Forest]] = []
        coming = iter(sentences)
        while block := list(islice(coming, _BLOCK)):
            forests = prune_to_density(
                [forest for several in block for forest in several], start, self.prune, n_threads=n_threads
            )
            rest = iter(forests)
            pruned.extend(list(islice(rest, len(several))) for several in block)
        return pruned

    def _chosen(self, index: FeatureIndex, dense: Sequence[str], frozen: Collection[str]) -> Int32Array:
        names = self.features if self.features is not None else tuple(dense)
        for name in (*names, *frozen):
            if index.find(name) < 0:
                raise InputError(f"neither the forests nor the weights have a feature '{name}'")
        chosen = [index.find(name) for name in dict.fromkeys(names) if name not in set(frozen)]
        if not chosen:
            raise InputError("there is no feature to tune; all are frozen")
        return np.array(chosen, dtype=np.int32)

    def _starts(
        self, given: Float64Array, chosen: Int32Array, spreads: Float64Array, rng: np.random.Generator
    ) -> list[Float64Array]:
        """The given weights, then weights near them, in units of what a weight does to model scores."""
        per_unit = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=spreads > 0)
        size = float(np.mean(np.abs(given[chosen] * spreads)[spreads > 0])) or 1.0
        starts = [given] if np.any(given) else []
        while len(starts) < self.n_starts:
            near = given.copy()
            near[chosen] += 0.3 * size * per_unit * rng.standard_normal(len(chosen))
            starts.append(near)
        return starts

    def _climb(
        self,
        surface: ForestSurface,
        values: Float64Array,
        chosen: Int32Array,
        spreads: Float64Array,
        rng: np.random.Generator,
        progress: Callable[[int], None] | None,
    ) -> tuple[Float64Array, float, int]:
        gain = surface.gain(values)
        moving = np.flatnonzero(spreads > 0)
        n_passes = 0
        while n_passes < self.max_passes:
            n_passes += 1
            before = gain
            for direction in self._directions(len(values), chosen, spreads, moving, rng):
                step, found = surface.search(values, direction)
                if found > gain and step != 0:
                    values, gain = values + step * direction, found
                if progress is not None:
                    progress(surface.n_searches)
            if gain - before <= self.tolerance:
                break
        return values, gain, n_passes

    def _directions(
        self, n: int, chosen: Int32Array, spreads: Float64Array, moving: Int64Array, rng: np.random.Generator
    ) -> list[Float64Array]:
        """All coordinates in random order, then combinations of three, each in units of its spread."""
        directions = []
        for k in rng.permutation(moving):
            directions.append(np.zeros(n))
            directions[-1][chosen[k]] = 1.0
        for _ in range(self.n_directions):
            directions.append(np.zeros(n))
            for k in rng.choice(moving, 3):
                directions[-1][chosen[k]] = rng.standard_normal() / spreads[k]
        return directions


class _ForestLearner(Learner):
    """Decodes by the start weights of a round and learns from these forests alone, so that a resumed run needs nothing
    of earlier rounds. The pool of the round gives the metric.
    """

    def __init__(self, mert: ForestMert, context: LearningContext) -> None:
        super().__init__(mert)
        self._mert = mert
        self._context = context

    def learn(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int,
        frozen: Collection[str] = (),
        n_threads: int = 1,
    ) -> Result:
        """Better weights on the search spaces of `start`, over the pool's index."""
        forests = self._context.forests(start, n_threads=n_threads)
        result = self._mert.optimise_forests(
            ([forest] for forest in forests),
            self._context.references,
            metric_of(pool),
            start,
            dense=self._context.dense,
            seed=seed,
            round_number=round_number,
            frozen=frozen,
            n_threads=n_threads,
        )
        return replace(result, weights=result.weights.on(pool.index))


class ForestSurface:
    """The metric along lines. Statistics of a translation are computed once."""

    def __init__(
        self, sentences: Sequence[Sequence[Forest]], references: Sequence[Sequence[str]], metric: Metric, n_threads: int
    ) -> None:
        self.n_searches = 0
        self._sentences = sentences
        self._references = references
        self._metric = metric
        self._scorer = metric.scorer()
        self._n_threads = n_threads
        self._translations = _core.Translations()
        self._stats = np.zeros((0, metric.n_stats))

    def gain(self, values: Float64Array) -> float:
        """The metric of the best derivations."""
        found = envelopes(self._sentences, values, np.zeros_like(values), n_threads=self._n_threads)
        rows = self._rows_of(found)
        return float(self._scorer.gain(self._stats[rows].sum(axis=0)))

    def search(self, values: Float64Array, direction: Float64Array) -> tuple[float, float]:
        """The step to the middle of the best interval, and the gain there."""
        self.n_searches += 1
        found = envelopes(self._sentences, values, direction, n_threads=self._n_threads)
        rows = self._rows_of(found)
        moved = direction != 0
        scale = float(np.max(np.abs(values[moved] / direction[moved]), initial=0.0))
        return _core.sweep_envelopes(self._scorer, found.first, found.begins, rows, self._stats, scale)

    def _rows_of(self, found: Envelopes) -> Int64Array:
        """For each line the row of its statistics."""
        rows, new = self._translations.number(found.first, found.forests, found.token_offsets, found.tokens)
        if len(new):
            of = np.searchsorted(found.first, new, side="right") - 1
            texts = [
                self._sentences[s][found.forests[line]].text(found.tokens_of(line))
                for s, line in zip(of, new, strict=True)
            ]
            used, place = np.unique(of, return_inverse=True)
            stats = self._metric.text_statistics(
                texts,
                [self._references[s] for s in used],
                sentence=place.astype(np.int32),
                n_threads=self._n_threads,
            )
            self._stats = np.concatenate([self._stats, stats])
        return rows


def _index_of(sentences: Sequence[Sequence[Forest]]) -> FeatureIndex:
    forests = [forest for several in sentences for forest in several]
    if not forests:
        raise InputError("there are no forests to tune on")
    if any(forest.index is not forests[0].index for forest in forests):
        raise ValueError("the forests must share one feature index")
    return forests[0].index


def feature_spreads(sentences: Sequence[Sequence[Forest]], values: Float64Array, chosen: Int32Array) -> Float64Array:
    """Each feature's standard deviation among the best derivations, mean over the sentences where it has one."""
    place = np.full(len(values), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    total, counts = np.zeros(len(chosen)), np.zeros(len(chosen))
    for several in sentences:
        for forest in several[-1:]:
            best = forest.kbest(values, _SPREAD_CANDIDATES)
            dense = np.zeros((len(best), len(chosen)))
            row = np.repeat(np.arange(len(best)), np.diff(best.feature_rows))
            column = place[best.feature_ids]
            dense[row[column >= 0], column[column >= 0]] = best.feature_values[column >= 0]
            if len(best) > 1:
                deviations = dense.std(axis=0)
                total += deviations
                counts += deviations > 0
    return total / np.maximum(counts, 1)
