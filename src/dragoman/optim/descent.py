"""Any loss with any rule of update: stochastic descent over the sentences of a pool.

The objective is the sum of the loss over all lists plus l2/2 |w|^2. One epoch visits the lists in an order drawn from a
stream keyed by (seed, round, epoch) and after each `batch` of them takes

    w <- w - step_t . rate . (gradient of the batch + its share of the penalty)

Lists are prepared once (`_core.ListStore`): features on columns, without those that do not differ between the
candidates of a list. Everything per update is sparse: penalty and average catch up when a feature is met again.
Between two meetings the penalty acts as exponential decay, which is what many small steps amount to.

A part of the lists is held out. After each epoch the loss on them is watched; when it has not fallen by a factor of
`tolerance` for `patience` epochs, learning ends. The weights of the best epoch are the result.
"""

from __future__ import annotations

import math
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.metric import SentenceBleu
from dragoman.optim.base import Result, check_start, check_tunable, finish, frozen_ids
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.loss import Loss
from dragoman.pool import Pool, Shard
from dragoman.types import Float64Array, Int64Array

__all__ = ["Conditioning", "Descent", "Stopping", "Update", "descend"]

MEMORY_BYTES = 1 << 29
"""Prepared lists beyond this size go to a scratch file in the folder for temporary files."""

_MIN_HELD_OUT = 20


