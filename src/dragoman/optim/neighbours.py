"""Steps over forests around references, and the scale at which a method learns from them."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from dragoman import _core
from dragoman.optim.epochs import Entry, EpochLearner, Split, Watched, visiting_order
from dragoman.types import Float64Array, Int64Array

if TYPE_CHECKING:
    from dragoman.optim.fastforest import FastForest

__all__ = ["Contest", "DenseWeights", "Form", "NeighbourLearner", "NeighbourLoss", "fit_scale"]

_N_SAMPLE = 1000
_RATES = (0.125, 0.5, 2.0, 8.0, 32.0)
_POWERS = range(-4, 9)
_CERTAIN = 0.01
_GOLDEN = (math.sqrt(5) - 1) / 2


class Form(StrEnum):
    """Which derivations with one rule replaced are summed."""

    WHOLE = "whole"  # all of them
    LIST = "list"  # those that Algorithm 1 meets, from the best derivation of the reference on


class Contest(StrEnum):
    """What competes with what."""

    DERIVATIONS = "derivations"  # all derivations of a forest with each other
    RULES = "rules"  # each rule of the reference's derivations with those in its place


class DenseWeights(StrEnum):
    """What becomes of the weights of dense features."""

    ASIDE = "aside"  # they are learned, so that others need not do their work, and in the end those of the start
    FIXED = "fixed"  # they stay as they are, as in the paper
    FREE = "free"  # they are learned, too


class NeighbourLoss(StrEnum):
    """What a step lowers."""

    LIKELIHOOD = "likelihood"  # - log p(e | f)
    EXPECTED_GAIN = "expected-gain"  # - log of the expected sentence BLEU
    SOFT_RAMP = "soft-ramp"
    RELATIVE_MARGIN = "relative-margin"  # that of RM, of rules


def fit_scale(method: FastForest, store: _core.ReferenceStore, values: Float64Array, *, n_threads: int = 1) -> float:
    """What to multiply weights by for the highest likelihood of the references.

    It is the first maximum from small scales on: where rules compete (`Contest.RULES`), large scales give all weight to
    derivations of rules without competitors, and likelihood rises again without a meaning. Where references become all
    but certain, there is no maximum, and nothing would compete: then the scale at which little is left of the loss.
    """
    model = method.model_of(NeighbourLoss.LIKELIHOOD)
    order = np.arange(len(store))

    def loss(power: float) -> float:
        if method.by_rule:
            store.weigh_references(model, values * 2.0**power, n_threads)
        return float(store.value(model, order, values * 2.0**power, n_threads)[0])

    losses = [loss(_POWERS[0])]
    for power in _POWERS[1:]:
        losses.append(loss(power))
        if losses[-1] < _CERTAIN * losses[0]:
            return float(2.0**power)
        if losses[-1] > losses[-2]:
            break
    best = _POWERS[int(np.argmin(losses))]
    low, high = best - 1.0, best + 1.0
    for _ in range(12):  # golden section
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if loss(left) < loss(right):
            high = right
        else:
            low = left
    return float(2.0 ** ((low + high) / 2))


class NeighbourLearner(EpochLearner):
    """Algorithm 2."""

    def __init__(
        self,
        method: FastForest,
        store: _core.ReferenceStore,
        start: Float64Array,
        free: Float64Array,
        *,
        seed: int,
        n_threads: int,
    ) -> None:
        self._method, self._store, self._start, self._free = method, store, start, free
        self._shrinks = free * (store.counts() > 0)  # what no forest has stays as it is
        self._seed, self._n_threads = seed, n_threads
        self._model = method.model()
        self._learner = self._new(1, 1.0)
        self._greedy = _core.GreedyDerivations() if method.form is Form.LIST else None

    def _new(self, n_sentences: int, rate: float) -> _core.Learner:
        # N / (i + i_0) is rate / (1 + rate i / N), with the rate N / i_0.
        method = self._method
        return _core.Learner(
            self._start,
            n_sentences,
            self._free,
            self._shrinks,
            rate,
            rate / method.variance,
            1 / method.variance,
            False,
            method.averaged,
        )

    def begin(self, n_sentences: int, rate: float) -> None:
        self._learner = self._new(n_sentences, rate)

    def calibrate(self, split: Split) -> float:
        """Of some rates that with the lowest loss after a pass over a part, on another part."""
        drawn = split.drawn
        n = max(1, min(_N_SAMPLE, len(drawn) // 2))
        learned, watched = drawn[:n], drawn[n : 2 * n] if len(drawn) > 1 else drawn
        losses = {}
        for rate in _RATES:
            # As long as a whole epoch's first part: the rate falls as slowly.
            learner = self._new(len(drawn), rate)
            greedy = None if self._greedy is None else _core.GreedyDerivations()
            self._store.epoch(learner, self._model, learned, self._method.batch, self._n_threads, greedy)
            loss = self._store.value(self._model, watched, learner.average(), self._n_threads)[0]
            losses[rate] = loss if math.isfinite(loss) else math.inf
        return min(losses, key=lambda rate: losses[rate])

    def epoch(self, learned: Int64Array, number: int) -> Entry:
        order = visiting_order(learned, key=(self._seed, number))
        n = max(1, len(order))
        loss = self._store.epoch(self._learner, self._model, order, self._method.batch, self._n_threads, self._greedy)
        entry: Entry = {"loss": loss / n}
        if self._greedy is not None:
            names = ("lexicalised", "generalised", "moves", "references", "listed")
            entry |= {name: count / n for name, count in zip(names, self._greedy.counts(), strict=True)}
        return entry

    def values(self) -> Float64Array:
        return self._learner.average()

    def watch(self, watched: Int64Array, values: Float64Array, entry: Entry) -> Watched:
        loss, share = self._store.value(self._model, watched, values, self._n_threads)
        mean = loss / max(1, len(watched))
        entry["watched_loss"], entry["share"] = mean, share
        return Watched(mean, -mean)
