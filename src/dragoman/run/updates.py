"""What the updates of held-out line search did, as the record of a tuning and that of a cell have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dragoman.features import SignFlips

__all__ = ["Update"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A gradient of the sparse weights, and the line search along it on other lines. Scores in [0, 1]."""

    update: int
    """From 1; the search on the development set after the last one repeats its number."""
    searched: str
    """The lines of the search: `held-out`, or `dev` of the last one."""
    blocks: Mapping[str, float]
    """The weights that the search gave to the blocks: c₁ of the sparse weights before, α of every step."""
    score_before: float
    """On the lines of the search, decoded with the weights before it, and after it."""
    score_after: float
    n_lines: int
    """Lines that the gradient was taken on."""
    n_features: int
    """Sparse features whose component is not 0."""
    n_seen: int = 0
    """Features of the gradient lines' candidates, dense ones too: those that could have got a weight. 0 in older
    records."""
    loss: float
    """Mean over the lists of the gradient, at the weights times `factor`."""
    factor: float
    """What the weights were multiplied by where they met the loss."""
    dense_scale: float = 1.0
    """L1 norm of the dense weights where the gradient was taken, divided by that after the search: c₁ and α times this
    are relative to the dense weights, whose scale MERT does not keep."""
    gradient_cpu_s: float = 0.0
    search_cpu_s: float = 0.0
    flips: tuple[SignFlips, ...] = field(default=())
    """Signs that changed since the gradient of the update before; empty in the first."""
