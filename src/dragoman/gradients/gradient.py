"""The gradient of losses over many lists, by feature name: what a pass, a part of it, or one shard has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dragoman.candidates import Objective
from dragoman.errors import InputError, naming
from dragoman.features import FeatureTable
from dragoman.files.store import from_plain
from dragoman.metric import Metric
from dragoman.types import PathLike

__all__ = ["N_LISTS", "Gradient", "ListSums"]

N_LISTS = "n_lists"
"""The column that says in how many lists a candidate has the feature."""
_SUMS, _SETTINGS = "sums", "settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSums:
    """What lists add up to beside features."""

    n_lines: int
    n_lists: int
    """Lines that have candidates."""
    n_candidates: int
    losses: Mapping[str, float]
    """The value of each loss."""
    best: tuple[float, ...]
    """Statistics of the best candidates by the model."""
    oracle: tuple[float, ...]
    """Statistics of the candidates with the highest gain of their own."""

    def add(self, other: ListSums) -> ListSums:
        return ListSums(
            n_lines=self.n_lines + other.n_lines,
            n_lists=self.n_lists + other.n_lists,
            n_candidates=self.n_candidates + other.n_candidates,
            losses={name: value + other.losses[name] for name, value in self.losses.items()},
            best=_sum(self.best, other.best),
            oracle=_sum(self.oracle, other.oracle),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gradient:
    """Sums over lists. `table` has one column for the gradient of each loss, by its name, and `n_lists`.

    Gradients are with respect to the weights times `settings["scale"]`. `settings` say which lists these are; sums in
    the making have none.
    """

    table: FeatureTable
    sums: ListSums
    settings: Mapping[str, Any] = field(default_factory=dict)

    def add(self, other: Gradient) -> Gradient:
        """The sum of both, this one first, without settings."""
        return Gradient(table=self.table.add(other.table), sums=self.sums.add(other.sums))

    def metric(self) -> Metric:
        """The metric of the statistics."""
        return Objective(str(self.settings["metric"])).metric

    def save(self, path: PathLike) -> None:
        """Write a feature table that says the rest about itself."""
        about = {_SUMS: asdict(self.sums), _SETTINGS: dict(self.settings)}
        replace(self.table, about=about).save(path)

    @classmethod
    def load(cls, path: PathLike) -> Gradient:
        """Map what `save` wrote. Raises InputError for another file, or a damaged one."""
        table = FeatureTable.load(path)
        with naming(path):
            if not isinstance(settings := table.about.get(_SETTINGS), dict):
                raise InputError("is a feature table, but not the gradient of a pass")
            sums = from_plain(ListSums, table.about.get(_SUMS))
            if {*sums.losses, N_LISTS} != {*table.columns} or len(sums.best) != len(sums.oracle):
                raise InputError("has other columns than losses; the gradient is damaged")
            return cls(table=table, sums=sums, settings=settings)


def _sum(left: tuple[float, ...], right: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))
