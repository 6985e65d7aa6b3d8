"""A number per candidate that the user brings: COMET, a person's judgement, anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from dragoman.errors import InputError
from dragoman.metric.base import Metric, Totals, write_signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from dragoman.metric.segments import References, Segments, Spelling

__all__ = ["External"]


@dataclass(frozen=True, slots=True, kw_only=True)
class External(Metric):
    """The mean of given values. Statistics: the value, and 1."""

    label: str = "external"
    higher_is_better: bool = True

    @property
    def name(self) -> str:
        """What the values are called."""
        return self.label

    @property
    def n_stats(self) -> int:
        """A sum and a count."""
        return 2

    def from_values(self, values: ArrayLike) -> NDArray[np.float64]:
        """Statistics of candidates with these values, [n, 2]."""
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 1:
            raise InputError(f"one number per candidate expected, not an array of shape {array.shape}")
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise InputError(f"{self.label}: {array[bad[0]]} is not a finite number", line=int(bad[0]) + 1)
        return np.stack([array, np.ones_like(array)], axis=1)

    def statistics(
        self,
        hyps: Segments,
        refs: References,
        *,
        sentence: NDArray[np.int32] | None = None,
        spelling: Spelling | None = None,
        n_threads: int = 1,
    ) -> NoReturn:
        """Not from text."""
        raise self._not_from_text()

    def text_statistics(
        self,
        hyps: Sequence[str],
        refs: Sequence[Sequence[str]],
        *,
        sentence: NDArray[np.int32] | None = None,
        n_threads: int = 1,
    ) -> NoReturn:
        """Not from text."""
        raise self._not_from_text()

    def score(self, total: Totals) -> Totals:
        """The mean; 0 for no candidates."""
        total = np.asarray(total, dtype=np.float64)
        n = total[..., 1]
        return np.where(n > 0, total[..., 0] / np.where(n > 0, n, 1.0), 0.0)[()]

    def signature(
        self,
        n_refs: int | None,
        *,
        n_bootstrap: int | None = None,
        n_trials: int | None = None,
        seed: int | None = None,
    ) -> str:
        """Says that the numbers came from outside."""
        return write_signature(n_refs, {"external": self.label}, n_bootstrap=n_bootstrap, n_trials=n_trials, seed=seed)

    def _not_from_text(self) -> InputError:
        return InputError(f"{self.label} is external, it cannot be computed from text; bring a number per candidate")
