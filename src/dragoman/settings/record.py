"""The base of settings: what a constructor is given becomes what its fields say, or is refused."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from dragoman.settings.convert import convert
from dragoman.settings.fields import default_of, most_of
from dragoman.settings.kinds import is_settable, members_of

__all__ = ["Record"]


class Record:
    """Base of frozen dataclasses that hold settings.

    Text becomes the member of an enumeration, a list a tuple, a whole number a fractional one where the field says so,
    and a table another record; anything else raises InputError. Fields of other types, such as arrays and callables,
    are left as they are. A subclass checks what must go together in `_check`, not in `__post_init__`: a dataclass with
    slots is made anew, so `super()` without arguments does not find it.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        cls: Any = type(self)
        for field in _fields(cls):
            value = getattr(self, field.name)
            if not field.has(value):
                object.__setattr__(self, field.name, field.converted(value, f"{cls.__name__}.{field.name}"))
        self._check()

    def _check(self) -> None:
        """Raise InputError for settings that do not go together; their types are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    name: str
    hint: Any
    """The types that values can be converted to."""
    types: frozenset[type]
    """Values of these are left as they are without a closer look, because records are made by the thousand."""
    items: frozenset[type] | None
    """The same for the items of a tuple; None: it is no tuple of any length."""
    rows: frozenset[type] | None
    """The same for the values of a table; None: it is no table."""
    is_open: bool
    """Whether it may be an object that no file of settings can hold, as a metric instead of its name."""
    most: int
    default: Any

    def has(self, value: Any) -> bool:
        """Whether nothing is to be converted."""
        if (kind := type(value)) in self.types:
            return True
        if kind is tuple and self.items is not None:
            return self.items.issuperset(map(type, value))
        if kind is dict and self.rows is not None:
            return self.rows.issuperset(map(type, value.values())) and all(type(key) is str for key in value)
        return self.is_open and not isinstance(value, str)

    def converted(self, value: Any, name: str) -> Any:
        return convert(value, self.hint, name, most=self.most, default=self.default)


@cache
def _fields(cls: Any) -> tuple[_Field, ...]:
    hints = _hints(cls)
    found = (
        _field(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init and field.name in hints
    )
    return tuple(field for field in found if field is not None)


def _field(field: dataclasses.Field[Any], hint: Any) -> _Field | None:
    """None where nothing can be converted to the type of the field."""
    members = members_of(hint)
    known = [member for member in members if is_settable(member)]
    if all(member is types.NoneType for member in known):
        return None
    return _Field(
        name=field.name,
        hint=reduce(operator.or_, known),
        types=_plain_types(known),
        items=_item_types(known, tuple, lambda arguments: arguments[0] if arguments[-1] is Ellipsis else None),
        rows=_item_types(known, Mapping, lambda arguments: arguments[1]),
        is_open=len(known) < len(members),
        most=most_of(field),
        default=default_of(field),
    )


def _plain_types(members: Iterable[Any]) -> frozenset[type]:
    return frozenset(member for member in members if isinstance(member, type))


def _item_types(members: Iterable[Any], origin: Any, item: Callable[[tuple[Any, ...]], Any]) -> frozenset[type] | None:
    hints = [item(typing.get_args(member)) for member in members if typing.get_origin(member) is origin]
    found = [_plain_types(members_of(hint)) for hint in hints if hint is not None]
    return frozenset[type]().union(*found) if found else None


def _hints(cls: Any) -> dict[str, Any]:
    """Types of fields; without those whose names are not imported when the program runs."""
    found: dict[str, Any] = {}
    for kind in reversed(cls.__mro__):
        for name, hint in inspect.get_annotations(kind).items():
            alone = type(kind.__name__, (), {"__annotations__": {name: hint}, "__module__": kind.__module__})
            try:
                found |= typing.get_type_hints(alone)
            except NameError:
                found.pop(name, None)
    return found
