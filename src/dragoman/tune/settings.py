"""Optimisers from their name and `key=value` settings."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dragoman.errors import InputError
from dragoman.optim import FOREST_OPTIMISERS, OPTIMISERS, ForestMert, Mira, Optimiser
from dragoman.types import MAX_INT32

__all__ = [
    "Method",
    "OnlineMethod",
    "OnlineSettings",
    "build_method",
    "build_optimiser",
    "build_record",
    "describe_settings",
]

_Kinds = tuple[type, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineSettings:
    """How a margin learner goes online: `batch` sentences are decoded with the same weights, 1 is truly online.

    `passes` over the development set make a round, after which the weights are measured.
    """

    batch: int = 8
    passes: int = 1

    def __post_init__(self) -> None:
        if min(self.batch, self.passes) < 1:
            raise InputError("online learning: batch and passes must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineMethod:
    """A margin learner that decodes as it learns."""

    learner: Mira
    online: OnlineSettings = OnlineSettings()


Method: TypeAlias = Optimiser | ForestMert | OnlineMethod
"""What a name and settings can stand for where a system decodes."""

_OFFLINE = frozenset({"n_epochs", "batch", "held_out", "patience"})
"""Settings of margin learners on pools that mean nothing, or something else, online."""


def build_method(method: str, settings: Mapping[str, str], *, online: bool = False) -> Method:
    """The method of that name for a system, with some of its fields set from text.

    Raises InputError for an unknown method or setting, with those that exist, and for a value of the wrong kind.
    """
    if online:
        return _build_online(method, settings)
    if method in FOREST_OPTIMISERS:
        forest: ForestMert = build_record(FOREST_OPTIMISERS[method], method, settings)
        return forest
    return build_optimiser(method, settings)


def _build_online(method: str, settings: Mapping[str, str]) -> OnlineMethod:
    cls = _online_learner(method)
    known = describe_settings(method, online=True)
    for key in settings:
        if key not in known:
            raise InputError(f"{method} online has no setting '{key}'; it has: {', '.join(known)}")
    own = _settable(OnlineSettings)
    return OnlineMethod(
        learner=build_record(cls, method, {key: text for key, text in settings.items() if key not in own}),
        online=build_record(OnlineSettings, method, {key: text for key, text in settings.items() if key in own}),
    )


def _online_learner(method: str) -> type[Mira]:
    able: dict[str, type[Mira]] = {name: cls for name, cls in OPTIMISERS.items() if issubclass(cls, Mira)}
    if method not in able:
        raise InputError(f"{method} cannot learn online; there are: {', '.join(able)}")
    return able[method]


def build_optimiser(method: str, settings: Mapping[str, str]) -> Optimiser:
    """The optimiser of that name with some of its fields set from text; `outer.inner` reaches into a field.

    Raises InputError for an unknown method or setting, with those that exist, and for a value of the wrong kind.
    """
    cls = _known(method)
    if method in FOREST_OPTIMISERS:
        raise InputError(f"{method} learns from the search spaces of a system, not from lists; use it with --system")
    optimiser: Optimiser = build_record(cls, method, settings)
    return optimiser


def build_record(cls: Any, name: str, settings: Mapping[str, str]) -> Any:
    """A dataclass with some of its fields set from text; `name` is what messages call it."""
    kinds = _settable(cls)
    values: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for key, text in settings.items():
        if key not in kinds:
            raise InputError(f"{name} has no setting '{key}'; it has: {', '.join(kinds)}")
        value = _parse(key, text, kinds[key])
        outer, dot, inner = key.partition(".")
        if dot:
            nested.setdefault(outer, {})[inner] = value
        else:
            values[key] = value
    for outer, fields in nested.items():
        values[outer] = dataclasses.replace(_record(cls, outer), **fields)
    return cls(**values)


def describe_settings(method: str, *, online: bool = False) -> dict[str, str]:
    """Names and defaults of a method's settings, for people."""
    if not online:
        return {name: _default(_known(method), name) for name in _settable(_known(method))}
    cls = _online_learner(method)
    learner = {name: _default(cls, name) for name in _settable(cls) if name not in _OFFLINE}
    return learner | {name: _default(OnlineSettings, name) for name in _settable(OnlineSettings)}


def _known(method: str) -> Any:
    known = {**OPTIMISERS, **FOREST_OPTIMISERS}
    if method not in known:
        raise InputError(f"there is no method '{method}'; there are: {', '.join(known)}")
    return known[method]


def _members(hint: object) -> tuple[object, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _record_type(hint: object) -> Any:
    """The dataclass among the members of a hint, or None."""
    return next((m for m in _members(hint) if isinstance(m, type) and dataclasses.is_dataclass(m)), None)


def _record(cls: Any, name: str) -> Any:
    """The record that a field holds by default, or one with the defaults of its type where it holds none."""
    default = next(field.default for field in dataclasses.fields(cls) if field.name == name)
    return default if dataclasses.is_dataclass(default) else _record_type(typing.get_type_hints(cls)[name])()


def _settable(cls: Any) -> dict[str, _Kinds]:
    """Fields that a text can set: numbers, flags, enumerations, and those of records inside."""
    hints = typing.get_type_hints(cls)
    found: dict[str, _Kinds] = {}
    for field in dataclasses.fields(cls):
        record = _record_type(hints[field.name])
        if record is not None:
            found |= {f"{field.name}.{inner}": kinds for inner, kinds in _settable(record).items()}
            continue
        members = _members(hints[field.name])
        kinds = tuple(m for m in members if isinstance(m, type) and _is_plain(m))
        if len(kinds) == len(members):
            found[field.name] = kinds
    return found


def _is_plain(kind: type) -> bool:
    return kind in (int, float, bool, types.NoneType) or issubclass(kind, enum.Enum)


def _default(cls: Any, name: str) -> str:
    outer, dot, inner = name.partition(".")
    if dot:
        return str(getattr(_record(cls, outer), inner))
    return str(next(field.default for field in dataclasses.fields(cls) if field.name == outer))


def _parse(key: str, text: str, kinds: _Kinds) -> object:
    if types.NoneType in kinds and text.lower() == "none":
        return None
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in kinds:
        if kind in (int, float) or issubclass(kind, enum.Enum):
            try:
                value = kind(text)
            except ValueError:
                continue
            if isinstance(value, int) and not -MAX_INT32 <= value <= MAX_INT32:
                raise InputError(f"{key}={text}: at most {MAX_INT32} will do")
            return value
    choices = [str(member.value) for kind in kinds if issubclass(kind, enum.Enum) for member in kind]
    named = {int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "none"}
    expected = " or ".join([*choices, *(named[kind] for kind in kinds if kind in named)])
    raise InputError(f"{key}={text}: expected {expected}")
