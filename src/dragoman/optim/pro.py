"""Pairwise ranking optimisation: Hopkins and May 2011, *Tuning as Ranking*, sections 4 and 5.4.3.

For candidates j, j' of sentence i, a good w has g(i, j) > g(i, j') <=> w.(x(i, j) - x(i, j')) > 0, so tuning is
binary classification of difference vectors. Figure 4 samples them:
  2-4  draw Gamma pairs, keep each with probability alpha_i(|g(i, j) - g(i, j')|)   `n_draws`, `acceptance`
  5    sort by |g(i, j) - g(i, j')|, decreasing
  6    return x(i, j) - x(i, j') and its negative for the first Xi                  `n_kept`

The classifier is logistic regression without intercept, with L2 penalty l2/2 |v|^2, minimised by L-BFGS. v are the
weights of features scaled to unit deviation over the pairs in which they differ (`scaling`): so the scale of a
feature does not matter, and a rare one is penalised as if it were frequent. With `prior` previous the penalty is
l2/2 |v - v_{t-1}|^2: what the pairs do not teach stays as it was. A difference vector and its negative have
the same loss, so each pair stands once, counted twice. Between rounds of decoding w_t = Psi.w' + (1 - Psi).w_{t-1}
(`interpolate`); on a fixed pool Psi has no place. The classifier says how long w' is, the start how long w_{t-1}: so w'
is first brought to the spread of scores that w_{t-1} has in the lists, unless `units` is raw, as in the paper.

g is BLEU+1 for BLEU, else the metric of the candidate alone. Deviations: pairs with equal g are never kept
(they have no order). The paper leaves the scale of the logistic alpha of its footnote 6 open: ours is the
standard deviation of the differentials of the sentence's pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.candidates import LazyShards, Pool, Shard, score_deviation
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Learned, Learner, Optimiser, Problem, Result
from dragoman.optim.context import LearningContext
from dragoman.optim.units import Units
from dragoman.settings import about
from dragoman.types import Float32Array, Float64Array, Int32Array, Int64Array, offsets_of
from dragoman.work.engine import Job, LocalEngine

__all__ = ["Acceptance", "Prior", "Pro", "Scaling"]


class Acceptance(StrEnum):
    """The function alpha: with which probability a pair of some differential is kept."""

    STEP = "step"  # 1 from the threshold on
    LOGISTIC = "logistic"  # centred at the sentence's mean differential: no scale of the metric is assumed


class Prior(StrEnum):
    """Where the penalty draws weights."""

    ZERO = "zero"  # the paper's
    PREVIOUS = "previous"  # to the weights that the lists were decoded with


class Scaling(StrEnum):
    """What a feature's differences are divided by before its weight is penalised: a root of their mean square."""

    ACTIVE = "active"  # over the pairs in which it differs
    ALL = "all"  # over all pairs: the rarer a feature, the less its weight is penalised
    NONE = "none"  # 1


class _Numbers(NamedTuple):
    n_draws: int
    n_kept: int


_STEP, _LOGISTIC = _Numbers(5000, 50), _Numbers(100, 100)
_SHARE, _RAW_SHARE = 0.3, 0.1
"""Psi in one spread moves about as far as the paper's, in whose rounds the classifier's weights are the longer ones."""


