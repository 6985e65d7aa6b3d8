"""Values of any kind as type hints want them."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from dragoman.errors import InputError
from dragoman.settings.describe import setting_names
from dragoman.settings.fields import fields_of, inlined_record
from dragoman.settings.kinds import choices_of, expected, is_enum, listed, members_of, nearest, shown
from dragoman.types import MAX_INT32

__all__ = ["convert", "from_values"]

_T = TypeVar("_T")


def from_values(cls: type[_T], values: Mapping[str, Any], *, name: str) -> _T:
    """A dataclass with some of its fields set; nested tables set the fields of records inside.

    `name` is what messages call it. Raises InputError for an unknown setting, with those that exist, and for a value
    of the wrong kind.
    """
    return cls(**_parts(cls, values, name, ""))


def convert(value: Any, hint: Any, name: str, *, most: int = MAX_INT32, default: Any = None) -> Any:
    """A typed value as a type hint wants it. Raises InputError, which calls it `name`, for one of another kind.

    Whole numbers do for fractional ones, lists for tuples, text for enumerations, and the text `none` for None; NumPy's
    numbers do for Python's.
    """
    if isinstance(value, np.generic):
        value = value.item()
    members = members_of(hint)
    found = [_convert(value, member, name, most, default) for member in members]
    for member, (is_it, converted) in zip(members, found, strict=True):
        if is_it and member is not types.NoneType:
            return converted
    if any(is_it for is_it, _ in found):
        return None
    enums = [member for member in members if is_enum(member)]
    if isinstance(value, str) and enums and len(members) == len(enums):
        raise InputError(f"{name} = {shown(value)}: {listed(value, choices_of(enums))}")
    raise InputError(f"{name} = {shown(value)}: {nearest(value, choices_of(enums))}expected {expected(hint)}")


def _convert(value: Any, kind: Any, name: str, most: int, default: Any) -> tuple[bool, Any]:
    """Whether the value is of a kind, and what it becomes. Raises for one that is, with wrong parts."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is types.NoneType:
        return value is None or (isinstance(value, str) and value.lower() == "none"), None
    if is_enum(kind):
        found = [member for member in kind if member.value == value]
        return bool(found), found[0] if found else None
    if kind is int or kind is float:
        is_it = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
        if is_it and isinstance(value, int) and abs(value) > most:
            raise InputError(f"{name} = {shown(value)}: the number is too large; the maximum is {most}")
        return is_it, kind(value) if is_it else None
    if kind is bool or kind is str:
        return isinstance(value, kind), value
    if dataclasses.is_dataclass(kind):
        if isinstance(value, typing.cast(type, kind)):
            return True, value
        if not isinstance(value, Mapping):
            return False, None
        return True, _nested(kind, value, name, default)
    if origin is tuple:
        return _tuple(value, arguments, name)
    if not isinstance(value, Mapping):
        return False, None
    return True, {str(key): convert(item, arguments[1], f"{name}.{key}") for key, item in value.items()}


def _nested(kind: Any, values: Mapping[str, Any], name: str, default: Any) -> Any:
    parts = _parts(kind, values, name, f"{name}.")
    return dataclasses.replace(default, **parts) if isinstance(default, kind) else kind(**parts)


def _parts(kind: Any, values: Mapping[str, Any], name: str, prefix: str) -> dict[str, Any]:
    """Fields from values; those of inlined records are gathered in their records."""
    known = fields_of(kind)
    parts: dict[str, Any] = {}
    inlined: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        if key not in known:
            raise InputError(f"{name} has no setting '{key}'; it has: {', '.join(setting_names(kind))}")
        field = known[key]
        place = parts if field.inside is None else inlined.setdefault(field.inside, {})
        place[key] = convert(value, field.hint, prefix + key, most=field.most, default=field.default)
    for outer, inner in inlined.items():
        parts[outer] = dataclasses.replace(inlined_record(kind, outer), **inner)
    return parts


def _tuple(value: Any, arguments: tuple[Any, ...], name: str) -> tuple[bool, Any]:
    if arguments[-1] is Ellipsis:
        if isinstance(value, str) and arguments[0] is str:
            value = [part.strip() for part in value.split(",")]
        if not isinstance(value, list | tuple):
            return False, None
        return True, tuple(convert(item, arguments[0], f"{name}[{i}]") for i, item in enumerate(value))
    if not isinstance(value, list | tuple) or len(value) != len(arguments):
        return False, None
    return True, tuple(convert(item, hint, name) for item, hint in zip(value, arguments, strict=True))
