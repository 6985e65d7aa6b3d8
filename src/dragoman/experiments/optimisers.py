"""`[optimisers.NAME]`: how weights are learned."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.errors import InputError
from dragoman.experiments.starts import CellStart, NormalStart, read_start
from dragoman.experiments.table import RecipeTable
from dragoman.optim import Optimiser, make_optimiser, method_name
from dragoman.settings import Record
from dragoman.tuning import LearnFrom, LoopSettings, PhiSettings, Theta, TuneConfig

__all__ = ["TuningPlan", "read_method", "read_optimiser"]

_MIN_K = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan(Record):
    """A method and its tuning settings."""

    optimiser: Optimiser
    config: TuneConfig
    start: NormalStart | CellStart | None = None
    """Initial weights; None: those of the system."""

    def steps(self) -> tuple[str, ...]:
        """Steps before the rounds, which cells that differ only in their seed share."""
        if isinstance(self.start, CellStart):
            return ()  # the weights of another cell are those of the seed
        phi, plan = self.config.phi, self.optimiser.text_plan()
        if plan is not None:
            return () if plan.seed is None else plan.steps
        if self.config.learn_from is not LearnFrom.LISTS or phi.training_seed == 0:
            return ()
        searches = phi.theta is Theta.SEARCH or (phi.theta is Theta.AUTO and self.start is None)
        made = self.optimiser.material.value
        return (*(("theta",) if searches else ()), made, *(("model",) if phi.searches_last(self.optimiser) else ()))

    @property
    def training_seed(self) -> int | None:
        """The seed of what comes before the last step; None: that of the cell."""
        if (plan := self.optimiser.text_plan()) is not None:
            return plan.seed
        return (self.config.phi.training_seed or None) if self.config.learn_from is LearnFrom.LISTS else None


def read_optimiser(name: str, table: RecipeTable) -> TuningPlan:
    """The tuning settings, except the features, which the grid chooses."""
    optimiser = read_method(name, table)
    loop = table.fields(LoopSettings)
    values = table.fields(TuneConfig, skip=("loop", "features", "preset", "phi"))
    start = read_start(table)
    phi = _read_phi(table)
    table.done()
    with table:
        values.setdefault("learn_from", optimiser.default_learn_from)
        config = TuneConfig(loop=LoopSettings(**loop), phi=phi or PhiSettings(), **values)
        if phi is not None and config.learn_from is not LearnFrom.LISTS:
            raise InputError("'phi' is for learning from lists of the training text: learn_from = \"lists\"")
        config.check(optimiser)
        optimiser.check_lists()
        config.objective()  # raises
    if config.k is not None and config.k < _MIN_K:
        raise table.wrong("k", f"expected at least {_MIN_K}")
    return TuningPlan(optimiser=optimiser, config=config, start=start)


def _read_phi(table: RecipeTable) -> PhiSettings | None:
    """Settings of sparse weights learned from lists; None if there are none."""
    if "phi" not in table:
        table.find("phi", dict)
        return None
    inner = table.need_table("phi")
    values = inner.fields(PhiSettings, skip=("search",))
    if "search" in inner:
        search = inner.need_table("search")
        values["search"] = read_method("mert", search)
        search.done()
    else:
        inner.find("search", dict)
    inner.done()
    with inner:
        return PhiSettings(**values)


def read_method(name: str, table: RecipeTable) -> Optimiser:
    """The method with its settings; by default the one with the table's name."""
    method, online = table.text("method", name), table.flag("online")
    settings = table.find("settings", dict) or {}
    with table:
        return make_optimiser(method_name(method, online=online), settings)
