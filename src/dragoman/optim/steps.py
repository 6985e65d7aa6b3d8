"""Stochastic steps against the gradients of a loss, in the native core or, for a loss from outside, list by list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from dragoman import _core
from dragoman.candidates import Shard, spooled
from dragoman.optim.epochs import Entry, EpochLearner, Watched
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.loss import Loss
from dragoman.optim.prepared import Prepared
from dragoman.optim.score_loss import ScoreLoss, check_level
from dragoman.optim.update import Update
from dragoman.types import Float64Array, Int64Array

__all__ = ["Losses", "Steps", "losses_of"]

_LISTS = 256
"""Lists that are watched at a time."""


class Losses(ABC):
    """A loss over prepared lists."""

    def __init__(self, prepared: Prepared, n_threads: int) -> None:
        self._prepared = prepared
        self._lists = prepared.lists
        self._n_threads = n_threads

    @abstractmethod
    def watched(self, order: Int64Array, weights: Float64Array) -> float:
        """Summed over some lists; what tells whether learning still helps."""

    @abstractmethod
    def epoch(self, learner: _core.Learner, order: Int64Array, batch: int) -> float:
        """Steps once through some lists in order; the sum of their losses on the way."""

    def regret(self, order: Int64Array, weights: Float64Array) -> float:
        """The gain that the model's choices miss, mean over some lists."""
        return self._lists.loss(_core.list_loss("regret"), order, weights, self._n_threads) / len(order)


def losses_of(loss: Loss, prepared: Prepared, n_threads: int) -> Losses:
    """The loss in the native core where it has a kernel there; else by its slopes, or by its gradients."""
    if isinstance(loss, ListLoss):
        return _Native(loss, prepared, n_threads)
    if isinstance(loss, ScoreLoss):
        return _Scored(loss, prepared, n_threads)
    return _FromOutside(loss, prepared, n_threads)


class Steps(EpochLearner):
    """Weights that follow the gradients of a loss by a rule of update."""

    def __init__(
        self,
        prepared: Prepared,
        losses: Losses,
        update: Update,
        start: Float64Array,
        n_lists: int,
        key: Sequence[int],
    ) -> None:
        rates, penalty_rates = prepared.rates(update)
        rule = (update.step, update.decay, update.l2, update.adaptive, update.averaged)
        self._learner = _core.Learner(start, n_lists, rates, penalty_rates, *rule)
        self._losses = losses
        self._update = update
        self._key = key

    def epoch(self, learned: Int64Array, number: int) -> Entry:
        """In an order drawn for the epoch."""
        order = np.random.default_rng([*self._key, number]).permutation(learned)
        return {"loss": self._losses.epoch(self._learner, order, self._update.batch) / len(learned)}

    def values(self) -> Float64Array:
        """As the rule says."""
        return self._learner.average() if self._update.averaged else self._learner.weights()

    def watch(self, watched: Int64Array, values: Float64Array, entry: Entry) -> Watched:
        """The best weights are those that miss the least gain."""
        loss, regret = self._losses.watched(watched, values) / len(watched), self._losses.regret(watched, values)
        entry |= {"watched": loss, "regret": regret}
        return Watched(loss, -regret)


class _Native(Losses):
    def __init__(self, loss: ListLoss, prepared: Prepared, n_threads: int) -> None:
        super().__init__(prepared, n_threads)
        self._loss = loss

    def watched(self, order: Int64Array, weights: Float64Array) -> float:
        return self._lists.loss(self._loss.watched, order, weights, self._n_threads)

    def epoch(self, learner: _core.Learner, order: Int64Array, batch: int) -> float:
        return learner.epoch(self._lists, order, self._loss.kernel, batch, self._n_threads)


class _Scored(Losses):
    """The core turns weights to scores and slopes of scores to steps."""

    def __init__(self, loss: ScoreLoss, prepared: Prepared, n_threads: int) -> None:
        super().__init__(prepared, n_threads)
        self._loss = loss

    def watched(self, order: Int64Array, weights: Float64Array) -> float:
        total = 0.0
        for begin in range(0, len(order), _LISTS):
            scored = self._lists.scored(order[begin : begin + _LISTS], weights)
            value, slopes = self._loss.slopes(*scored)
            check_level(slopes, scored[2])
            total += value
        return total

    def epoch(self, learner: _core.Learner, order: Int64Array, batch: int) -> float:
        total = 0.0
        for begin in range(0, len(order), batch):
            end = min(begin + batch, len(order))
            value, slopes = self._loss.slopes(*learner.begin_list_step(self._lists, order, begin, end))
            learner.finish_list_step(self._lists, order[begin:end], slopes)
            total += value
        return total


class _FromOutside(Losses):
    def __init__(self, loss: Loss, prepared: Prepared, n_threads: int) -> None:
        super().__init__(prepared, n_threads)
        self._loss = loss
        self._shards = spooled(prepared.pool.shards)
        self._starts = np.cumsum([0, *(shard.n_sentences for shard in self._shards)])
        self._sentences = prepared.lists.sentences()

    def watched(self, order: Int64Array, weights: Float64Array) -> float:
        return sum(self._loss.gradient(self._shard(number), weights)[0] for number in order.tolist())

    def epoch(self, learner: _core.Learner, order: Int64Array, batch: int) -> float:
        differing = self._prepared.differing
        total = 0.0
        for begin in range(0, len(order), batch):
            members = [self._shard(number) for number in order[begin : begin + batch].tolist()]
            learner.begin_step(len(members))
            found = []
            for part in members:
                learner.touch(np.unique(part.feature_ids[differing[part.feature_ids]]))
                value, gradient, _ = self._loss.gradient(part, learner.live())
                total += value
                found.append(gradient)
            for ids, values in found:
                free = differing[ids]
                learner.apply(ids[free], values[free])
        return total

    def _shard(self, number: int) -> Shard:
        """A list as a shard of one sentence."""
        sentence = int(self._sentences[number])
        k = int(np.searchsorted(self._starts, sentence, side="right")) - 1
        local = sentence - int(self._starts[k])
        return self._shards[k].part(local, local + 1)
