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

Symbols: B `bound`; D `bound_step`; C `aggressiveness`; MaxIter `max_iterations`; epsilon `tolerance`; epsilon_B
`bound_tolerance`. With `bound_by_cost` the bound of a candidate is B max(cost / u, `bound_floor`), its cost being the
gain of y+ minus its own and u the start's mean range of costs, 1 in raw units; y^w and y^b are then
those furthest beyond their own bounds (footnote 4).

The paper's B 1, C 0.01 and D 0.01 or 0.1 mean nothing without the sizes of scores, costs and features, which it does
not give: where |omega|^2 is some hundred, one step moves scores by more than B, and the weights are lost in one pass.
So by default (`units` relative) B is the unit, start and costs are multiplied to fit it, and C and D are shares of it
by what a step moves; see `units`. Costs of bounds by cost are then in units of their mean range.

The printed algorithms have slips, and differ here. Algorithm 1: line 6 minimises G. Algorithm 2: in lines 20-21 mass
gamma goes from y to y', clipped to what either has; alpha starts at C on y+ once per example; line 29 has the sign
of a bound that is satisfied; beta has no limit. Program (4) has one tau, so D limits the sum of beta over both bounds
of an example: this is `exact`, the default of the cutting plane, which then solves program (4). Otherwise there is a
tau for each bound, and D limits each sum apart, as each of the two steps of RM-PA. Gains, averaging and epochs are
those of `mira`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.metric import Metric
from dragoman.optim.base import check_used
from dragoman.optim.gains import typical_range
from dragoman.optim.margin import BOUND_FLOOR, LOCAL_SIZE, Comparison, Hope, MarginLoss
from dragoman.optim.mira import Bounds, MarginUpdate, Mira, check_positive
from dragoman.optim.units import Scale, Shares, Units, given
from dragoman.settings import about

__all__ = ["RelativeMarginLoss", "Rm"]

_START_RANGE, _COST_RANGE = 0.15, 0.3  # of lists that do not change; four times as much online
_GAIN_SCALE, _DENSE_STEP, _SPARSE_STEP = 0.1, 0.01, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeMarginLoss(MarginLoss):
    """xi + `bound_weight` tau of each list, y+ held fixed: D / C is what `rm` weighs tau with."""

    bound: float = 1.0
    bound_weight: float = 1.0
    bound_by_cost: bool = False
    bound_floor: float = BOUND_FLOOR
    hope: Hope = Hope.COST_BASED
    local_size: int = LOCAL_SIZE

    def comparison(self) -> Comparison:
        """y+ with y-, and with those furthest beyond their bounds."""
        return Comparison(
            hope=_core.Hope[self.hope.name],
            fear=_core.Fear.COST_BASED,
            local_size=self.local_size,
            bound=self.bound,
            bound_weight=self.bound_weight,
            bound_by_cost=self.bound_by_cost,
            bound_floor=self.bound_floor,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rm(Mira):
    """The settings of MIRA, in units of the bound.

    Raw units have the paper's B 1 and D 0.01, or 0.1 where candidates have sparse features. The paper does not say how
    costs compare with B; `gain_scale` 0.1 makes them similar on some lists, so that both can be met.
    """

    name = "rm"
    units: Units = Units.RELATIVE
    gain_scale: float | None = field(default=None, metadata=about(resolved=f"{_GAIN_SCALE} in raw units"))
    start_range: float | None = field(
        default=None,
        metadata=about(resolved=f"{_START_RANGE} in relative units, {_START_RANGE * 4} online"),
    )
    """sigma: the mean range of scores in a list of the start, in units of B."""
    cost_range: float | None = field(
        default=None,
        metadata=about(resolved=f"{_COST_RANGE} in relative units, {_COST_RANGE * 4} online"),
    )
    """kappa: the mean range of costs in a list, in units of B."""
    bound: float | None = field(default=None, metadata=about(resolved="1"))
    """B: how far the hope may be above the worst candidate, or below the best; the unit in relative units."""
    bound_step: float | None = field(
        default=None, metadata=about(resolved=f"{_DENSE_STEP} in raw units; with sparse features {_SPARSE_STEP}")
    )
    """D: how far the bounds of one sentence may move the weights."""
    bound_share: float | None = field(default=None, metadata=about(resolved="0.2 in relative units"))
    """d: how far one step moves hope and worst together at most, in the mean, in units of B."""
    exact: bool | None = field(default=None, metadata=about(resolved="true for update=cutting-plane, else false"))
    """D limits the steps of both bounds of a sentence together, as in the paper's program, else of each."""
    bound_by_cost: bool = False
    """The bound of a candidate is B times its cost, in relative units over the start's mean range of costs."""
    bound_floor: float = BOUND_FLOOR
    """The least share of B that a bound by cost can be."""
    bound_tolerance: float = 1e-4
    """Violation of a bound that the cutting plane ignores."""

    def _check(self) -> None:
        Mira._check(self)
        check_positive(self, "bound_floor", "bound_tolerance")
        check_used(self, "bound_floor", needs="bound_by_cost=true", given=self.bound_by_cost)
        self._check_solver("bound_tolerance")

    def loss(self, metric: Metric, shards: Sequence[Shard] = ()) -> MarginLoss:
        """The hinge, and D / C times the excess of the spread over B, with the D of sparse features."""
        scale, bounds = self._raw_scale(sparse=True), self._bounds()
        return RelativeMarginLoss(
            metric=metric,
            bound=scale.bound,
            bound_weight=scale.bound_step / scale.aggressiveness,
            bound_by_cost=bounds.by_cost,
            bound_floor=bounds.floor,
            hope=self.hope,
            local_size=self.local_size,
            gain_scale=scale.gains / typical_range(metric, shards),
        )

    def _of_units(self) -> dict[Units, dict[str, float | None]]:
        of = Mira._of_units(self)
        return {
            Units.RAW: {**of[Units.RAW], "bound": self.bound, "bound_step": self.bound_step},
            Units.RELATIVE: {**of[Units.RELATIVE], "bound_share": self.bound_share},
        }

    def _raw_scale(self, sparse: bool) -> Scale:
        return replace(
            Mira._raw_scale(self, sparse),
            gains=given(self.gain_scale, _GAIN_SCALE),
            bound=given(self.bound, 1.0),
            bound_step=given(self.bound_step, _SPARSE_STEP if sparse else _DENSE_STEP),
        )

    def shares(self, *, online: bool) -> Shares:
        shares = replace(Mira.shares(self, online=online), bound_share=given(self.bound_share, 0.2))
        if online:
            return shares
        ranges = given(self.start_range, _START_RANGE), given(self.cost_range, _COST_RANGE)
        return replace(shares, start_range=ranges[0], cost_range=ranges[1])

    def _bounds(self) -> Bounds:
        return Bounds(
            exact=self.update is MarginUpdate.CUTTING_PLANE if self.exact is None else self.exact,
            by_cost=self.bound_by_cost,
            floor=self.bound_floor,
            tolerance=self.bound_tolerance,
        )
