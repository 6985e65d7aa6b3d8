"""An external score per candidate, such as COMET or a human judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.metric.base import Metric, Totals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["External"]

_MAX_VALUE = 1e100
"""Sums and squares of numbers up to this are finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class External(Metric):
    """The mean of external values. Statistics: the value, and 1."""

    label: str = "external"
    higher_is_better: bool = True

    @property
    def name(self) -> str:
        return self.label

    @property
    def n_stats(self) -> int:
        return 2

    def from_values(self, values: ArrayLike) -> NDArray[np.float64]:
        """Statistics of candidates with these values, [n, 2]."""
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 1:
            raise InputError(f"expected one number per candidate, not an array of shape {array.shape}")
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise InputError(f"{self.label}: {array[bad[0]]} is not a finite number", line=int(bad[0]) + 1)
        huge = np.flatnonzero(np.abs(array) > _MAX_VALUE)
        if huge.size:
            raise InputError(
                f"{self.label}: {array[huge[0]]} is too large; the maximum is {_MAX_VALUE:g}", line=int(huge[0]) + 1
            )
        return np.stack([array, np.ones_like(array)], axis=1)

    def statistics(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises InputError: external scores cannot be computed from text."""
        raise InputError(f"{self.label} is external and cannot be computed from text; give a number per candidate")

    text_statistics = statistics

    @property
    def uses_references(self) -> bool:
        return False

    @property
    def has_known_scale(self) -> bool:
        return False

    def score_of(self, total: Totals) -> Totals:
        """The mean; 0 without candidates."""
        total = np.asarray(total, dtype=np.float64)
        n = total[..., 1]
        return np.where(n > 0, total[..., 0] / np.where(n > 0, n, 1.0), 0.0)[()]

    def scorer(self) -> _core.Scorer:
        """The mean, or one minus the mean."""
        mean = _core.mean_scorer()
        return mean if self.higher_is_better else _core.mix_scorer(1.0, [-1.0], [mean])

    def settings(self) -> Mapping[str, object]:
        return {"external": self.label}
