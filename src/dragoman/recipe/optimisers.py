"""`[optimisers.NAME]`: how weights are learned."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.metric import Smoothing, by_name
from dragoman.optim import Hols, Mira, Optimiser, make_optimiser, method_name
from dragoman.recipe.starts import NormalStart, read_start
from dragoman.recipe.table import RecipeTable
from dragoman.tune import LoopSettings, TuneConfig

__all__ = ["TuningPlan", "read_method", "read_optimiser"]

_MIN_K = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """A method and its tuning settings."""

    optimiser: Optimiser
    config: TuneConfig
    start: NormalStart | None = None
    """Initial weights; None: those of the system."""

    def steps(self) -> tuple[str, ...]:
        """Steps before the rounds, which cells that differ only in their seed share."""
        return self.optimiser.steps() if isinstance(self.optimiser, Hols) else ()


def read_optimiser(name: str, table: RecipeTable) -> TuningPlan:
    """The tuning settings, except the features, which the grid chooses."""
    optimiser = read_method(name, table)
    loop = table.fields(LoopSettings)
    values = table.fields(TuneConfig, skip=("loop", "features", "preset"))
    start = read_start(table)
    table.done()
    with table:
        config = TuneConfig(loop=LoopSettings(**loop), **values)
        config.check(optimiser)
        if isinstance(optimiser, Mira):
            optimiser.check_lists()
        by_name(config.metric, smoothing=Smoothing.NONE)
    if config.k is not None and config.k < _MIN_K:
        raise table.wrong("k", f"expected at least {_MIN_K}")
    return TuningPlan(optimiser=optimiser, config=config, start=start)


def read_method(name: str, table: RecipeTable) -> Optimiser:
    """The method with its settings; by default the one with the table's name."""
    method, online = table.text("method", name), table.flag("online")
    settings = table.find("settings", dict) or {}
    with table:
        return make_optimiser(method_name(method, online=online), settings)
