"""The structured perceptron, averaged: Collins 2002; Liang et al. 2006; Xiao et al. 2011 (FastForest), section 6.

For each sentence, y the candidate that the model likes most and y* the one of highest gain (a local update: the
oracle of the list stands for the reference): if y is worse than y*,

    w <- w + step (f(y*) - f(y))

and the result is the average of w over all updates, which is what keeps the last sentences from having the last word.

Of several candidates of highest gain y* is the one that the model likes most; of several that the model likes equally
y is the worst, so that weights of zero, which tie all candidates, can be a start. The loss behind this, max_y w.f(y)
- w.f(y*), grows with the weights, so what is watched on held-out sentences is the gain that the model's choice
misses. Started from weights that are not zero, `step` says how much a mistake counts against them. Dense features are
measured in their deviation within lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.metric import Metric
from dragoman.optim.descent import Descent
from dragoman.optim.gains import gain_scale
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.update import Update

__all__ = ["Perceptron", "PerceptronLoss"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PerceptronLoss(ListLoss):
    """The score by which the model prefers its choice to the oracle."""

    @property
    def kernel(self) -> _core.ListLoss:
        return _core.list_loss("perceptron")

    @property
    def watched(self) -> _core.ListLoss:
        """The gain that the model's choice misses."""
        return _core.list_loss("regret")


@dataclass(frozen=True, slots=True, kw_only=True)
class Perceptron(Descent):
    """Constant steps of 0.1, averaged."""

    name = "perceptron"
    step: float = 0.1
    """Length of a step."""
    averaged: bool = True
    """Return the mean of the weights after each update."""

    def update(self) -> Update:
        return Update(step=self.step, averaged=self.averaged, batch=self.batch)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> PerceptronLoss:
        """What a step reduces, for these shards' gains."""
        return PerceptronLoss(
            metric=metric,
            sentence_bleu=self.sentence_bleu,
            gain_scale=gain_scale(metric, shards),
        )
