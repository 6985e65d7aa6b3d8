"""The scale of the posterior that agreement features are made with, learned from lists with references."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dragoman.candidates import Pool, expected_gains, gain_correlation, metric_of, model_totals, posteriors
from dragoman.candidates.features.agreement import LEARNED, filled_with_means, stem_of
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu, Chrf
from dragoman.types import Float64Array

__all__ = ["LearnedScale", "learn_agreement_scale", "needs_scale", "with_learned_scales", "with_scales_of"]

_STEPS = 9
"""Scales on the first grid, from a posterior that is nearly uniform to one that is nearly a single candidate."""
_FLATTEST, _SHARPEST = 0.05, 20.0
"""Scale times the deviation of scores within a list, at the ends of the grid."""
_HALVINGS = 4
_DIGITS = 2
"""Significant digits of the result, which is part of the features' names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedScale:
    """A scale, and the correlation of expected with real gains within lists that it and scale 0 (uniform) give."""

    name: str
    scale: float
    correlation: float
    uniform: float

    @property
    def told(self) -> str:
        """The feature with its scale, as `--add` takes it."""
        return f"agreement={self.name}:{self.scale:g}"


def needs_scale(told: str) -> str | None:
    """The score whose scale is to be learned, of a feature such as `agreement=l2r:learned`; else None."""
    kind, _, argument = told.partition("=")
    name, _, scale = argument.partition(":")
    return name if kind == "agreement" and scale == LEARNED else None


def learn_agreement_scale(pool: Pool, name: str, *, n_threads: int = 1) -> LearnedScale:
    """The scale γ of p(e) ~ exp(γ · score) for which agreement tells most about the gains of the pool's metric.

    `name` is a feature, or `total`. What is maximised is the mean of two correlations: of the sentence gains, relative
    to the mean of their list, with expected sentence BLEU and with expected chrF. A grid in the logarithm of γ, then
    its best interval in ever smaller steps; 0 if no scale is better than a uniform posterior.
    """
    metric_of(pool)
    scores = _scores(pool, name)
    spread = _spread(pool, scores)
    worth = _worth(pool, scores, n_threads)
    uniform = worth(0.0)
    best = (uniform, 0.0)
    if spread > 0:
        logs = np.linspace(np.log(_FLATTEST), np.log(_SHARPEST), _STEPS)
        step = float(logs[1] - logs[0])
        tried = [(worth(float(np.exp(log)) / spread), float(log)) for log in logs]
        best_log = max(tried, key=lambda found: (found[0], -found[1]))
        for _ in range(_HALVINGS):
            step /= 2
            around = [best_log[1] - step, best_log[1] + step]
            tried = [best_log, *((worth(float(np.exp(log)) / spread), log) for log in around)]
            best_log = max(tried, key=lambda found: found[0])
        rounded = float(f"{np.exp(best_log[1]) / spread:.{_DIGITS}g}")
        best = max(best, (worth(rounded), rounded), key=lambda found: found[0])
    return LearnedScale(name=name, scale=best[1], correlation=best[0], uniform=uniform)


def with_learned_scales(told: Sequence[str], pool: Pool, *, n_threads: int = 1) -> tuple[list[str], list[LearnedScale]]:
    """Features with the scales that the pool, which has a metric, teaches in the place of `learned`."""
    learned = {name: learn_agreement_scale(pool, name, n_threads=n_threads) for name in map(needs_scale, told) if name}
    return [learned[name].told if (name := needs_scale(each)) else each for each in told], list(learned.values())


def with_scales_of(told: Sequence[str], weights: Weights) -> list[str]:
    """Features with the scales that the names of weights have in the place of `learned`, as for lists to be reranked.

    Raises InputError where weights have none, or several.
    """
    found = []
    for each in told:
        name = needs_scale(each)
        if name is None:
            found.append(each)
            continue
        pattern = re.compile(re.escape(stem_of(name, "")) + r"([0-9.e+-]+)_(?:[1-4]|bleu|chrf)")
        scales = {match[1] for feature, _ in weights.items() if (match := pattern.fullmatch(feature))}
        if len(scales) != 1:
            known = ", ".join(sorted(scales)) or "none"
            raise InputError(
                f"{each}: the weights should be of features with one scale, such as {stem_of(name, '0.5')}_bleu, but "
                f"have {known}; say the scale that `tune` reported: agreement={name}:0.5"
            )
        found.append(f"agreement={name}:{scales.pop()}")
    return found


def _scores(pool: Pool, name: str) -> list[Float64Array]:
    if name == "total":
        return [shard.totals for shard in pool.shards]
    if pool.index.find(name) < 0:
        raise InputError(f"agreement: the candidates have no feature '{name}'")
    filled = replace(pool, shards=tuple(filled_with_means(pool, shard, name).shards[0] for shard in pool.shards))
    return model_totals(filled, Weights.from_dict({name: 1.0}))


def _spread(pool: Pool, scores: Sequence[Float64Array]) -> float:
    """The standard deviation of scores within their lists."""
    squares, n = 0.0, 0
    for shard, values in zip(pool.shards, scores, strict=True):
        of_each = shard.sentence_of_each()
        counts = np.maximum(np.bincount(of_each, minlength=shard.n_sentences), 1)
        centred = values - (np.bincount(of_each, values, shard.n_sentences) / counts)[of_each]
        squares += float(centred @ centred)
        n += len(centred)
    return float(np.sqrt(squares / max(1, n)))


def _worth(pool: Pool, scores: Sequence[Float64Array], n_threads: int) -> Callable[[float], float]:
    def worth(scale: float) -> float:
        mass = posteriors(pool, scale=scale, scores=scores)
        found = [
            gain_correlation(pool, expected_gains(pool, utility, mass, n_threads=n_threads))
            for utility in (Bleu(), Chrf())
        ]
        return float(np.mean([each or 0.0 for each in found]))

    return worth
