"""Any loss with any rule of update: stochastic descent over the sentences of a pool.

The objective is the sum of the loss over all lists plus l2/2 |w|^2. One epoch visits the lists in an order drawn from a
stream keyed by (seed, round, epoch) and after each `batch` of them takes

    w <- w - step_t . rate . (gradient of the batch + its share of the penalty)

Lists are prepared once (`_core.ListStore`): features on columns, without those that do not differ between the
candidates of a list. Everything per update is sparse: penalty and average catch up when a feature is met again.
Between two meetings the penalty acts as exponential decay, which is what many small steps amount to.

Weights of MERT and its kin have no scale, but a loss has: with nothing frozen, the start is first multiplied by a power
of two that suits the loss, which changes no ranking.

A part of the lists is held out. After each epoch the loss on them is watched; when it has not fallen by a factor of
`tolerance` for `patience` epochs, learning ends. The result is the weights, of all epochs and the start, whose choices
miss the least gain on the watched lists.
"""

from __future__ import annotations

import math
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.metric import SentenceBleu
from dragoman.optim.base import Result, check_start, check_tunable, finish, frozen_ids
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.loss import Loss
from dragoman.optim.update import MIN_HELD_OUT, Conditioning, Stopping, Update
from dragoman.pool import Pool, Shard, metric_of, sentence_gains
from dragoman.types import Float64Array, Int64Array

__all__ = ["Descent", "descend"]

MEMORY_BYTES = 1 << 29
"""Prepared lists beyond this size go to a scratch file in the folder for temporary files."""

SMOOTHED = SentenceBleu(smooth_brevity=True)
"""BLEU+1 that does not teach short translations."""

_N_SCALE_LISTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent(ABC):
    """An optimiser made of a loss and a rule of update; subclasses choose them and their defaults.

    `freeze_dense` keeps the weights of dense features; none keeps them unless there is nothing else to learn or the
    start has none. `rescale` lets the start be multiplied by what suits the loss. `sentence_bleu` says how BLEU of a
    candidate alone is smoothed.
    """

    step: float
    batch: int = 1
    max_epochs: int = 30
    tolerance: float = 3e-4
    held_out: float = 0.1
    keep_best: bool = True
    rescale: bool = True
    freeze_dense: bool | None = False
    sentence_bleu: SentenceBleu = SMOOTHED

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
        return Stopping(
            max_epochs=self.max_epochs,
            tolerance=self.tolerance,
            held_out=self.held_out,
            keep_best=self.keep_best,
        )

    def optimise(
        self,
        pool: Pool,
        start: Weights,
        *,
        seed: int,
        round_number: int = 0,
        frozen: Collection[str] = (),
        n_threads: int = 1,
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
            rescale=self.rescale,
            n_threads=n_threads,
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
    rescale: bool = True,
    n_threads: int = 1,
) -> Result:
    """Weights that lower the loss, from `start`.

    `freeze_dense` None freezes dense features where that leaves something to learn and `start` knows them. `rescale`
    acts only where nothing is frozen.
    """
    check_tunable(pool)
    start = check_start(pool, start)
    problem, note = _prepare(pool, start, loss, frozen_ids(pool, frozen), freeze_dense, n_threads)
    lists, notes = problem.lists, [note] if note else []
    order = np.random.default_rng([seed, round_number, 0]).permutation(len(lists))
    n_held_out = int(stopping.held_out * len(lists))
    if n_held_out < MIN_HELD_OUT:
        n_held_out = 0
    train = np.sort(order[n_held_out:])
    watched = np.sort(order[:n_held_out]) if n_held_out else train
    loss_of = _watch(problem, loss, n_threads)
    scale = 1.0
    if rescale and not problem.fixed.any() and start.is_usable():
        scale = _scale(problem, loss_of, np.sort(order[n_held_out:][:_N_SCALE_LISTS]), start.values)
    first = start.values * scale
    learner = _core.Learner(
        first,
        len(train),
        *_rates(problem, update),
        update.step,
        update.decay,
        update.l2,
        update.adaptive,
        update.averaged,
    )
    run = _epoch(problem, loss, learner, update.batch, n_threads)
    best = _Best(start.values, _regret(lists, watched, first, n_threads) if start.is_usable() else math.inf, 0)
    settled, n_stale = 0.0, 0
    trace: list[dict[str, float | int | str]] = []
    for epoch in range(1, stopping.max_epochs + 1):
        rng = np.random.default_rng([seed, round_number, epoch])
        mean = run(train[rng.permutation(len(train))]) / len(train)
        values = learner.average() if update.averaged else learner.weights()
        seen, regret = loss_of(watched, values) / len(watched), _regret(lists, watched, values, n_threads)
        if not (math.isfinite(seen) and np.isfinite(values).all()):
            raise FailedError(f"the weights grew beyond all bounds in epoch {epoch}; use a smaller step")
        trace.append({"epoch": epoch, "loss": mean, "watched": seen, "regret": regret})
        if regret < best.regret or not stopping.keep_best:
            best = _Best(values, regret, epoch)
        if epoch == 1 or settled - seen > stopping.tolerance * abs(settled):
            settled, n_stale = seen, 0
            continue
        n_stale += 1
        if n_stale == stopping.patience:
            break
    else:
        notes.append(f"the loss still fell after {stopping.max_epochs} epochs")
    trace[0] |= {
        "lists": len(train),
        "held_out": n_held_out,
        "features": int(problem.differing.sum()),
        "scale": scale,
        "best_epoch": best.epoch,
    }
    weights = start.copy()
    weights.values[problem.differing] = best.values[problem.differing]
    if best.epoch == 0:
        notes.append("no epoch chose better candidates than the start; these are the starting weights")
    result = finish(pool, start, weights, n_threads=n_threads, trace=tuple(trace), notes=tuple(notes))
    if result.gain_after < result.gain_before:
        where = "held-out sentences" if n_held_out else "sentences one by one"
        worse = f"these weights are better on {where}, but the metric of the whole pool is lower than with the start"
        result = replace(result, notes=(*result.notes, worse))
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    values: Float64Array
    regret: float
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Problem:
    pool: Pool
    lists: _core.ListStore
    fixed: NDArray[np.bool_]
    differing: NDArray[np.bool_]
    variances: Float64Array  # of each feature that differs, within lists