class Conditioning(StrEnum):
    """What the gradient of a feature is divided by."""

    NONE = "none"  # nothing
    LISTS = "lists"  # the number of lists in which a candidate has it; of dense features: all lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """How weights follow gradients.

    The step after e epochs is step / (1 + decay e). `adaptive` is AdaGrad: a feature's step is divided by the root of
    its summed squared gradients. `averaged` returns the mean of the weights after each update. `scale_dense` measures
    dense features in their deviation within lists, so that their scale does not matter. The gradients of a `batch` are
    added; only a batch is shared by threads.
    """

    step: float = 0.1
    decay: float = 0.0
    l2: float = 0.0
    adaptive: bool = False
    averaged: bool = False
    batch: int = 1
    conditioning: Conditioning = Conditioning.NONE
    scale_dense: bool = True

    def __post_init__(self) -> None:
        if not (self.step > 0 and math.isfinite(self.step)):
            raise InputError(f"the step must be positive, not {self.step}")
        if not self.decay >= 0 or not self.l2 >= 0 or not math.isfinite(self.decay + self.l2):
            raise InputError("decay and l2 must not be negative")
        if self.batch < 1:
            raise InputError(f"a batch has at least one list, not {self.batch}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """When to end. With fewer than 20 lists to hold out, or a share of 0, the lists learned from are watched."""

    max_epochs: int = 100
    tolerance: float = 3e-4
    patience: int = 3
    held_out: float = 0.1

    def __post_init__(self) -> None:
        if self.max_epochs < 1 or self.patience < 1:
            raise InputError("epochs and patience must be positive")
        if not self.tolerance >= 0:
            raise InputError(f"the tolerance must not be negative, but is {self.tolerance}")
        if not 0 <= self.held_out < 1:
            raise InputError(f"the share to hold out must be in [0, 1), not {self.held_out}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent(ABC):
    """An optimiser made of a loss and a rule of update; subclasses choose them and their defaults.

    `freeze_dense` keeps the weights of dense features; none keeps them unless there is nothing else to learn or the
    start has none. `sentence_bleu` says how BLEU of a candidate alone is smoothed (default: the method's).
    """

    step: float
    batch: int = 1
    max_epochs: int = 30
    tolerance: float = 3e-4
    held_out: float = 0.1
    freeze_dense: bool | None = False
    sentence_bleu: SentenceBleu | None = None

    def __post_init__(self) -> None:
        self.update()
        self.stopping()

    @abstractmethod
    def loss(self, pool: Pool) -> ListLoss:
        """The loss for a pool's metric."""

    @abstractmethod
    def update(self) -> Update:
        """The rule of update."""

    def stopping(self) -> Stopping:
        """On held-out sentences."""
        return Stopping(max_epochs=self.max_epochs, tolerance=self.tolerance, held_out=self.held_out)

    def optimise(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int = 0,
        frozen: Collection[str] = (),
        threads: int = 1,
    ) -> Result:
        """Descend from `start`."""
        return descend(
            pool,
            start,
            self.loss(pool),
            update=self.update(),
            stopping=self.stopping(),
            seed=seed,
            round_number=round_number,
            frozen=frozen,
            freeze_dense=self.freeze_dense,
            threads=threads,
        )


def descend(
    pool: Pool,
    start: Weights,
    loss: Loss,
    *,
    update: Update,
    stopping: Stopping,
    seed: int,
    round_number: int = 0,
    frozen: Collection[str] = (),
    freeze_dense: bool | None = False,
    threads: int = 1,
) -> Result:
    """Weights that lower the loss, from `start`.

    `freeze_dense` None freezes dense features where that leaves something to learn and `start` knows them.
    """
    check_tunable(pool)
    start = check_start(pool, start)
    problem, note = _prepare(pool, start, loss, frozen_ids(pool, frozen), freeze_dense, threads)
    lists, notes = problem.lists, [note] if note else []
    order = np.random.default_rng([seed, round_number, 0]).permutation(len(lists))
    n_held_out = int(stopping.held_out * len(lists))
    if n_held_out < _MIN_HELD_OUT:
        n_held_out = 0
    train = np.sort(order[n_held_out:])
    watched = np.sort(order[:n_held_out]) if n_held_out else train
    gradient_rates, penalty_rates = _rates(problem, update)
    learner = _core.Learner(
        start.values,
        len(train),
        gradient_rates,
        penalty_rates,
        update.step,
        update.decay,
        update.l2,
        update.adaptive,
        update.averaged,
    )
    run, watch = _kernels(problem, loss, learner, update.batch, threads)
    best, best_loss = start.values, math.inf
    settled, n_stale = 0.0, 0
    trace: list[dict[str, float | int | str]] = []
    for epoch in range(1, stopping.max_epochs + 1):
        rng = np.random.default_rng([seed, round_number, epoch])
        mean = run(train[rng.permutation(len(train))]) / len(train)
        values = learner.average() if update.averaged else learner.weights()
        seen = watch(watched, values) / len(watched)
        if not (math.isfinite(seen) and np.isfinite(values).all()):
            raise FailedError(f"the weights grew beyond all bounds in epoch {epoch}; use a smaller step")
        trace.append({"epoch": epoch, "loss": mean, "watched": seen})
        if seen < best_loss:
            best, best_loss = values, seen
        if epoch == 1 or settled - seen > stopping.tolerance * abs(settled):
            settled, n_stale = seen, 0
            continue
        n_stale += 1
        if n_stale == stopping.patience:
            break
    else:
        if stopping.max_epochs > 1:
            notes.append(f"the loss still fell after {stopping.max_epochs} epochs")
    trace[0] |= {"lists": len(train), "held_out": n_held_out, "features": int(problem.differing.sum())}
    weights = start.copy()
    weights.values[problem.differing] = best[problem.differing]
    result = finish(pool, start, weights, threads=threads, trace=tuple(trace), notes=tuple(notes))
    if result.gain_after < result.gain_before:
        worse = "the loss fell, but the metric of the best candidates is now lower than with the start"
        result = replace(result, notes=(*result.notes, worse))
    return result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Problem:
    pool: Pool
    lists: _core.ListStore
    fixed: NDArray[np.bool_]
    differing: NDArray[np.bool_]


def _prepare(
    pool: Pool, start: Weights, loss: Loss, frozen: NDArray[np.int32], freeze_dense: bool | None, threads: int
) -> tuple[_Problem, str]:
    dense = np.array(sorted(pool.dense), dtype=np.int32)
    fixed = np.zeros(len(pool.index), dtype=bool)
    fixed[frozen] = True
    note = ""
    if freeze_dense is None and len(dense):
        freeze_dense = bool(start.values[dense].any())
        if not freeze_dense:
            note = "the start has no weights for the dense features, so they are learned too"
        else:
            problem = _problem(pool, start, loss, _with(fixed, dense), threads)
            if len(problem.lists):
                return problem, ""
            freeze_dense = False
            note = "the candidates differ in dense features alone, so these are learned instead of being frozen"
    problem = _problem(pool, start, loss, _with(fixed, dense) if freeze_dense else fixed, threads)
    if len(problem.lists) == 0:
        which = "that is not frozen " if freeze_dense or len(frozen) else ""
        raise InputError(f"no feature {which}differs between the candidates of a sentence, so weights cannot matter")
    return problem, note


def _with(fixed: NDArray[np.bool_], ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    more = fixed.copy()
    more[ids] = True
    return more


def _problem(pool: Pool, start: Weights, loss: Loss, fixed: NDArray[np.bool_], threads: int) -> _Problem:
    lists = _core.ListStore(len(pool.index), MEMORY_BYTES, tempfile.gettempdir())
    mask = fixed.view(np.uint8) if fixed.any() else np.zeros(0, dtype=np.uint8)
    for shard in pool.shards:
        gains = loss.gains(shard) if isinstance(loss, ListLoss) else np.zeros(shard.n_candidates)
        lists.add(*shard.candidates, gains, mask, start.values, threads)
    lists.seal()
    return _Problem(pool=pool, lists=lists, fixed=fixed, differing=lists.differing().astype(bool))


def _rates(problem: _Problem, update: Update) -> tuple[Float64Array, Float64Array]:
    """What multiplies the gradient and what multiplies the penalty of each feature; nothing where all are 1."""
    dense = np.array(sorted(problem.pool.dense), dtype=np.int32)
    dense = dense[problem.differing[dense]]
    gradient = np.ones(len(problem.differing))
    if update.conditioning is Conditioning.LISTS:
        counts = problem.lists.list_counts()
        gradient /= np.maximum(counts, 1)
        gradient[dense] = 1 / len(problem.lists)
    penalty = gradient.copy()
    if update.scale_dense and len(dense):
        gradient[dense] /= problem.lists.variances()[dense]
    if (gradient == 1).all():
        return np.zeros(0), np.zeros(0)
    return gradient, penalty


_Run = Callable[[Int64Array], float]
_Watch = Callable[[Int64Array, Float64Array], float]


def _kernels(
    problem: _Problem, loss: Loss, learner: _core.Learner, batch: int, threads: int
) -> tuple[_Run, _Watch]:
    """One epoch, and the loss on some lists: in the native core, or list by list for a loss from outside."""
    lists = problem.lists
    if isinstance(loss, ListLoss):
        kernel, watched = loss.kernel, loss.watched
        return (
            lambda order: learner.epoch(lists, order, kernel, batch, threads),
            lambda order, weights: lists.loss(watched, order, weights, threads),
        )
    parts = _Parts(problem)

    def run(order: Int64Array) -> float:
        total = 0.0
        for begin in range(0, len(order), batch):
            members = [parts[number] for number in order[begin : begin + batch].tolist()]
            learner.begin_step(len(members))
            found = []
            for part in members:
                learner.touch(np.unique(part.feature_ids))
                value, gradient, _ = loss.gradient(part, learner.live())
                total += value
                found.append(gradient)
            for ids, values in found:
                free = problem.differing[ids]
                learner.apply(ids[free], values[free])
        return total

    return run, lambda order, weights: sum(loss.gradient(parts[number], weights)[0] for number in order.tolist())


class _Parts:
    """Lists of the store as shards of one sentence."""

    def __init__(self, problem: _Problem) -> None:
        self._shards = problem.pool.shards
        self._starts = np.cumsum([0, *(shard.n_sentences for shard in self._shards)])
        self._sentences = problem.lists.sentences()

    def __getitem__(self, number: int) -> Shard:
        sentence = int(self._sentences[number])
        k = int(np.searchsorted(self._starts, sentence, side="right")) - 1
        local = sentence - int(self._starts[k])
        return self._shards[k].part(local, local + 1)
