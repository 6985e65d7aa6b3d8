"""Any loss with any rule of update: stochastic descent over the sentences of a pool.

The objective is the sum of the loss over all lists plus l2/2 |w|^2. One epoch visits the lists in an order drawn from a
stream keyed by (seed, round, epoch) and after each `batch` of them takes

    w <- w - step_t . rate . (gradient of the batch + its share of the penalty)

Lists are prepared once (`_core.ListStore`): features on columns, without those that do not differ between the
candidates of a list. Everything per update is sparse: penalty and average catch up when a feature is met again.
Between two meetings the penalty acts as exponential decay, which is what many small steps amount to.

Weights of MERT and its kin have no scale, but a loss has: the start, frozen weights included, is multiplied by what
gives its scores a deviation that suits the loss, which changes no ranking. What was learned is divided by it: s theta +
phi ranks candidates as theta + phi / s does, so that frozen weights are returned as they were.

The result is the weights, of all epochs and the start, whose choices miss the least gain on the watched lists.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from dragoman.candidates import Pool, Shard
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Learned, Optimiser, Problem, Result
from dragoman.optim.epochs import Split, Stopping, folds_of, run_epochs, sentence_ids
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.loss import Loss
from dragoman.optim.prepared import Prepared, prepare
from dragoman.optim.steps import Losses, Steps, losses_of
from dragoman.optim.update import Update
from dragoman.settings import about

__all__ = ["Descent", "descend", "suitable_scale"]

SMOOTHED = SentenceBleu(smooth_brevity=True)
"""BLEU+1 that does not teach short translations."""

_N_SCALE_LISTS = 200
_POWERS, _MOST = np.arange(-10, 11), 1000
_SHARE = 0.5
_SHARE_FROZEN = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent(Optimiser):
    """An optimiser made of a loss and a rule of update; subclasses choose them and their defaults.

    `freeze_dense` keeps the weights of dense features; none keeps them unless there is nothing else to learn or the
    start has none. `scale` multiplies the start while it learns; none finds what suits the loss.
    `sentence_bleu` says how BLEU of a candidate alone is smoothed.
    """

    step: float
    """Length of a step."""
    batch: int = 1
    """Lists of an update; only a batch is shared by threads."""
    max_epochs: int = 30
    """Passes over all lists at most."""
    tolerance: float = 3e-4
    """Relative fall of the held-out loss that counts as one."""
    held_out: float = 0.1
    """Share of the lists that is watched, not learned from; of lists with folds, whole folds."""
    held_out_fold: int | None = field(default=None, metadata=about(resolved="the last ones that make up held_out"))
    """The fold of the training text that is watched, from 0."""
    keep_best: bool = True
    """Return the best weights of all epochs, not the last."""
    scale: float | None = field(default=None, metadata=about(resolved="what suits the loss"))
    """Multiplies the start while it learns; the result is divided by it."""
    freeze_dense: bool | None = False
    """Keep the weights of dense features."""
    sentence_bleu: SentenceBleu = SMOOTHED
    """BLEU of a candidate alone."""

    def _check(self) -> None:
        self.update()
        self.stopping()
        _check_scale(self.scale)

    @abstractmethod
    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> ListLoss:
        """What a step reduces, for these shards' gains."""

    @abstractmethod
    def update(self) -> Update:
        """The rule of update."""

    def stopping(self) -> Stopping:
        return Stopping(
            max_epochs=self.max_epochs,
            tolerance=self.tolerance,
            held_out=self.held_out,
            held_out_fold=self.held_out_fold,
            keep_best=self.keep_best,
        )

    def learn(self, problem: Problem) -> Learned:
        loss = self.loss(problem.metric, problem.pool.shards)
        return _descend(problem, loss, self.update(), self.stopping(), self.freeze_dense, self.scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Composed(Optimiser):
    loss: Loss
    update: Update
    stopping: Stopping
    freeze_dense: bool | None
    scale: float | None

    def learn(self, problem: Problem) -> Learned:
        return _descend(problem, self.loss, self.update, self.stopping, self.freeze_dense, self.scale)


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
    scale: float | None = None,
    n_threads: int = 1,
) -> Result:
    """Weights that lower the loss, from `start`.

    `freeze_dense` None freezes dense features where that leaves something to learn and `start` knows them. `scale` None
    is what suits the loss; 1 learns from the start as it is.
    """
    _check_scale(scale)
    composed = _Composed(loss=loss, update=update, stopping=stopping, freeze_dense=freeze_dense, scale=scale)
    return composed.optimise(pool, start, seed=seed, round_number=round_number, frozen=frozen, n_threads=n_threads)


