"""Curves of a system's weights on a set of sentences, from lists that are widened where they say least.

The lists are those of the present weights to begin with. A round of widening decodes at two more weights of the
feature: at the ends of the range first, then in the middle of the best stretch, and between those two decoded weights
between which the curve goes up and down most. A sentence none of whose options has the feature translates alike
whatever its weight, so only the others are decoded again. Checks are decodings that the curve knows nothing of.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from dragoman.analysis.curves.exact import Curve, check_range, curve_of, differing, feature_column, on_envelopes
from dragoman.analysis.curves.features import frequent_and_rare, reaches_of
from dragoman.candidates import Objective, Pool, merge_pools, rerank
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Metric, Tokenizer
from dragoman.settings import Record
from dragoman.system import Preset, System, SystemView
from dragoman.tuning.text_set import read_set
from dragoman.types import Int64Array, PathLike, Paths, Progress

__all__ = ["Check", "CurveConfig", "CurveDecoder", "Frequency", "Shown", "WeightCurve", "system_curves", "weight_curve"]

_NEAR = 0.01
"""Weights nearer than this part of the range are not both decoded."""


class Frequency(StrEnum):
    """Why a feature is looked at."""

    NAMED = "named"
    FREQUENT = "frequent"  # candidates differ in it in most lists
    RARE = "rare"  # and in fewest


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveConfig(Record):
    """What can be chosen about curves."""

    low: float | None = None
    """The least weight; None: by what the feature does to model scores, below its present weight."""
    high: float | None = None
    """The greatest weight, likewise."""
    k: int = 500
    """Candidates of a sentence and decoding."""
    n_rounds: int = 3
    """Rounds of widening at most."""
    n_checks: int = 0
    """Weights at which the curve is compared with decoding."""
    n_frequent: int = 0
    """Further features: sparse ones in which most lists differ."""
    n_rare: int = 0
    """Further features: sparse ones in which fewest lists differ."""
    metric: Metric | str = "bleu"
    """Its name, or itself with all of its settings."""
    tokenizer: Tokenizer = Tokenizer.NONE
    """Of BLEU, where the system's tokens are not what it should count."""
    lowercase: bool = False
    """Ignore case in BLEU and chrF."""
    features: tuple[str, ...] | None = None
    """Sparse features; None: those that the system was trained with."""
    preset: Preset = Preset.DEFAULT
    fold: int | None = None
    """Decode as if this fold had not been in the training."""

    def _check(self) -> None:
        if self.k < 2:
            raise InputError(f"a curve needs at least two candidates of a sentence, not {self.k}")
        if min(self.n_rounds, self.n_checks, self.n_frequent, self.n_rare) < 0:
            raise InputError("numbers of rounds, checks and features must not be negative")
        for end in (self.low, self.high):
            if end is not None and not math.isfinite(end):
                raise InputError(f"a range of weights cannot end at {end}; expected a finite number")
        if self.low is not None and self.high is not None:
            check_range(self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The score of decoding at a weight beside that of the curve."""

    weight: float
    decoded: float
    curve: float

    @property
    def deviation(self) -> float:
        return abs(self.decoded - self.curve)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightCurve(Record):
    """The curve of a weight, and how it came about. Scores are fractions, in the metric's own direction."""

    curve: Curve
    weight: float
    """The present one, which may be outside the range."""
    score: float
    """At the present weight, from the same lists."""
    n_lists: int
    """Lists of the present weights whose candidates differ in the feature."""
    n_sentences: int
    """Sentences whose translations can have the feature."""
    decoded: tuple[float, ...]
    """Weights that the lists come from, in the order of decoding."""
    checks: tuple[Check, ...] = ()
    frequency: Frequency = Frequency.NAMED

    @property
    def feature(self) -> str:
        return self.curve.feature

    def gain(self) -> float:
        """How much better the best stretch is than the present weight."""
        difference = self.curve.best().score - self.score
        return difference if self.curve.metric.higher_is_better else -difference

    def deviation(self) -> float | None:
        """The greatest difference between curve and decoding; None without checks."""
        return max((check.deviation for check in self.checks), default=None)


class CurveDecoder(Protocol):
    """Sentences that can be decoded again, all or some."""

    def decode(self, weights: Weights, sentences: Int64Array, k: int, progress: Progress | None = None) -> Pool:
        """The k best candidates of these sentences, whose numbers are their ids in the pool."""
        ...


Shown = Callable[[str, int | None], contextlib.AbstractContextManager[Progress]]
"""Shows work with a name and a total while it lasts."""


def system_curves(
    system: System | PathLike,
    source: PathLike,
    references: Paths,
    features: Sequence[str] = (),
    *,
    config: CurveConfig | None = None,
    weights: Weights | None = None,
    raw: bool | None = None,
    n_threads: int = 1,
    shown: Shown | None = None,
) -> list[WeightCurve]:
    """The corpus score of a system's translations as a function of each of these weights, the others fixed.

    `weights` are those around which to look, by default the system's own; `raw` says whether the text is raw, where
    it is not what the system was trained on. The frequent and the rare features that
    `config` asks for follow the named ones. Raises InputError for a feature that no translation can have.
    """
    config, show = config or CurveConfig(), shown or _not_shown
    parent = system if isinstance(system, System) else System.load(system)
    if config.features is not None:
        parent = parent.with_templates(config.features)
    sentences, texts = read_set(source, references, parent, raw=raw)
    objective = Objective(config.metric, texts, tokenizer=config.tokenizer, lowercase=config.lowercase)
    if not features and not config.n_frequent + config.n_rare:
        raise InputError("there is no feature to vary; name one, or ask for frequent and rare ones")
    view = parent.view(config.fold)
    used = (view.weights if weights is None else weights).on(view.index)
    if not used.is_usable():
        raise InputError("the weights are all zero, or not finite")
    decoder = _SystemDecoder(view, sentences, config.preset, n_threads)
    named = list(dict.fromkeys(features))
    places = decoder.sentences_with(named)
    with show("decoding", len(sentences)) as progress:
        lists = decoder.decode(used, np.arange(len(sentences), dtype=np.int64), config.k, progress)
    frequent, rare = frequent_and_rare(lists, config.n_frequent, config.n_rare, besides=set(named))
    places |= decoder.sentences_with([*frequent, *rare])
    curves = []
    ranges = _ranges(config, lists, used, list(places))
    for (name, there), (low, high) in zip(places.items(), ranges, strict=True):
        with show(name, (2 * config.n_rounds + config.n_checks) * len(there)) as progress:
            made = weight_curve(
                decoder,
                lists,
                used,
                name,
                low,
                high,
                sentences=there,
                objective=objective,
                k=config.k,
                n_rounds=config.n_rounds,
                n_checks=config.n_checks,
                n_threads=n_threads,
                progress=progress,
            )
        why = Frequency.FREQUENT if name in frequent else Frequency.RARE if name in rare else Frequency.NAMED
        curves.append(replace(made, frequency=why))
    return curves


def weight_curve(
    decoder: CurveDecoder,
    lists: Pool,
    weights: Weights,
    feature: str,
    low: float,
    high: float,
    *,
    sentences: Int64Array,
    objective: Objective,
    k: int = 500,
    n_rounds: int = 3,
    n_checks: int = 0,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> WeightCurve:
    """The curve of one weight from `low` to `high`, from `lists` (of all sentences by `weights`) and wider ones.

    `sentences` are those whose translations can have the feature; `objective` measures a pool.
    """
    check_range(low, high)
    now = weights[feature]
    n_decoded = 0

    def decode(weight: float, k: int) -> Pool:
        nonlocal n_decoded
        found = decoder.decode(_at(weights, feature, weight), sentences, k, _after(progress, n_decoded))
        n_decoded += len(sentences)
        return found

    def trimmed(pool: Pool) -> Pool:
        return on_envelopes(pool, weights, feature, min(low, now), max(high, now), n_threads=n_threads)

    def measured(pool: Pool) -> Pool:
        return objective.measure(pool, n_threads=n_threads)

    kept = trimmed(lists)
    curve = curve_of(measured(kept), weights, feature, low, high, n_threads=n_threads)
    decoded = [now]
    for number in range(1, n_rounds + 1 if len(sentences) else 1):
        points = [low, high] if number == 1 else _least_known(curve, decoded)
        points = [point for point in points if point not in decoded]
        for point in points:
            kept = trimmed(merge_pools([kept, trimmed(decode(point, k))], n_threads=n_threads))
        decoded += points
        before, curve = curve, curve_of(measured(kept), weights, feature, low, high, n_threads=n_threads)
        if number > 1 and np.array_equal(curve.corners, before.corners):
            break
    others = _others(lists, weights, sentences, n_threads)
    checks = []
    for point in _check_points(curve, n_checks):
        best = merge_pools([others, decode(point, 1)]) if len(sentences) else others
        score = rerank(measured(best), _at(weights, feature, point)).score()
        checks.append(Check(weight=point, decoded=score, curve=curve.at(point)))
    columns = ((shard, feature_column(shard, lists.index.find(feature))) for shard in lists.shards)
    return WeightCurve(
        curve=curve,
        weight=now,
        score=rerank(measured(kept), weights, n_threads=n_threads).score(),
        n_lists=sum(len(differing(shard, column)) for shard, column in columns),
        n_sentences=len(sentences),
        decoded=tuple(decoded),
        checks=tuple(checks),
    )


def _at(weights: Weights, feature: str, weight: float) -> Weights:
    there = weights.copy()
    there[feature] = weight
    return there


def _after(progress: Progress | None, n_before: int) -> Progress | None:
    return None if progress is None else lambda done: progress(n_before + done)


def _least_known(curve: Curve, decoded: Sequence[float]) -> list[float]:
    """Two weights to decode at: the middle of the best stretch, unless one near it was decoded, and gaps between.

    A gap is bounded by decoded weights. The curve can be as wrong there as it goes up and down: the gap with the most
    ups and downs is divided where half of them are on either side, then the next.
    """
    known = np.array(sorted({curve.low, curve.high, *(x for x in decoded if curve.low < x < curve.high)}))
    best = curve.best().middle
    points = [] if np.abs(known - best).min() < _NEAR * (curve.high - curve.low) else [best]
    moves = np.append(np.abs(np.diff(curve.scores)), 0.0)  # at each corner
    ends = np.searchsorted(curve.corners, known)
    passed = np.concatenate([[0.0], np.cumsum(moves)])  # before each corner
    for gap in np.lexsort((-np.diff(known), -np.diff(passed[ends]))).tolist():
        begin, end = ends[gap : gap + 2].tolist()
        half = begin + int(np.searchsorted(passed[begin + 1 : end], (passed[begin] + passed[end]) / 2))
        sides = [known[gap], *curve.corners[begin:end], known[gap + 1]]
        points.append(float(sides[half - begin] + sides[half - begin + 1]) / 2)
    return points[:2]


def _check_points(curve: Curve, n: int) -> list[float]:
    """The middle of the best stretch, both ends, and weights evenly between them, as many as are asked for."""
    first = [curve.best().middle, curve.low, curve.high][:n]
    between = np.linspace(curve.low, curve.high, max(2, n - 1))[1:-1].tolist()
    return sorted({*first, *between})


def _others(lists: Pool, weights: Weights, sentences: Int64Array, n_threads: int) -> Pool:
    """The best candidates of all other sentences, which do not depend on the weight."""
    ids = np.concatenate([np.zeros(0, np.int64), *(shard.sentence_ids for shard in lists.shards)])
    rest = lists.of_sentences(np.setdiff1d(ids, sentences))
    chosen = rerank(rest, weights, n_threads=n_threads).candidates
    shards = [shard.select(best[best >= 0]) for shard, best in zip(rest.shards, chosen, strict=True)]
    return replace(rest, shards=tuple(shards))


def _ranges(config: CurveConfig, lists: Pool, weights: Weights, features: Sequence[str]) -> list[tuple[float, float]]:
    if config.low is not None and config.high is not None:
        return [(config.low, config.high)] * len(features)
    found = []
    for name, reach in zip(features, reaches_of(lists, weights, features), strict=True):
        now = weights[name]
        low = now - reach if config.low is None else config.low
        high = now + reach if config.high is None else config.high
        check_range(low, high)
        found.append((low, high))
    return found


class _SystemDecoder:
    """A view of a system and sentences, as curves want them."""

    def __init__(self, view: SystemView, sentences: Sequence[str], preset: Preset, n_threads: int) -> None:
        self._view, self._sentences, self._preset, self._n_threads = view, sentences, preset, n_threads

    def decode(self, weights: Weights, sentences: Int64Array, k: int, progress: Progress | None = None) -> Pool:
        pool = self._view.kbest(
            [self._sentences[s] for s in sentences.tolist()],
            k,
            weights=weights.on(self._view.index),
            preset=self._preset,
            n_threads=self._n_threads,
            progress=progress,
        )
        numbered = [
            replace(shard, sentence_ids=sentences[shard.sentence_ids].astype(np.int32)) for shard in pool.shards
        ]
        return replace(pool, shards=tuple(numbered))

    def sentences_with(self, features: Sequence[str]) -> dict[str, Int64Array]:
        """For each feature the sentences whose translations can have it. Raises InputError where there is none."""
        translator = self._view.translator
        dense = set(translator.dense())
        sparse = [name for name in features if name not in dense]
        ids = np.array([self._view.index.intern(name) for name in sparse], dtype=np.int32)
        can_have = translator.can_have(self._sentences if sparse else [], ids)
        everything = np.arange(len(self._sentences), dtype=np.int64)
        found = {name: everything for name in features if name in dense} | {
            name: np.flatnonzero(column) for name, column in zip(sparse, can_have.T, strict=True)
        }
        for name in features:
            if not len(found[name]):
                raise InputError(
                    f"no translation of these sentences can have a feature '{name}'; dense features are "
                    f"{', '.join(translator.dense())}; sparse ones are those of the templates that `features` names"
                )
        return {name: found[name] for name in features}


@contextlib.contextmanager
def _not_shown(what: str, total: int | None) -> Iterator[Progress]:
    yield lambda done: None
