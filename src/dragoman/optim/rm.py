"""RM, online relative margin maximisation: Eidelman, Marton and Resnik 2013.

MIRA with a bound on the spread of the model scores (their equation 4): the hope y+ may be at most B above the worst
candidate, and at most B below the best one:

    w_{t+1} = argmin 1/2 |w - w_t|^2 + C xi + D tau    s.t.  s(y+) - s(y) >= Delta(y) - Delta(y+) - xi
                                                             -B - tau <= s(y+) - s(y) <= B + tau

RM-PA, the default as in their evaluation, takes the most violated constraint of each kind under w_t and one step for
each, of gamma = violation / |omega|^2:

    margin       w += gamma omega(y+, y-)     gamma at most C
    upper bound  w -= gamma omega(y+, y^w)    gamma at most D, only while s(y+) - s(y^w) > B,   y^w = argmin s
    lower bound  w += gamma omega(y+, y^b)    gamma at most D, only while s(y+) - s(y^b) < -B,  y^b = argmax s

RM-CP (`update` cutting-plane) is Algorithm 1 with the updates of Algorithm 2. With B infinite both are `mira`.

Symbols: B `bound`; D `bound_step`; C `aggressiveness`; MaxIter `max_iterations`; epsilon `tolerance`.

The printed algorithms have slips, and differ here. Algorithm 1: line 6 minimises G. Algorithm 2: in lines 20-21 mass
gamma goes from y to y', clipped to what either has; alpha starts at C on y+ once per example; line 29 has the sign
of a bound that is satisfied. Program (4) has one tau, so that D limits all bound steps of an example together; the
authors' code limits each step. The latter is the default; `exact` gives the former, and the cutting plane then solves
program (4) itself. Gains, averaging and epochs are those of `mira`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.optim.gains import typical_range
from dragoman.optim.margin import Comparison, Hope, MarginLoss
from dragoman.optim.mira import Mira
from dragoman.pool import Shard
from dragoman.settings import about

__all__ = ["RelativeMarginLoss", "Rm"]

_DENSE_STEP, _SPARSE_STEP = 0.01, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeMarginLoss(MarginLoss):
    """xi + `bound_weight` tau of each list, y+ held fixed: D / C is what `rm` weighs tau with."""

    bound: float = 1.0
    bound_weight: float = 1.0
    hope: Hope = Hope.COST_DIMINISHED

    def comparison(self) -> Comparison:
        """y+ with y-, with the best and with the worst."""
        return Comparison(
            hope=_core.Hope[self.hope.name],
            fear=_core.Fear.COST_AUGMENTED,
            bound=self.bound,
            bound_weight=self.bound_weight,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rm(Mira):
    """The settings of MIRA, and the paper's B 1 and D 0.01, or 0.1 where candidates have sparse features.

    The paper does not say how costs compare with B; `gain_scale` 0.1 makes them similar, so that both can be met.
    """

    name = "rm"
    gain_scale: float = 0.1
    bound: float = 1.0
    """B: how far the hope may be above the worst candidate, or below the best."""
    bound_step: float | None = field(
        default=None, metadata=about(resolved=f"{_DENSE_STEP}; with sparse features {_SPARSE_STEP}")
    )
    """D: how far the bounds of one sentence may move the weights."""
    exact: bool = False
    """D limits all bound steps of a sentence together, as in the paper's program."""

    def __post_init__(self) -> None:
        Mira.__post_init__(self)
        if not self.bound > 0 or (self.bound_step is not None and not 0 < self.bound_step < math.inf):
            raise InputError("bound and bound_step must be positive")

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> MarginLoss:
        """The hinge, and D / C times the excess of the spread over B, with the D of sparse features."""
        bound, step, _ = self._bounds(sparse=True)
        return RelativeMarginLoss(
            metric=metric,
            bound=bound,
            bound_weight=step / self.aggressiveness,
            hope=self.hope,
            gain_scale=self.gain_scale / typical_range(metric, shards),
        )

    def _bounds(self, sparse: bool) -> tuple[float, float, bool]:
        step = self.bound_step
        if step is None:
            step = _SPARSE_STEP if sparse else _DENSE_STEP
        return self.bound, step, self.exact