def _descend(
    problem: Problem, loss: Loss, update: Update, stopping: Stopping, freeze_dense: bool | None, scale: float | None
) -> Learned:
    start = problem.start
    prepared, note = prepare(problem, loss, freeze_dense)
    key = [problem.seed, problem.round_number]
    sentences = prepared.lists.sentences()
    split = Split.draw(np.arange(len(sentences)), stopping, key=key, folds=folds_of(problem.pool, sentences))
    losses = losses_of(loss, prepared, problem.n_threads)
    if scale is None:
        scale = _suitable_scale(prepared, losses, start, split) if start.is_usable() else 1.0
    first = start.values * scale
    prepared.lists.scale_fixed(scale)
    steps = Steps(prepared, losses, update, first, len(split.learned), key)
    merit = -losses.regret(split.watched, first) if start.is_usable() else -math.inf
    found = run_epochs(steps, split, stopping, start=(start.values, merit))
    found.trace[0] |= {
        "lists": len(split.learned),
        "held_out": split.n_held_out,
        **({"held_out_folds": ",".join(map(str, split.held_out_folds))} if split.held_out_folds else {}),
        "features": int(prepared.differing.sum()),
        "scale": scale,
        "best_epoch": found.best,
    }
    notes = [note] if note else []
    if scale != 1:
        notes.append(f"while learning the start was multiplied by {scale:g}, and the result divided by it")
    notes += found.notes
    if not found.settled and not found.notes:
        notes.append(f"the loss still fell after {stopping.max_epochs} epochs")
    if found.best == 0:
        notes.append("no epoch chose better candidates than the start; these are the starting weights")
        values = start.values
    else:
        # Frozen weights, those of features that never differ, and others that did not move are the start's bit by bit.
        moved = prepared.differing & (found.values != first)
        values = np.where(moved, found.values / scale, start.values)
    held_out = sentence_ids(problem.pool)[sentences[split.watched]] if split.n_held_out else None
    return Learned(values=values, trace=found.trace, notes=notes, held_out=held_out)


def _suitable_scale(prepared: Prepared, losses: Losses, start: Weights, split: Split) -> float:
    """By lists that are learned from, with all of the start multiplied."""
    order = np.sort(split.drawn[:_N_SCALE_LISTS])

    def loss_at(scale: float) -> float:
        prepared.lists.scale_fixed(scale)
        return losses.watched(order, start.values * scale)

    deviation = math.sqrt(prepared.lists.score_variance(order, start.values))
    return suitable_scale(deviation, loss_at, frozen=bool(prepared.fixed.any()))


def suitable_scale(deviation: float, loss: Callable[[float], float], *, frozen: bool = False) -> float:
    """The least scale, of those that make the deviation of scores a power of two, that lowers the loss enough.

    That is by half of what scaling the weights can. `deviation` is that of scores within lists now, `loss` a function
    of the scale. Some losses fall for ever as choices get sharper; part of the way there are still slopes to learn
    from. Weights that are `frozen` cannot grow while others are learned: three quarters then, and scores with a
    deviation of 1 for a loss that does not depend on scale.
    """
    if not 0 < deviation < math.inf:
        return 1.0
    scales = np.ldexp(1 / math.frexp(deviation)[0], np.clip(_POWERS - math.frexp(deviation)[1], -_MOST, _MOST))
    found = np.array([loss(float(scale)) for scale in scales])
    if not np.isfinite(found).all():
        return 1.0
    if frozen and found.min() == found.max():
        return float(scales[10])
    share = _SHARE_FROZEN if frozen else _SHARE
    return float(scales[np.argmax(found <= found[0] - share * (found[0] - found.min()))])


def _check_scale(scale: float | None) -> None:
    if scale is not None and not 0 < scale < math.inf:
        raise InputError(f"the scale of the start must be positive, not {scale}")