def _resolved(name: str) -> str:
    return f"{getattr(_STEP, name)}; logistic: {getattr(_LOGISTIC, name)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pro(Optimiser):
    """The defaults are the paper's: Gamma 5000, Xi 50, alpha a step at 0.05, Psi 0.1.

    External metrics, whose scale nobody knows, are sampled as in its footnote 6: Gamma = Xi = 100, logistic alpha; so
    is any metric with `acceptance` logistic. `max_length_deviation` drops pairs whose difference in length is
    further than so many standard deviations from the mean of all pairs (Nakov et al. 2013 found that such pairs
    teach long translations).
    """

    name = "pro"
    uses_engine = True
    n_draws: int | None = field(default=None, metadata=about(resolved=_resolved("n_draws")))
    """Gamma: pairs drawn of a sentence."""
    n_kept: int | None = field(default=None, metadata=about(resolved=_resolved("n_kept")))
    """Xi: of these, pairs with the greatest differential that are kept."""
    acceptance: Acceptance | None = field(default=None, metadata=about(resolved="step; external scores: logistic"))
    """Alpha: with which probability a pair of some differential is kept."""
    threshold: float = 0.05
    """Least differential of a pair, for the step."""
    sentence_bleu: SentenceBleu | None = None
    """BLEU of a candidate alone."""
    scaling: Scaling = Scaling.ACTIVE
    """Over which pairs a feature is scaled to unit deviation."""
    prior: Prior = Prior.ZERO
    """Where the penalty draws weights: to 0, or to the weights of the round before."""
    l2: float = 1.0
    """Weight of the penalty."""
    interpolation: float | None = field(default=None, metadata=about(resolved=f"{_SHARE}; {_RAW_SHARE} with units=raw"))
    """Psi: the share of the learned weights in those of the next round."""
    units: Units = Units.RELATIVE
    """What weights are mixed in between rounds: the spread of their scores within lists, or nothing."""
    max_length_deviation: float | None = field(default=None, metadata=about(resolved="none: no pair is dropped"))
    """Drop pairs whose length difference is more than this number of standard deviations from the mean."""
    max_iterations: int = 1000
    """Iterations of L-BFGS at most."""

    def _check(self) -> None:
        positive = (self.n_draws, self.n_kept, self.l2, self.max_length_deviation, self.max_iterations)
        if any(number is not None and not number > 0 for number in positive):
            raise InputError("pro: numbers of pairs and iterations, l2 and the length deviation must be positive")
        if not self.threshold >= 0 or not 0 < self.psi <= 1:
            raise InputError("pro: the threshold must not be negative, the interpolation in (0, 1]")

    def learn(self, problem: Problem) -> Learned:
        """The classifier's weights. `start` matters where features are frozen, and to the prior `previous`."""
        fixed = problem.frozen
        sampled = list(self._sampled(problem))
        n_sampled = sum(len(part.lengths) for part in sampled)
        if self.max_length_deviation is not None:
            sampled = _without_length_outliers(sampled, self.max_length_deviation)
        n_pairs = sum(len(part.lengths) for part in sampled)
        if n_pairs == 0:
            raise InputError(
                "no two candidates of a sentence differ enough in the metric to learn from; "
                "make longer lists, lower the threshold, or use the logistic acceptance"
            )
        rows, ids, values = _stack(sampled)
        weights = problem.start.values.copy()
        # What is not learned adds a constant to the margin of each pair: frozen features, and the prior's centre.
        row_of_each = np.repeat(np.arange(n_pairs), np.diff(rows))
        known = fixed[ids]
        offsets = np.zeros(n_pairs)
        np.add.at(offsets, row_of_each[known], weights[ids[known]] * values[known])
        free, columns = np.unique(ids[~known], return_inverse=True)
        if len(free) == 0:
            raise InputError("no feature differs between the candidates of a pair, so weights cannot matter")
        x = values[~known]
        centre = weights[free] if self.prior is Prior.PREVIOUS else np.zeros(len(free))
        np.add.at(offsets, row_of_each[~known], centre[columns] * x)
        scales = self._scales(columns, x, n_pairs)
        counts = np.bincount(row_of_each[~known], minlength=n_pairs)
        scaled, loss, n_iterations, converged = _core.fit_logistic(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            columns.astype(np.int32),
            x / scales[columns],
            offsets,
            len(free),
            2.0,
            self.l2,
            self.max_iterations,
            1e-7,
            problem.n_threads,
        )
        # The penalty alone decides about features that no pair has; of those that no candidate has nothing is known.
        for part in sampled if self.prior is Prior.ZERO else ():
            weights[part.features[~fixed[part.features]]] = 0.0
        weights[free] = centre + scaled / scales
        trace = (
            {
                "sampled": n_sampled,
                "pairs": n_pairs,
                "features": len(free),
                "iterations": n_iterations,
                "loss": loss / (2 * n_pairs),
            },
        )
        notes = () if converged else (f"the classifier stopped after {n_iterations} iterations before it converged",)
        return Learned(values=weights, trace=trace, notes=notes)

    def _learner(self, context: LearningContext) -> Learner:
        return _Interpolation(self)

    @property
    def psi(self) -> float:
        """The share of the learned weights, resolved."""
        if self.interpolation is not None:
            return self.interpolation
        return _RAW_SHARE if self.units is Units.RAW else _SHARE

    def interpolate(self, previous: Weights, learned: Weights, *, scale: float = 1.0) -> Weights:
        """Psi.scale.learned + (1 - Psi).previous, between rounds; weights that were not learned stay."""
        result, before = learned.copy(), previous.values_on(learned.index)
        psi = self.psi
        mixed = psi * scale * learned.values + (1 - psi) * before
        result.values[:] = np.where(learned.values == before, before, mixed)
        return result

    def scale_between(self, pool: Pool, previous: Weights, learned: Weights, frozen: Collection[str]) -> float:
        """What brings the learned weights to the spread of scores that the previous ones have.

        It is 1 where they have one scale anyhow: weights that are frozen, or to which the penalty draws, are in both.
        """
        bound = self.prior is Prior.PREVIOUS or any(previous[name] != 0 for name in frozen)
        if self.units is Units.RAW or bound:
            return 1.0
        wanted, found = score_deviation(pool, previous), score_deviation(pool, learned)
        scale = wanted / found if found > 0 else 0.0
        return scale if 0 < scale < math.inf else 1.0

    def _scales(self, columns: Int64Array, x: Float64Array, n_pairs: int) -> Float64Array:
        """Of each column, from the differences `x` that are not 0; about 0, their mean with both signs."""
        counts = np.bincount(columns)
        if self.scaling is Scaling.NONE:
            return np.ones(len(counts))
        squares = np.bincount(columns, weights=x * x)
        return np.sqrt(squares / (counts if self.scaling is Scaling.ACTIVE else n_pairs))

    def _sampled(self, problem: Problem) -> Iterator[_Sampled]:
        """Of every shard; where an engine's workers can make the shards themselves, they get their numbers."""
        shards = problem.pool.shards
        make = shards.maker() if problem.engine is not None and isinstance(shards, LazyShards) else None
        job = _Sampling(self, problem.metric, problem.seed, problem.round_number, make)
        engine = problem.engine or LocalEngine(problem.n_threads)
        return engine.map(job, shards if make is None else range(len(shards)))

    def sample(
        self, shard: Shard, metric: Metric, *, seed: int, round_number: int, n_threads: int
    ) -> tuple[Int64Array, Int64Array]:
        """The better and the worse candidate of each pair."""
        acceptance = self.acceptance or (Acceptance.STEP if metric.has_known_scale else Acceptance.LOGISTIC)
        logistic = acceptance is Acceptance.LOGISTIC
        return _core.sample_pairs(
            shard.sentences,
            shard.sentence_ids,
            metric.segment_gains(shard.stats, self.sentence_bleu),
            self.n_draws or (_LOGISTIC if logistic else _STEP).n_draws,
            self.n_kept or (_LOGISTIC if logistic else _STEP).n_kept,
            self.threshold,
            logistic,
            seed,
            round_number,
            n_threads,
        )


