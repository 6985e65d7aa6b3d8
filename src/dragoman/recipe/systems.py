"""`[systems.NAME]`: how a system is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dragoman.align import AlignConfig, AlignMethod, Symmetrization
from dragoman.align.library import is_installed
from dragoman.errors import InputError
from dragoman.grammar import PhraseSmoothing, RuleExtraction
from dragoman.lm import MAX_ORDER, EstimateConfig
from dragoman.recipe.table import RecipeTable, listed
from dragoman.system import (
    DEFAULT_REORDERING,
    REORDERING,
    DenseSet,
    ModelKind,
    Preset,
    SystemSettings,
    TextSettings,
    TrainConfig,
)

__all__ = ["SystemPlan", "read_system"]

GIVEN = "given"
_PHRASE_ONLY = ("reordering", "smoothing", "max_phrase_length", "distortion_limit", "min_count")
_HIERO_ONLY = ("dense", "max_span", "rules")
_MAX_FOLDS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPlan:
    """How to train, and how much to search."""

    name: str
    train: TrainConfig
    preset: Preset
    aligned: bool | None
    """Whether the corpus' own alignment is used; None: where it has one."""

    def config(self, text: TextSettings) -> TrainConfig:
        """For a corpus with such text."""
        return replace(self.train, settings=replace(self.train.settings, text=text))


def read_system(name: str, table: RecipeTable) -> SystemPlan:
    """Check all of it."""
    model = table.choice("model", ModelKind, ModelKind.PHRASE)
    other = _HIERO_ONLY if model is ModelKind.PHRASE else _PHRASE_ONLY
    for key in other:
        if key in table:
            raise InputError(f"'{table.named(key)}' does not belong to a system of model {model.value!r}")
    aligned, alignment = _alignment(table)
    more: dict[str, Any] = {}
    if model is ModelKind.PHRASE:
        limit = table.number("distortion_limit", -1, 6)
        more = {
            "reordering": REORDERING[table.one_of("reordering", REORDERING, DEFAULT_REORDERING)],
            "smoothing": table.choice("smoothing", PhraseSmoothing, PhraseSmoothing.NONE),
            "distortion_limit": None if limit < 0 else limit,
            "min_count": table.number("min_count", 1, 1),
        }
    else:
        more = {
            "dense": table.choice("dense", DenseSet, DenseSet.FULL14),
            "max_span": table.number("max_span", 1, 20),
        }
    settings = SystemSettings(
        model=model,
        max_targets=table.number("max_targets", 0, 20),
        n_folds=table.number("folds", 1, 1, most=_MAX_FOLDS),
        fold_seed=table.number("fold_seed", 0, 0),
        **more,
    )
    config = TrainConfig(
        settings=settings,
        alignment=alignment,
        lm=EstimateConfig(order=table.number("lm_order", 1, 5, most=MAX_ORDER)),
        max_phrase_length=table.number("max_phrase_length", 1, 7, most=255) if model is ModelKind.PHRASE else 7,
        rules=table.table("rules").record(RuleExtraction, skip=("n_threads",)),
    )
    preset = table.choice("preset", Preset, Preset.DEFAULT)
    table.done()
    return SystemPlan(name=name, train=config, preset=preset, aligned=aligned)


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
