"""What can be chosen about lists of the training text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from dragoman.candidates import Objective
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.settings import Record, from_values, plain
from dragoman.system import Preset
from dragoman.system.training import SHARD_LINES

__all__ = ["ListsSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsSettings(Record):
    """Which lines, decoded how, measured by what."""

    k: int = 100
    """Candidates of a line at most."""
    distinct: bool = False
    """Candidates with different words only."""
    all_data: bool = False
    """Decode by tables that have seen the line, instead of those without its fold."""
    features: tuple[str, ...] = ()
    """Sparse features in search."""
    where: str | None = None
    """Lines of this domain only; of all others with a `!` before it."""
    limit: int | None = None
    """So many lines only, the first ones."""
    preset: Preset = Preset.DEFAULT
    metric: str = "bleu"
    lines_per_shard: int = SHARD_LINES

    def _check(self) -> None:
        if self.k < 2:
            raise InputError(f"there is nothing to learn from lists of {self.k} candidate; ask for at least 2 with `k`")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"`limit={self.limit}` leaves no lines; the least is 1")
        if self.lines_per_shard < 1:
            raise InputError(f"`lines_per_shard={self.lines_per_shard}`: the least is 1")
        self.measure()

    def measure(self) -> Metric:
        """The metric of the lists' statistics. BLEU is unsmoothed, as in tuning."""
        return Objective(self.metric).metric

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = plain(self)
        return record

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        return from_values(cls, {name: value for name, value in values.items() if value is not None}, name="lists")
