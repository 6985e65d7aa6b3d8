"""How long a worker may take for an item before it counts as late: its host may be stopped, or its disk gone."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass

__all__ = ["Durations", "Patience"]

_KEPT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """A worker is late with an item after `times` the median time of the items that are done, at least `least_s`.

    While none is done there is no median: after `first_s` it is told, and waited for.
    """

    times: float = 10.0
    least_s: float = 30.0
    first_s: float = 1800.0

    def limit_s(self, median_s: float | None) -> float:
        """Seconds after which a worker is late."""
        return self.first_s if median_s is None else max(self.least_s, self.times * median_s)


class Durations:
    """Seconds that the items of one `map` took. A worker's first item of a job, which opens the job, counts apart."""

    def __init__(self) -> None:
        self._sorted: dict[bool, list[float]] = {True: [], False: []}

    def add(self, seconds: float, *, opening: bool) -> None:
        if len(self._sorted[opening]) < _KEPT:
            insort(self._sorted[opening], seconds)

    def median(self, *, opening: bool) -> float | None:
        """None where nothing is known. Opening is a limit for what comes after it too, but not the other way round."""
        found = self._sorted[opening] or self._sorted[True]
        return found[len(found) // 2] if found else None
