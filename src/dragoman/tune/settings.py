"""Optimisers from their name and `key=value` settings."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping

from dragoman.errors import InputError
from dragoman.optim import OPTIMISERS, Optimiser

__all__ = ["build_optimiser", "describe_settings"]


def build_optimiser(method: str, settings: Mapping[str, str]) -> Optimiser:
    """The optimiser of that name with some of its fields set from text.

    Raises InputError for an unknown method or setting, with those that exist, and for a value of the wrong kind.
    """
    if method not in OPTIMISERS:
        raise InputError(f"there is no method '{method}'; there are: {', '.join(OPTIMISERS)}")
    cls = OPTIMISERS[method]
    kinds = _settable(cls)
    values = {}
    for key, text in settings.items():
        if key not in kinds:
            raise InputError(f"{method} has no setting '{key}'; it has: {', '.join(kinds)}")
        values[key] = _parse(key, text, kinds[key])
    return cls(**values)


def describe_settings(method: str) -> dict[str, str]:
    """Names and defaults of a method's settings, for people."""
    cls = OPTIMISERS[method]
    defaults = {field.name: field.default for field in dataclasses.fields(typing.cast("typing.Any", cls))}
    return {name: str(defaults[name]) for name in _settable(cls)}


def _settable(cls: type[Optimiser]) -> dict[str, tuple[type, ...]]:
    """Fields that a text can set: numbers, flags, enumerations, or none at all."""
    hints = typing.get_type_hints(cls)
    found = {}
    for field in dataclasses.fields(typing.cast("typing.Any", cls)):
        hint = hints[field.name]
        members = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        kinds = tuple(m for m in members if isinstance(m, type))
        if all(m in (int, float, bool, type(None)) or issubclass(m, enum.Enum) for m in kinds) and len(kinds) == len(
            members
        ):
            found[field.name] = kinds
    return found


def _parse(key: str, text: str, kinds: tuple[type, ...]) -> object:
    if type(None) in kinds and text.lower() == "none":
        return None
    for kind in kinds:
        try:
            if kind is bool and text.lower() in ("true", "false"):
                return text.lower() == "true"
            if kind is int or kind is float or issubclass(kind, enum.Enum):
                return kind(text)
        except ValueError:
            continue
    choices = [str(member.value) for kind in kinds if issubclass(kind, enum.Enum) for member in kind]
    expected = ", ".join(choices) or " or ".join(kind.__name__ for kind in kinds if kind is not type(None))
    raise InputError(f"{key}={text}: expected {expected}")