def _prepare(
    pool: Pool, start: Weights, loss: Loss, frozen: NDArray[np.int32], freeze_dense: bool | None, n_threads: int
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
            problem = _problem(pool, start, loss, _with(fixed, dense), n_threads)
            if len(problem.lists):
                return problem, ""
            freeze_dense = False
            note = "the candidates differ in dense features alone, so these are learned instead of being frozen"
    problem = _problem(pool, start, loss, _with(fixed, dense) if freeze_dense else fixed, n_threads)
    if len(problem.lists) == 0:
        which = "that is not frozen " if freeze_dense or len(frozen) else ""
        raise InputError(f"no feature {which}differs between the candidates of a sentence, so weights cannot matter")
    return problem, note


def _with(fixed: NDArray[np.bool_], ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    more = fixed.copy()
    more[ids] = True
    return more


def _problem(pool: Pool, start: Weights, loss: Loss, fixed: NDArray[np.bool_], n_threads: int) -> _Problem:
    lists = _core.ListStore(len(pool.index), MEMORY_BYTES, tempfile.gettempdir())
    mask = fixed.view(np.uint8) if fixed.any() else np.zeros(0, dtype=np.uint8)
    for shard in pool.shards:
        if isinstance(loss, ListLoss):
            gains = loss.gains(shard)
        else:
            gains = sentence_gains(metric_of(pool), shard.stats)
        lists.add(*shard.candidates, gains, mask, start.values, n_threads)
    lists.seal()
    differing = lists.differing().astype(bool)
    return _Problem(pool=pool, lists=lists, fixed=fixed, differing=differing, variances=lists.variances())


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
        gradient[dense] /= problem.variances[dense]
    if update.l2 == 0 and (gradient == 1).all():
        return np.zeros(0), np.zeros(0)
    penalty[~problem.differing] = 0
    return gradient, penalty


_Run = Callable[[Int64Array], float]
_Watch = Callable[[Int64Array, Float64Array], float]


def _watch(problem: _Problem, loss: Loss, n_threads: int) -> _Watch:
    """The loss summed over some lists: in the native core, or list by list for a loss from outside."""
    if isinstance(loss, ListLoss):
        kernel = loss.watched
        return lambda order, weights: problem.lists.loss(kernel, order, weights, n_threads)
    parts = _Parts(problem)
    return lambda order, weights: sum(loss.gradient(parts[number], weights)[0] for number in order.tolist())


def _regret(lists: _core.ListStore, order: Int64Array, weights: Float64Array, n_threads: int) -> float:
    return lists.loss(_core.regret(), order, weights, n_threads) / len(order)


def _scale(problem: _Problem, loss_of: _Watch, order: Int64Array, weights: Float64Array) -> float:
    """The least power of two that lowers the loss by half of what scaling can.

    Some losses fall for ever as choices get sharper; half way there are still slopes to learn from.
    """
    deviation = math.sqrt(float(problem.variances @ weights**2))  # of scores, were features independent
    if not 0 < deviation < math.inf:
        return 1.0
    scales = 2.0 ** (np.arange(-10, 11) - math.frexp(deviation)[1])
    losses = np.array([loss_of(order, weights * scale) for scale in scales])
    if not np.isfinite(losses).all():
        return 1.0
    return float(scales[np.argmax(losses <= (losses[0] + losses.min()) / 2)])


def _epoch(problem: _Problem, loss: Loss, learner: _core.Learner, batch: int, n_threads: int) -> _Run:
    """Once through some lists in order; the sum of their losses on the way."""
    if isinstance(loss, ListLoss):
        kernel = loss.kernel
        return lambda order: learner.epoch(problem.lists, order, kernel, batch, n_threads)
    parts = _Parts(problem)

    def run(order: Int64Array) -> float:
        total = 0.0
        for begin in range(0, len(order), batch):
            members = [parts[number] for number in order[begin : begin + batch].tolist()]
            learner.begin_step(len(members))
            found = []
            for part in members:
                learner.touch(np.unique(part.feature_ids[problem.differing[part.feature_ids]]))
                value, gradient, _ = loss.gradient(part, learner.live())
                total += value
                found.append(gradient)
            for ids, values in found:
                free = problem.differing[ids]
                learner.apply(ids[free], values[free])
        return total

    return run


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
