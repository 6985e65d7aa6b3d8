"""What a type hint of a setting allows, and how messages and descriptions say it."""

from __future__ import annotations

import dataclasses
import difflib
import enum
import inspect
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from typing import Any

__all__ = ["choices_of", "expected", "hints_of", "is_enum", "is_settable", "listed", "members_of", "nearest", "shown"]

_SCALARS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    types.NoneType: "none",
}


def listed(value: str, choices: Collection[str]) -> str:
    """What could have stood there, the likeliest first."""
    return f"{nearest(value, choices)}expected one of {', '.join(choices)}" if choices else "nothing was expected here"


def nearest(value: object, choices: Collection[str]) -> str:
    """A question to begin a message with, if one of the choices looks like the value."""
    near = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else []
    return f"did you mean {near[0]}? " if near else ""


def shown(value: object) -> str:
    """A value in a message."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def hints_of(noted: Any) -> dict[str, Any]:
    """Types by the annotations of a class or function; without those whose names only type checkers import."""
    found: dict[str, Any] = {}
    for name, note in inspect.get_annotations(noted).items():
        alone = type(noted.__name__, (), {"__annotations__": {name: note}, "__module__": noted.__module__})
        try:
            found |= typing.get_type_hints(alone)
        except NameError:
            continue
    return found


def members_of(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the hint itself."""
    return typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)


def is_enum(kind: Any) -> bool:
    """Whether it is a class of enumeration members."""
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def is_settable(kind: Any) -> bool:
    """Whether values of this type, a member of a union, can be given as TOML has them."""
    arguments = [argument for argument in typing.get_args(kind) if argument is not Ellipsis]
    if typing.get_origin(kind) is tuple:
        return all(is_settable(member) for argument in arguments for member in members_of(argument))
    if typing.get_origin(kind) is Mapping:
        return arguments[0] is str and all(is_settable(member) for member in members_of(arguments[1]))
    return kind in _SCALARS or is_enum(kind) or (isinstance(kind, type) and dataclasses.is_dataclass(kind))


def choices_of(enums: Iterable[Any]) -> list[str]:
    """The values of all members, as text."""
    return [str(member.value) for kind in enums for member in kind]


def expected(hint: Any) -> str:
    """What a hint allows, for messages and descriptions."""
    return " or ".join(dict.fromkeys(text for member in members_of(hint) for text in _allowed(member)))


def _allowed(kind: Any) -> list[str]:
    arguments = typing.get_args(kind)
    if is_enum(kind):
        return choices_of([kind])
    if typing.get_origin(kind) is tuple:
        if arguments[-1] is Ellipsis:
            return [f"a list of {_plural(arguments[0])}"]
        return [f"a list of {len(arguments)}: {', '.join(expected(argument) for argument in arguments)}"]
    if typing.get_origin(kind) is Mapping:
        return [f"a table NAME = {expected(arguments[1])}"]
    return [_SCALARS.get(kind, "a table")]


def _plural(kind: Any) -> str:
    return {str: "texts", int: "whole numbers", float: "numbers"}.get(kind, expected(kind))
