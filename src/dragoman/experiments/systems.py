"""`[systems.NAME]`: how a system is trained."""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace

from dragoman.align import AlignConfig, AlignMethod, Symmetrization
from dragoman.align.library import is_installed
from dragoman.corpus import MAX_FOLDS
from dragoman.errors import InputError
from dragoman.experiments.table import RecipeTable
from dragoman.lm import MAX_ORDER, EstimateConfig
from dragoman.settings import Record, listed
from dragoman.system import KINDS, ModelSettings, Preset, SystemSettings, TextSettings, TrainConfig

__all__ = ["SystemPlan", "read_system"]

GIVEN = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPlan(Record):
    """Training settings and search effort."""

    name: str
    train: TrainConfig
    preset: Preset
    aligned: bool | None
    """Whether the corpus's given alignment is used; None: if it has one."""

    @property
    def model(self) -> str:
        """The kind of system."""
        return self.train.settings.model.kind

    def config(self, text: TextSettings) -> TrainConfig:
        """The training configuration for a corpus with these text settings."""
        return replace(self.train, settings=replace(self.train.settings, text=text))


def read_system(name: str, table: RecipeTable) -> SystemPlan:
    """Read and check a system's table."""
    kind = table.one_of("model", KINDS, "phrase")
    aligned, alignment = _alignment(table)
    settings = SystemSettings(
        model=_model(kind, table),
        max_targets=table.number("max_targets", 0, 20),
        n_folds=table.number("folds", 1, 1, most=MAX_FOLDS),
        fold_seed=table.number("fold_seed", 0, 0),
    )
    if "classes" in table:
        sizes = table.numbers("classes", 1, int)
        with table:
            settings = replace(settings, classes=sizes)
    config = TrainConfig(
        settings=settings,
        alignment=alignment,
        lm=EstimateConfig(order=table.number("lm_order", 1, 5, most=MAX_ORDER)),
        raw=False,
    )
    preset = table.choice("preset", Preset, Preset.DEFAULT)
    table.done()
    return SystemPlan(name=name, train=config, preset=preset, aligned=aligned)


def _model(kind: str, table: RecipeTable) -> ModelSettings:
    """The settings of a kind of system; keys of other kinds are rejected."""
    cls = KINDS[kind].settings
    for key in table.present():
        if key not in cls.options() and any(key in other.settings.options() for other in KINDS.values()):
            raise InputError(f"'{table.named(key)}' does not belong to a system of model {kind!r}")
    values = {}
    for key, hint in cls.options().items():
        if isinstance(hint, type) and is_dataclass(hint):
            values[key] = table.table(key).record(hint, skip=("n_threads",))
        elif (value := table.find(key, str, int, float, bool)) is not None:
            values[key] = cls.option(key, value, table.named(key))
    with table:
        return cls(**values)


def _alignment(table: RecipeTable) -> tuple[bool | None, AlignConfig]:
    methods = [GIVEN, *(method.value for method in AlignMethod)]
    wanted = table.find("align", str)
    if wanted is not None and wanted not in methods:
        raise table.wrong("align", listed(wanted, methods))
    method = AlignMethod.FAST if wanted in (None, GIVEN) else AlignMethod(wanted)
    if method is not AlignMethod.FAST and not is_installed():
        raise table.wrong(
            "align", f"needs the sil-thot library: pip install 'dragoman[align]', or use {AlignMethod.FAST}"
        )
    config = AlignConfig(
        method=method,
        symmetrization=table.choice("symmetrize", Symmetrization, Symmetrization.GROW_DIAG_FINAL_AND),
        seed=table.number("align_seed", 0, 1),
    )
    return (None if wanted is None else wanted == GIVEN), config
