"""Units in which the bound, costs and steps of margin learners mean something.

Scores, costs, the bound B, weights, C and D may all be multiplied by the same number, and nothing changes but the unit;
features may be multiplied and weights divided by one. So "B 1, C 0.01, D 0.01" says nothing without the sizes of
scores, costs and features. Relative units take them from lists that the start made, once a run:

    start    multiplied so that the mean range of scores of a list, best - worst, is sigma B
    costs    multiplied so that the mean range of gains of a list is kappa B
    C        c B / mean |omega|^2 of hope and fear where they differ: a step parts them by c B at most, in the mean
    D        d B / mean |omega|^2 of hope and worst

B is the unit, 1. |omega|^2 is taken in the metric of the learner's rates, and hope and fear under the start and the
gains so multiplied. The start is multiplied up or down, whatever is needed: a linear decoder does not know the scale of
its weights, and so the result does not depend on it. Weights are divided by the same number in the end. The range that
RM's bound leaves is some 0.6 B; from a start whose range is B itself the first passes do little but shrink the weights,
in the directions of the worst candidates, and with many learners it takes some ten passes to make up for that.

Symbols: sigma `start_range`; kappa `cost_range`; c `share`; d `bound_share`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from dragoman.errors import InputError
from dragoman.optim.epochs import Entry
from dragoman.optim.margin import Survey
from dragoman.settings import Record, takes_text
from dragoman.types import Float64Array

__all__ = ["MAX_SETTING", "Scale", "Shares", "Units", "check_units", "given", "list_units", "relative_scale"]


MAX_SETTING = 1e100
"""Squares of what comes of settings are numbers still."""


class Units(StrEnum):
    """What costs, bounds and steps are measured in."""

    RELATIVE = "relative"  # the start's spread of scores
    RAW = "raw"  # none: numbers as they are


def given(value: float | None, default: float) -> float:
    """A setting, or what None stands for."""
    return default if value is None else value


@takes_text
def check_units(method: str, units: Units | None, settings: Mapping[Units, Mapping[str, float | None]]) -> None:
    """Raise InputError for settings that are not positive numbers, and for those of other units; None is not given.

    Units that are not given are those of the settings.
    """
    units = units or _told(settings)
    for of, values in settings.items():
        for name, value in values.items():
            if value is None:
                continue
            if units is not None and of is not units:
                others = ", ".join(settings[units])
                raise InputError(f"{method}: {name} needs units={of}, but units={units}, which have {others}")
            if not 0 < value <= MAX_SETTING and not (name == "bound" and value == math.inf):
                raise InputError(f"{method}: {name} must be positive and at most {MAX_SETTING:g}, not {value:g}")


@takes_text
def list_units(units: Units | None, settings: Mapping[Units, Mapping[str, float | None]]) -> Units:
    """The units of learning from lists: as given, else those of the settings, else relative."""
    return units or _told(settings) or Units.RELATIVE


def _told(settings: Mapping[Units, Mapping[str, float | None]]) -> Units | None:
    """The units that settings belong to, the first ones if there are several; None without settings."""
    return next((of for of, values in settings.items() if any(value is not None for value in values.values())), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale(Record):
    """What the learner multiplies, and the steps that go with it."""

    start: float = 1.0
    """Multiplies the start; what was learned is divided by it."""
    gains: float = 1.0
    """Multiplies gains."""
    aggressiveness: float
    """C."""
    bound: float = math.inf
    """B; infinite for MIRA."""
    bound_step: float = 1.0
    """D; means nothing without a bound."""
    cost_unit: float = 1.0
    """The cost of a candidate whose bound is B, where bounds go by cost."""
    variances: Mapping[str, float] = field(default_factory=dict)
    """Of dense features within lists: steps against a gradient are divided by them."""

    def _check(self) -> None:
        finite = (self.start, self.gains, self.aggressiveness, self.bound_step, self.cost_unit)
        if not (all(0 < number < math.inf for number in finite) and self.bound > 0):
            raise InputError("units must be positive and finite; scores or features are too large or too small")

    def scaled(self, start: Float64Array) -> Float64Array:
        """The weights that learning starts with."""
        return self.start * start

    def restored(self, values: Float64Array, start: Float64Array) -> Float64Array:
        """Weights on the scale of the start; those that did not move, as frozen ones, are the start's bit by bit."""
        return np.where(values == self.scaled(start), start, values / self.start)

    def entry(self) -> Entry:
        """For the trace."""
        bounded = {"bound_step": self.bound_step} if self.bound < math.inf else {}
        if self.variances:
            return {"score_factor": self.start, "cost_factor": self.gains}
        return {
            "score_factor": self.start,
            "cost_factor": self.gains,
            "aggressiveness": self.aggressiveness,
            **bounded,
        }

    def note(self) -> str:
        """For people."""
        if self.variances:
            return f"units: scores x {self.start:.3g}"
        bounded = f", D {self.bound_step:.3g}" if self.bound < math.inf else ""
        return f"units: scores x {self.start:.3g}, costs x {self.gains:.3g}, C {self.aggressiveness:.3g}{bounded}"

    def to_json(self) -> dict[str, Any]:
        """As a file holds it: a bound that is infinite is none."""
        values = dataclasses.asdict(self)
        if not self.variances:
            del values["variances"]
        return {**values, "bound": None if math.isinf(self.bound) else self.bound}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Scale:
        """Raises TypeError or ValueError for what is no scale."""
        variances = {str(name): float(value) for name, value in (values.get("variances") or {}).items()}
        numbers = {name: value for name, value in values.items() if name != "variances"}
        return cls(
            variances=variances,
            **{name: math.inf if value is None else float(value) for name, value in numbers.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(Record):
    """Of B, the unit: what relative units are made from."""

    start_range: float
    """sigma: the mean range of the start's scores."""
    cost_range: float
    """kappa: the mean range of costs."""
    share: float
    """c: how far one step moves hope and fear apart."""
    bound_share: float | None = None
    """d: how far one step moves hope and worst together; None without a bound."""


def relative_scale(survey: Callable[[Scale], Survey], shares: Shares) -> Scale:
    """The scale of a learner; `survey` asks it about lists of the start, when start and gains are multiplied so.

    A size that is 0 on every list, as the scores of a start of zeros are, is left as it is.
    """
    found = survey(Scale(aggressiveness=1.0))
    scale = Scale(
        start=_ratio(shares.start_range * found.n_lists, found.score_range),
        gains=_ratio(shares.cost_range * found.n_lists, found.gain_range),
        aggressiveness=1.0,
        bound=math.inf if shares.bound_share is None else 1.0,
        cost_unit=shares.cost_range,
    )
    found = survey(scale)
    fear = _ratio(found.n_fear, found.fear_square)
    worst = _ratio(found.n_worst, found.worst_square)
    return dataclasses.replace(
        scale,
        aggressiveness=shares.share * (fear if found.n_fear else worst),
        bound_step=1.0 if shares.bound_share is None else shares.bound_share * (worst if found.n_worst else fear),
    )


def _ratio(wanted: float, found: float) -> float:
    return wanted / found if found > 0 else 1.0
