"""How weights follow gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from dragoman.errors import InputError
from dragoman.settings import Record

__all__ = ["Conditioning", "Update"]


class Conditioning(StrEnum):
    """What the gradient of a feature is divided by."""

    NONE = "none"  # nothing
    LISTS = "lists"  # the number of lists in which a candidate has it; of dense features: all lists
    EXTRACTION = "extraction"  # online: how often its rule was extracted; of dense features: all lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Record):
    """How weights follow gradients.

    The step after e epochs is step / (1 + decay e). `adaptive` is AdaGrad: a feature's step is divided by the root of
    its summed squared gradients. `averaged` returns the mean of the weights after each update. `scale_dense` measures
    dense features in their deviation within lists, so that their scale does not matter. The gradients of a `batch` are
    added; only a batch is shared by threads.
    """

    step: float = 0.1
    decay: float = 0.0
    l2: float = 0.0
    adaptive: bool = False
    averaged: bool = False
    batch: int = 1
    conditioning: Conditioning = Conditioning.NONE
    scale_dense: bool = True

    def _check(self) -> None:
        if not (self.step > 0 and math.isfinite(self.step)):
            raise InputError(f"the step must be positive, not {self.step}")
        if not self.decay >= 0 or not self.l2 >= 0 or not math.isfinite(self.decay + self.l2):
            raise InputError("decay and l2 must not be negative")
        if self.batch < 1:
            raise InputError(f"a batch has at least one list, not {self.batch}")
