"""What is maximised: a metric, the references that it counts by, and how its scores are shown.

An objective from outside is the mean of numbers that candidates come with; a mixture adds such numbers and metrics; and
candidates of statistics files come with their metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Self

from dragoman.candidates.measure import metric_of_sum, with_external, with_metric, with_mixture
from dragoman.candidates.pool import Pool, metric_of
from dragoman.errors import InputError
from dragoman.files.store import digest_json
from dragoman.metric import (
    External,
    Metric,
    ReferenceLength,
    Smoothing,
    Tokenizer,
    as_metric,
    by_name,
    n_references,
    output_statistics,
)
from dragoman.settings import plain, takes_text
from dragoman.types import Float64Array

__all__ = ["ExternalObjective", "MeasuredObjective", "MixedObjective", "Objective"]

_References = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Objective:
    """A metric and the references of every sentence.

    A metric by name is unsmoothed, as MERT's BLEU, unless `smoothing` says otherwise, and has the tokeniser and case
    that are told; a metric that is given has its own settings. With `allow_missing` some references may have no
    candidates.
    """

    metric: Metric
    references: _References
    allow_missing: bool

    @takes_text
    def __init__(
        self,
        metric: Metric | str = "bleu",
        references: _References = (),
        *,
        tokenizer: Tokenizer = Tokenizer.NONE,
        lowercase: bool = False,
        reference_length: ReferenceLength = ReferenceLength.CLOSEST,
        smoothing: Smoothing = Smoothing.NONE,
        allow_missing: bool = False,
    ) -> None:
        if isinstance(metric, str):
            metric = by_name(
                metric,
                smoothing=smoothing,
                tokenizer=tokenizer,
                lowercase=lowercase,
                reference_length=reference_length,
            )
        elif tokenizer is not Tokenizer.NONE or lowercase or reference_length is not ReferenceLength.CLOSEST:
            raise InputError(
                f"the metric {as_metric(metric).name} is given with its settings; leave out tokenizer, lowercase and "
                "reference_length, or name the metric instead"
            )
        self._keep(as_metric(metric), references, allow_missing=allow_missing)

    def _keep(self, metric: Metric, references: _References, *, allow_missing: bool) -> None:
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "references", references)
        object.__setattr__(self, "allow_missing", allow_missing)

    def measure(self, pool: Pool, *, n_threads: int = 1) -> Pool:
        """The pool with the statistics of its candidates. Raises InputError where they cannot be."""
        self._check_references()
        return with_metric(pool, self.metric, self.references, allow_missing=self.allow_missing, n_threads=n_threads)

    def judge(self, texts: Sequence[str], *, n_threads: int = 1) -> float:
        """The score of a text, a line for every sentence that has references."""
        self._check_references()
        total = output_statistics(self.metric, [texts], self.references, n_threads=n_threads)[0].sum(axis=0)
        return self.score_of(total)

    def _check_references(self) -> None:
        if not self.references:
            raise InputError("no references; give at least one")

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher `score` is better; a higher `gain` always is."""
        return self.metric.higher_is_better

    @property
    def identity(self) -> str:
        """A digest of all that scores depend on besides the candidates."""
        settings = plain(self.metric) if is_dataclass(self.metric) else None
        counted = [self.name, settings, self.metric.signature(n_references(self.references))]
        return digest_json([counted, [list(several) for several in self.references], self.allow_missing])

    def score_of(self, total: Float64Array) -> float:
        """The score of summed statistics."""
        return float(self.metric.score_of(total))

    def gain(self, total: Float64Array) -> float:
        """The same, so that higher is better."""
        return float(self.metric.gain(total))

    def points(self, score: float) -> float:
        """A score as papers write it, 25 for 0.25; a number from outside as it is."""
        return self.metric.points(score)

    def shown(self, score: float, after: float | None = None) -> str:
        """A score as text; with a later one, what it became."""
        return self.metric.shown(score, after)

    def change(self, before: float, after: float) -> str:
        """The metric's name and what a score became, within a sentence."""
        return f"{self.name} {self.shown(before, after)}"

    def describe(self, before: float, after: float | None = None) -> str:
        """The same after the metric's name, with an arrow where lower is better."""
        return self.metric.describe(before, after)

    def on(self, references: _References, *, allow_missing: bool = False) -> Objective:
        """The same for other sentences."""
        other = copy(self)
        object.__setattr__(other, "references", references)
        object.__setattr__(other, "allow_missing", allow_missing)
        return other


@dataclass(frozen=True, slots=True, init=False, eq=False)
class MeasuredObjective(Objective):
    """Candidates come with their statistics, as from Moses' files, or were measured; references are only compared."""

    @classmethod
    def of(cls, pool: Pool, references: _References = ()) -> Self:
        """What the candidates of a pool were measured by."""
        return cls(metric_of(pool), references)

    def measure(self, pool: Pool, *, n_threads: int = 1) -> Pool:
        """The pool with its statistics, which it may have without their metric. Raises InputError if it has others."""
        if pool.metric is not None:
            if pool.metric != self.metric:
                raise InputError(f"the candidates were measured by {pool.metric.name}, not by {self.name}")
            return pool
        if any(shard.stats.shape[1] != self.metric.n_stats for shard in pool.shards):
            raise InputError(f"the candidates have no statistics of {self.name}")
        return replace(pool, metric=self.metric)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class ExternalObjective(Objective):
    """The mean of a score that candidates have, or of a sum of several: `comet - 0.04*metricx`.

    With `fill_missing` a candidate without the score has the mean of its list.
    """

    fill_missing: bool

    def __init__(self, told: str, *, higher_is_better: bool = True, fill_missing: bool = False) -> None:
        self._keep(External(label=told, higher_is_better=higher_is_better), (), allow_missing=fill_missing)
        object.__setattr__(self, "fill_missing", fill_missing)

    def measure(self, pool: Pool, *, n_threads: int = 1) -> Pool:
        return with_external(pool, self.name, higher_is_better=self.higher_is_better, fill_missing=self.fill_missing)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class MixedObjective(Objective):
    """A sum of scores that candidates have and of metrics: `0.5*comet + 0.5*chrf`.

    A name is that of a candidate's score first.
    """

    told: str
    options: Mapping[str, Any]
    """How metrics count, and what becomes of missing scores."""

    @takes_text
    def __init__(
        self,
        told: str,
        references: _References,
        *,
        tokenizer: Tokenizer = Tokenizer.NONE,
        lowercase: bool = False,
        allow_missing: bool = False,
        fill_missing: bool = False,
    ) -> None:
        counting: dict[str, Any] = {"tokenizer": tokenizer, "lowercase": lowercase}
        self._keep(metric_of_sum(told, **counting), references, allow_missing=allow_missing)
        object.__setattr__(self, "told", told)
        object.__setattr__(self, "options", {**counting, "fill_missing": fill_missing})

    def measure(self, pool: Pool, *, n_threads: int = 1) -> Pool:
        return with_mixture(
            pool, self.told, self.references, allow_missing=self.allow_missing, n_threads=n_threads, **self.options
        )
