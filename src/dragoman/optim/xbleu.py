"""Expected BLEU: Auli, Galley and Gao 2014, *Large-scale Expected BLEU Training*, sections 4 and 5.

The loss of a sentence f with the candidates E(f) is the negative expected gain under the model (equations 5 and 6):

    l = -xBLEU = -sum_e p(e|f) sBLEU(e)        p(e|f) = exp(gamma w.h(f, e)) / sum_e' exp(gamma w.h(f, e'))

Its gradient (equation 8) gives each distinct feature o of the list, which e has N(o, e) times, the error term

    delta_o = sum_e p(e|f) gamma N(o, e) U(e)        U(e) = sBLEU(e) - xBLEU

and stochastic descent, a sentence at a time, climbs xBLEU: w_o <- w_o + mu delta_o (Figure 2, whose line 14 has the
wrong sign; the error terms of a sentence are summed before its one update).

Symbols: w `phi` and `theta` together, gamma `gamma`, mu `step`, 3e-4 `tolerance`. As in the paper, weights of dense
features stay as they are while there are others to learn (`freeze_dense`). Deviations: learning stops when the
held-out loss did not fall by a factor of 3e-4 in three epochs running, not in one, because small pools are noisy, and
the best epoch is kept. sBLEU is BLEU+1 with smoothed brevity; the paper found its own variant (`metric.HE_DENG`) and
BLEU+1 equally good. Dense features that are learned after all are measured in their deviation within lists, or mu would
depend on their scale. theta is multiplied by a number that makes the distribution sharp enough to learn from, and phi
divided by it in the end (`scale`): mu 0.1 and gamma 1 assume a scale of theta, and weights of MERT have none.
"""

from __future__ import annotations

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

__all__ = ["ExpectedGain", "Xbleu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedGain(ListLoss):
    """The negative expected gain; `gamma` sharpens the distribution."""

    gamma: float = 1.0

    @property
    def kernel(self) -> _core.ListLoss:
        """Equations 5 to 8."""
        return _core.list_loss("expected-gain", self.gamma)


@dataclass(frozen=True, slots=True, kw_only=True)
class Xbleu(Descent):
    """The defaults are the paper's: gamma 1, mu 0.1, no penalty, batches of one sentence, at most 100 epochs.

    `freeze_dense` none keeps the dense weights of the start, unless there is nothing else to learn or the start has
    none.
    """

    name = "xbleu"
    gamma: float = 1.0
    """Scale of model scores in the softmax over candidates."""
    step: float = 0.1
    """Mu: length of a step."""
    l2: float = 0.0
    """Weight of the penalty."""
    max_epochs: int = 100
    """Passes over all lists at most."""
    freeze_dense: bool | None = field(
        default=None, metadata=about(resolved="true where the start has dense weights and others are left to learn")
    )
    """Keep the weights of dense features."""

    def _check(self) -> None:
        if not self.gamma > 0:
            raise InputError(f"gamma must be positive, not {self.gamma}")
        Descent._check(self)

    def update(self) -> Update:
        return Update(step=self.step, l2=self.l2, batch=self.batch)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> ExpectedGain:
        """What a step reduces, for these shards' gains."""
        return ExpectedGain(
            metric=metric,
            sentence_bleu=self.sentence_bleu,
            gain_scale=gain_scale(metric, shards),
            gamma=self.gamma,
        )
