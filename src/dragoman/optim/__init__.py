"""Optimisers: each learns weights from a pool of scored candidates."""

from collections.abc import Mapping
from types import MappingProxyType

from dragoman.optim.base import Optimiser, Result
from dragoman.optim.loss import Loss, SparseVector
from dragoman.optim.mert import Mert, Norm
from dragoman.optim.mira import Background, Fear, HingeLoss, Hope, MarginUpdate, Mira
from dragoman.optim.pro import Acceptance, Pro
from dragoman.optim.rampion import Ramp, Rampion, RampLoss
from dragoman.optim.rm import RelativeMarginLoss, Rm

__all__ = [
    "OPTIMISERS",
    "Acceptance",
    "Background",
    "Fear",
    "HingeLoss",
    "Hope",
    "Loss",
    "MarginUpdate",
    "Mert",
    "Mira",
    "Norm",
    "Optimiser",
    "Pro",
    "Ramp",
    "RampLoss",
    "Rampion",
    "RelativeMarginLoss",
    "Result",
    "Rm",
    "SparseVector",
]

OPTIMISERS: Mapping[str, type[Optimiser]] = MappingProxyType(
    {"mert": Mert, "pro": Pro, "mira": Mira, "rm": Rm, "rampion": Rampion}
)
"""Batch optimisers by the name that users give."""
