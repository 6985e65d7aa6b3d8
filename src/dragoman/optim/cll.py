"""Conditional likelihood of the oracle: Auli et al. 2014, section 7.3; Xiao et al. 2011 (FastForest), section 5.

Maximise the likelihood of the candidates O(f) with the highest gain of each list:

    L = sum_n log p(O | f_n)        p(O | f) = sum_{e in O} exp w.h(e) / sum_e exp w.h(e)

Where several candidates share the highest gain, which of them it is stays open, like the derivation t in FastForest's
equation 4. The gradient is E_{p(e | O)}[h] - E_p[h]; its length does not shrink with gains, so steps are shorter than
those of `xbleu`, whose rule of update this is otherwise: w <- w + step dL_n/dw, a sentence at a time.

With `variance` sigma^2 it is FastForest's: L has a Gaussian prior - |w|^2 / (2 sigma^2), so the gradient (its equation
7) has the term - w / sigma^2. That is of the whole corpus: each of N sentences has the share w / (N sigma^2) of the
prior, or the prior would wipe the weights out. The step is N sigma^2 / (i + i0) in update i, as Bottou recommends; i0
is set by the step to begin with, `step` = N sigma^2 / i0. The result is the average over all updates (FastForest's
algorithm 2, line 13).

Symbols: sigma^2 `variance`, M `max_epochs`. As in both papers, weights of dense features stay as they are while there
are others to learn (`freeze_dense`), multiplied by what suits the loss (`scale`). Deviations: i0 is not calibrated on a
sample. M is at most 100 and found on held-out sentences (the paper: 5, found on a development set). Dense features that
are learned are measured in their deviation within lists, which is also what the prior then penalises.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.optim.descent import Descent
from dragoman.optim.gains import gain_scale
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.update import Update
from dragoman.settings import about

__all__ = ["Cll", "OracleLikelihood"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleLikelihood(ListLoss):
    """Minus the log probability of the candidates with the highest gain."""

    @property
    def kernel(self) -> _core.ListLoss:
        """Without the prior, which is the update's penalty."""
        return _core.list_loss("likelihood")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cll(Descent):
    """The rule of update and of stopping is that of `xbleu`, with a step of its own; FastForest's with `variance`.

    `freeze_dense` none keeps the dense weights of the start, unless there is nothing else to learn or the start has
    none.
    """

    name = "cll"
    variance: float | None = field(default=None, metadata=about(resolved="no prior, constant steps, no average"))
    """Sigma squared of FastForest's Gaussian prior; with it steps decrease, and weights are averaged."""
    step: float = 0.01
    """Length of a step, the first one with a prior."""
    max_epochs: int = 100
    """Passes over all lists at most."""
    freeze_dense: bool | None = field(
        default=None, metadata=about(resolved="true where the start has dense weights and others are left to learn")
    )
    """Keep the weights of dense features."""

    def _check(self) -> None:
        if self.variance is not None and not 0 < self.variance < math.inf:
            raise InputError(f"the variance must be positive, not {self.variance}")
        Descent._check(self)

    def update(self) -> Update:
        if self.variance is None:
            return Update(step=self.step, batch=self.batch)
        # Step / (1 + step e / sigma^2) after e epochs is N sigma^2 / (i + i0) after i updates.
        l2 = 1 / self.variance
        return Update(step=self.step, decay=self.step * l2, l2=l2, batch=self.batch, averaged=True)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> OracleLikelihood:
        """What a step reduces, for these shards' gains."""
        return OracleLikelihood(
            metric=metric,
            sentence_bleu=self.sentence_bleu,
            gain_scale=gain_scale(metric, shards),
        )
