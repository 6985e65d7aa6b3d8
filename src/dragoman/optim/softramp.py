"""Soft ramp 3 by stochastic descent: Gimpel and Smith 2012; Flanigan, Dyer and Carbonell 2013 (HOLS), section 6.

    loss(x) = -log sum_y exp(w.f(x, y) - cost(y)) + log sum_y exp(w.f(x, y) + cost(y))

The first sum looks for good candidates the model likes (hope), the second for bad ones (fear); the gradient is the
difference of the mean features under both: E_fear[f] - E_hope[f]. cost is a loss, 20 (1 - BLEU+1), with brevity
smoothed and grounded (Nakov et al. 2012).

Conditioning (section 5.2): each component of the gradient is divided by the number of k-best lists in which the
feature is not zero, that of a dense feature by the size of the corpus; then the step is 1.

Symbols: 20 `cost_scale`, .001 `l2`, 1 `step`. Deviations: the lists are known beforehand, so sparse features too are
divided by their lists instead of by extraction counts. The penalty is l2/2 |w|^2 on the sum over the corpus: taken
with every sentence it would wipe out the weights of rare features, which step far. Dense features are measured in
their deviation within lists. The paper makes one pass over 60,000 sentences; on smaller pools one step of size 1 is
not enough, so there are up to 30, ended by a held-out share of the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.errors import InputError
from dragoman.metric import Metric, SentenceBleu
from dragoman.optim.base import Learned, Problem
from dragoman.optim.descent import Descent
from dragoman.optim.gains import gain_scale
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.update import Conditioning, Update

__all__ = ["SoftRamp", "SoftRampLoss"]

GROUNDED = SentenceBleu(smooth_brevity=True, grounded=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftRampLoss(ListLoss):
    """Soft ramp 3 with the cost `cost_scale` (1 - gain)."""

    cost_scale: float = 20.0

    @property
    def kernel(self) -> _core.ListLoss:
        return _core.list_loss("soft-ramp", self.cost_scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftRamp(Descent):
    """The defaults are the paper's: cost 20 (1 - BLEU+1), l2 0.001, step 1, conditioning."""

    name = "softramp"
    cost_scale: float = 20.0
    """Multiplies costs."""
    step: float = 1.0
    """Length of a step."""
    l2: float = 0.001
    """Weight of the penalty."""
    conditioning: Conditioning = Conditioning.LISTS
    """What the gradient of a feature is divided by."""
    sentence_bleu: SentenceBleu = GROUNDED
    """BLEU of a candidate alone."""

    def _check(self) -> None:
        if not self.cost_scale > 0:
            raise InputError(f"the cost must be positive, not {self.cost_scale}")
        Descent._check(self)

    def learn(self, problem: Problem) -> Learned:
        if self.conditioning is Conditioning.EXTRACTION:
            raise InputError("lists do not say how often rules were extracted; learn online, or use conditioning=lists")
        return Descent.learn(self, problem)

    def update(self) -> Update:
        """Steps of size 1, divided by how often a feature occurs."""
        return Update(step=self.step, l2=self.l2, batch=self.batch, conditioning=self.conditioning)

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> SoftRampLoss:
        """What a step reduces, for these shards' gains."""
        return SoftRampLoss(
            metric=metric,
            sentence_bleu=self.sentence_bleu,
            gain_scale=gain_scale(metric, shards),
            cost_scale=self.cost_scale,
        )
