"""The options that stand for settings: messages of the library name these in backticks, as a Python user gives them."""

from __future__ import annotations

import re

__all__ = ["as_options"]

_OPTIONS = {
    "alignment": "--align",
    "allow_missing": "--allow-missing",
    "baseline": "--baseline",
    "classes": "--classes",
    "data": "--data",
    "domains": "--domains",
    "features": "--features",
    "fill_missing": "--allow-missing",
    "forests": "--forest",
    "k": "--k",
    "keep": "--keep",
    "languages": "--languages",
    "limit": "--limit",
    "lines_per_shard": "--lines-per-shard",
    "lm": "--lm",
    "lowercase": "--lowercase",
    "max_length": "--max-phrase-length",
    "max_length=7": "--set max_length=7",
    "memory": "--memory",
    "min_count=2": "--set min_count=2",
    "n_folds": "--folds",
    "order": "--lm-order",
    "port": "--port",
    "preset=accurate": "--accurate",
    "raw": "--raw",
    "raw=False": "--tokenized",
    "reordering": "--reordering",
    "resume": "--resume",
    "scores": "--scores",
    "source": "--source",
    "sparse=True": "--set sparse=true",
    "system": "--system",
    "tight=True": "--set tight=true",
    "tokenized": "--tokenized",
    "tokenized=False": "--raw",
    "told": "--add",
    "weights": "--weights",
    "weights_format": "--weights-format",
}
_SETTING = re.compile(r"`(?P<name>\w+)(=(?P<value>[^`]*))?`")


def as_options(text: str) -> str:
    """The text with `resume=True` as --resume, `k=5` as --k 5, `classes=(20, 50)` as --classes 20 --classes 50."""
    return _SETTING.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    whole, name, value = found[0][1:-1], found["name"], found["value"]
    option = _OPTIONS.get(whole) or _OPTIONS.get(name)
    if option is None:
        return found[0]
    if whole in _OPTIONS or value == "True":
        return option
    several = value[1:-1].split(", ") if value.startswith("(") else [value]
    return " ".join(f"{option} {each}" for each in several)
