"""Blocks: named dense features, each the dot product of a fixed sparse vector with the features it covers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A dense feature `name` whose value is the sum of coefficient · value over the features it covers.

    Projecting a pool removes the columns of the covered features (including those with coefficient 0), so that a line
    search over `name` scales the whole direction.
    """

    name: str
    coefficients: Mapping[str, float]

    def __post_init__(self) -> None:
        if not self.coefficients:
            raise ValueError(f"the block {self.name!r} covers no features")
        if bad := [name for name, value in self.coefficients.items() if not math.isfinite(value)]:
            raise ValueError(f"the block {self.name!r} has a non-finite coefficient for {bad[0]!r}")
