"""Optimisers: each learns weights from a pool of scored candidates."""

from collections.abc import Mapping
from types import MappingProxyType

from dragoman.optim.base import Optimiser, Result
from dragoman.optim.mert import Mert, Norm
from dragoman.optim.pro import Acceptance, Pro

__all__ = ["OPTIMISERS", "Acceptance", "Mert", "Norm", "Optimiser", "Pro", "Result"]

OPTIMISERS: Mapping[str, type[Optimiser]] = MappingProxyType({"mert": Mert, "pro": Pro})
"""Batch optimisers by the name that users give."""
