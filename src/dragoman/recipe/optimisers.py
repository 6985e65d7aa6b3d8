"""`[optimisers.NAME]`: how weights are learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman.errors import InputError
from dragoman.metric import Smoothing, by_name
from dragoman.recipe.table import RecipeTable
from dragoman.tune import LoopSettings, TuneConfig, build_method

__all__ = ["read_optimiser", "read_settings"]

_MIN_K = 2


def read_optimiser(name: str, table: RecipeTable) -> TuneConfig:
    """What tuning is told, but for the features, which the grid chooses. The method is by default the table's name."""
    method, metric = table.text("method", name), table.text("metric", "bleu")
    settings = read_settings(table)
    loop = table.fields(LoopSettings)
    values: dict[str, Any] = table.fields(TuneConfig, skip=("method", "metric", "preset"))
    frozen = table.texts("frozen")
    table.done()
    with table:
        by_name(metric, smoothing=Smoothing.NONE)
        build_method(method, settings, online=bool(values.get("online")))
        config = TuneConfig(
            method=method, metric=metric, settings=settings, loop=LoopSettings(**loop), frozen=frozen, **values
        )
    if config.n_best < _MIN_K:
        raise table.wrong("k", f"expected at least {_MIN_K}")
    return config


def read_settings(table: RecipeTable) -> dict[str, str]:
    """The settings of a method, as the text that methods read. Tables inside reach into records."""
    found = _flat(table.find("settings", dict) or {})
    for key, value in found.items():
        if not isinstance(value, str | int | float):
            raise InputError(f"{table.named('settings')}.{key}: expected text, a number, true or false")
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in found.items()}


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        found |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found
