"""The structured support vector machine, online: Tsochantaridis et al. 2004; Flanigan et al. 2013 (HOLS), figure 1.

With y* the candidate of highest gain and cost(y) = `cost_scale` (gain(y*) - gain(y)), the loss of a sentence is the
margin-rescaled hinge, and with the penalty that makes the margin wide

    sum_n max_y (w.f(y) + cost(y)) - w.f(y*)   +   l2/2 |w|^2

Stochastic descent moves w from the most violating candidate towards y*: w <- w - step (f(y) - f(y*)), one sentence at
a time, with the step decreasing as step / (1 + decay e) after e epochs (Bottou 2010), averaged.

The paper gives no settings for this; ours were chosen on Moses lists. Of several candidates of highest gain y* is the
one that the model likes most. Dense features are measured in their deviation within lists. The paper shows how this
learner overfits on the sentences that the grammar came from: tune on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.optim.descent import Descent
from dragoman.optim.gains import gain_scale
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.update import Update

__all__ = ["StructuredHinge", "Svm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredHinge(ListLoss):
    """The margin-rescaled hinge with the cost `cost_scale` (best gain - gain)."""

    cost_scale: float = 10.0

    @property
    def kernel(self) -> _core.ListLoss:
        """Without the penalty, which is the update's."""
        return _core.list_loss("hinge", self.cost_scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Svm(Descent):
    """Costs are ten times the difference of gains; the penalty is weak; steps are small and decrease."""

    name = "svm"
    cost_scale: float = 10.0
    """Multiplies costs."""
    step: float = 0.01
    """Length of the first step."""
    decay: float = 0.1
    """The step after e epochs is step / (1 + decay e)."""
    l2: float = 0.01
    """Weight of the penalty."""
    averaged: bool = True
    """Return the mean of the weights after each update."""

    def _check(self) -> None:
        if not self.cost_scale > 0:
            raise InputError(f"the cost must be positive, not {self.cost_scale}")
        Descent._check(self)

    def update(self) -> Update:
        return Update(step=self.step, decay=self.decay, l2=self.l2, averaged=self.averaged, batch=self.batch)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> StructuredHinge:
        """What a step reduces, for these shards' gains."""
        return StructuredHinge(
            metric=metric,
            sentence_bleu=self.sentence_bleu,
            gain_scale=gain_scale(metric, shards),
            cost_scale=self.cost_scale,
        )
