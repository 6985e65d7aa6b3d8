"""Conditional likelihood of the oracle: Auli et al. 2014, section 7.3; Xiao et al. 2011 (FastForest), section 5.

Maximise the likelihood of the candidates O(f) with the highest gain of each list, with a Gaussian prior on the
weights:

    L = sum_n log p(O | f_n) - |w|^2 / (2 sigma^2)        p(O | f) = sum_{e in O} exp w.h(e) / sum_e exp w.h(e)

Where several candidates share the highest gain, which of them it is stays open, like the derivation t in FastForest's
equation 4. The gradient (its equation 7) is E_{p(e | O)}[h] - E_p[h] - w / sigma^2. That is of the whole corpus: each
of N sentences has the share w / (N sigma^2) of the prior, or the prior would wipe the weights out.

The step is N sigma^2 / (i + i0) in update i, as Bottou recommends; i0 is set by the step to begin with, `step` = N
sigma^2 / i0. The result is the average over all updates (FastForest's algorithm 2, line 13).

Symbols: sigma^2 `variance`, M `max_epochs`. As in both papers, weights of dense features stay as they are while there
are others to learn (`freeze_dense`). Deviations: i0 is not calibrated on a sample. M is at most 30 and found on
held-out sentences (the paper: 5, found on a development set). Dense features that are learned are measured in their
deviation within lists, which is also what the prior then penalises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.optim.descent import Descent
from dragoman.optim.gains import gain_scale
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.update import Update
from dragoman.pool import Shard
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
    """The defaults are the paper's where it has some: sigma^2 1, averaged.

    `freeze_dense` none keeps the dense weights of the start, unless there is nothing else to learn or the start has
    none.
    """

    name = "cll"
    variance: float = 1.0
    """Sigma squared of the Gaussian prior."""
    step: float = 0.1
    """Length of a step."""
    freeze_dense: bool | None = field(
        default=None, metadata=about(resolved="true where the start has dense weights and others are left to learn")
    )
    """Keep the weights of dense features."""

    def __post_init__(self) -> None:
        if not self.variance > 0:
            raise InputError(f"the variance must be positive, not {self.variance}")
        Descent.__post_init__(self)

    def update(self) -> Update:
        """Step / (1 + step e / sigma^2) after e epochs is N sigma^2 / (i + i0) after i updates."""
        l2 = 1 / self.variance
        return Update(step=self.step, decay=self.step * l2, l2=l2, batch=self.batch, averaged=True)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> OracleLikelihood:
        """What a step reduces, for these shards' gains."""
        return OracleLikelihood(
            metric=metric,
            sentence_bleu=self.sentence_bleu,
            gain_scale=gain_scale(metric, shards),
        )