class _Interpolation(Learner):
    gradual = True

    def __init__(self, pro: Pro) -> None:
        super().__init__(pro)
        self._pro = pro
        self._scale = 1.0

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
        result = super().learn(pool, start, seed=seed, round_number=round_number, frozen=frozen, n_threads=n_threads)
        self._scale = self._pro.scale_between(pool, start, result.weights, frozen)
        return result

    def next_weights(self, previous: Weights, learned: Weights) -> Weights:
        """Line 8 of Figure 2."""
        return self._pro.interpolate(previous, learned, scale=self._scale)


class _Sampled(NamedTuple):
    """The pairs of a shard."""

    rows: Int64Array  # [pairs + 1]
    ids: Int32Array
    values: Float32Array  # better minus worse
    lengths: Int64Array  # of each pair, how many words more the better one has
    has_words: bool
    features: Int64Array  # that candidates of the shard have


@dataclass(frozen=True, slots=True)
class _Sampling(Job[Shard | int, _Sampled]):
    """Pairs of shards, or of the shards that `make` makes of their numbers."""

    pro: Pro
    metric: Metric
    seed: int
    round_number: int
    make: Callable[[int, int], Shard] | None

    def open(self, n_threads: int) -> Callable[[Shard | int], _Sampled]:
        def sampled(item: Shard | int) -> _Sampled:
            if isinstance(item, Shard):
                shard = item
            else:
                assert self.make is not None
                shard = self.make(item, n_threads)
            better, worse = self.pro.sample(
                shard, self.metric, seed=self.seed, round_number=self.round_number, n_threads=n_threads
            )
            n_words = np.diff(shard.token_rows)
            differences = _core.difference_rows(*shard.candidates, better, worse)
            met = np.zeros(shard.feature_ids.max(initial=-1) + 1, dtype=bool)
            met[shard.feature_ids] = True
            return _Sampled(*differences, n_words[better] - n_words[worse], len(shard.tokens) > 0, np.flatnonzero(met))

        return sampled


def _stack(parts: Sequence[_Sampled]) -> tuple[Int64Array, Int32Array, Float64Array]:
    rows = offsets_of(np.concatenate([np.diff(part.rows) for part in parts]))
    ids = np.concatenate([part.ids for part in parts])
    return rows, ids, np.concatenate([part.values for part in parts]).astype(np.float64)


def _without_length_outliers(parts: list[_Sampled], limit: float) -> list[_Sampled]:
    if not any(part.has_words for part in parts):
        raise InputError("the candidates have no words, so none can be dropped for its length; leave that setting out")
    every = np.concatenate([part.lengths for part in parts])
    deviation = float(every.std()) if len(every) else 0.0
    if deviation == 0 or not math.isfinite(deviation):
        return parts
    return [_select(part, np.abs(part.lengths - every.mean()) <= limit * deviation) for part in parts]


def _select(part: _Sampled, kept: NDArray[np.bool_]) -> _Sampled:
    counts = np.diff(part.rows)
    entries = np.repeat(kept, counts)
    return part._replace(
        rows=offsets_of(counts[kept]),
        ids=part.ids[entries],
        values=part.values[entries],
        lengths=part.lengths[kept],
    )
