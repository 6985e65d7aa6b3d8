"""Any loss with any rule of update: stochastic descent over the sentences of a pool.

The objective is the sum of the loss over all lists plus l2/2 |w|^2. One epoch visits the lists in an order drawn from a
stream keyed by (seed, round, epoch) and after each `batch` of them takes

    w <- w - step_t . rate . (gradient of the batch + its share of the penalty)

Lists are prepared once (`_core.ListStore`): features on columns, without those that do not differ between the
candidates of a list. Everything per update is sparse: penalty and average catch up when a feature is met again.
Between two meetings the penalty acts as exponential decay, which is what many small steps amount to.

Weights of MERT and its kin have no scale, but a loss has: with nothing frozen, the start is first multiplied by a power
of two that suits the loss, which changes no ranking.

The result is the weights, of all epochs and the start, whose choices miss the least gain on the watched lists.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dragoman.features import Weights
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Learned, Optimiser, Problem, Result
from dragoman.optim.epochs import Split, Stopping, folds_of, run_epochs, sentence_ids
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.loss import Loss
from dragoman.optim.prepared import prepare
from dragoman.optim.steps import Steps, losses_of
from dragoman.optim.update import Update
from dragoman.pool import Pool, Shard
from dragoman.settings import about
from dragoman.types import Float64Array

__all__ = ["Descent", "descend", "suitable_scale"]

SMOOTHED = SentenceBleu(smooth_brevity=True)
"""BLEU+1 that does not teach short translations."""

_N_SCALE_LISTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent(Optimiser):
    """An optimiser made of a loss and a rule of update; subclasses choose them and their defaults.

    `freeze_dense` keeps the weights of dense features; none keeps them unless there is nothing else to learn or the
    start has none. `rescale` lets the start be multiplied by what suits the loss. `sentence_bleu` says how BLEU of a
    candidate alone is smoothed.
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
    rescale: bool = True
    """Multiply the start by a power of two that suits the loss."""
    freeze_dense: bool | None = False
    """Keep the weights of dense features."""
    sentence_bleu: SentenceBleu = SMOOTHED
    """BLEU of a candidate alone."""

    def __post_init__(self) -> None:
        self.update()
        self.stopping()

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

    def _learn(self, problem: Problem) -> Learned:
        loss = self.loss(problem.metric, problem.pool.shards)
        return _descend(problem, loss, self.update(), self.stopping(), self.freeze_dense, self.rescale)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Composed(Optimiser):
    loss: Loss
    update: Update
    stopping: Stopping
    freeze_dense: bool | None
    rescale: bool

    def _learn(self, problem: Problem) -> Learned:
        return _descend(problem, self.loss, self.update, self.stopping, self.freeze_dense, self.rescale)


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
    composed = _Composed(loss=loss, update=update, stopping=stopping, freeze_dense=freeze_dense, rescale=rescale)
    return composed.optimise(pool, start, seed=seed, round_number=round_number, frozen=frozen, n_threads=n_threads)


def _descend(
    problem: Problem, loss: Loss, update: Update, stopping: Stopping, freeze_dense: bool | None, rescale: bool
) -> Learned:
    start = problem.start
    prepared, note = prepare(problem, loss, freeze_dense)
    key = [problem.seed, problem.round_number]
    sentences = prepared.lists.sentences()
    split = Split.draw(np.arange(len(sentences)), stopping, key=key, folds=folds_of(problem.pool, sentences))
    losses = losses_of(loss, prepared, problem.n_threads)
    scale = 1.0
    if rescale and not prepared.fixed.any() and start.is_usable():
        order = np.sort(split.drawn[:_N_SCALE_LISTS])
        scale = suitable_scale(prepared.variances, start.values, partial(losses.watched, order))
    first = start.values * scale
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
    notes = [note, *found.notes] if note else found.notes
    if not found.settled and not found.notes:
        notes.append(f"the loss still fell after {stopping.max_epochs} epochs")
    if found.best == 0:
        notes.append("no epoch chose better candidates than the start; these are the starting weights")
        values = start.values
    else:
        # Weights of features that never differ are not learned, but keep their proportion to the others.
        values = np.where(prepared.differing, found.values, first)
    held_out = sentence_ids(problem.pool)[sentences[split.watched]] if split.n_held_out else None
    return Learned(values=values, trace=found.trace, notes=notes, held_out=held_out)


def suitable_scale(variances: Float64Array, weights: Float64Array, loss: Callable[[Float64Array], float]) -> float:
    """The least power of two that lowers the loss by half of what scaling the weights can.

    Some losses fall for ever as choices get sharper; half way there are still slopes to learn from.
    """
    deviation = math.sqrt(float(variances @ weights**2))  # of scores, were features independent
    if not 0 < deviation < math.inf:
        return 1.0
    scales = 2.0 ** (np.arange(-10, 11) - math.frexp(deviation)[1])
    found = np.array([loss(weights * scale) for scale in scales])
    if not np.isfinite(found).all():
        return 1.0
    return float(scales[np.argmax(found <= (found[0] + found.min()) / 2)])
