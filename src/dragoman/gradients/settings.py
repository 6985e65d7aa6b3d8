"""What can be chosen about a gradient pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dragoman.errors import InputError
from dragoman.optim import Loss, make_loss
from dragoman.sources.lists import ListsSettings

__all__ = ["PassSettings"]

_MAX_SCALE = 1e100
"""Sums of some million scores stay finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassSettings(ListsSettings):
    """Which lines, decoded how, as for stored lists, and the losses whose gradients are summed."""

    k: int = 500
    losses: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"softramp": {}})
    """Settings of each loss, by the name of the method that lowers it."""
    scale: float = 1.0
    """Multiplies the weights where losses are taken: losses have a scale, weights of search have none."""

    def _check(self) -> None:
        ListsSettings._check(self)
        if not self.losses:
            raise InputError("a gradient pass needs a loss")
        if not 0 < self.scale <= _MAX_SCALE:
            raise InputError(
                f"the scale of the weights must be positive and at most {_MAX_SCALE:g}, not {self.scale:g}"
            )
        self.made_losses()

    def made_losses(self) -> dict[str, Loss]:
        """The losses by name, for the metric."""
        metric = self.measure()
        return {name: make_loss(name, metric, settings) for name, settings in self.losses.items()}
