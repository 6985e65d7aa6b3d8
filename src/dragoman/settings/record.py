"""What constructors of settings, and functions, are given becomes what their annotations say, or is refused."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, reduce, wraps
from typing import Any, ParamSpec, TypeVar

from dragoman.settings.convert import convert
from dragoman.settings.fields import default_of, most_of
from dragoman.settings.kinds import hints_of, is_enum, is_settable, members_of
from dragoman.types import MAX_INT32

__all__ = ["Record", "takes_text"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


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
        for slot in _fields(cls):
            value = getattr(self, slot.name)
            if not slot.has(value):
                object.__setattr__(self, slot.name, slot.converted(value, f"{cls.__name__}.{slot.name}"))
        self._check()

    def _check(self) -> None:
        """Raise InputError for settings that do not go together; their types are right."""


def takes_text(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator: where a parameter is a member of an enumeration, its text will do, as in a notebook.

    Raises InputError for other text, with the names of the function and of the parameter.
    """

    @wraps(function)
    def taking_text(*args: Any, **kwargs: Any) -> _R:
        values = list(args)
        for place, slot in _choices(function):
            name = f"{function.__qualname__.removesuffix('.__init__')}: {slot.name}"
            if slot.name in kwargs:
                kwargs[slot.name] = slot.taken(kwargs[slot.name], name)
            elif place < len(values):
                values[place] = slot.taken(values[place], name)
        return function(*values, **kwargs)

    return taking_text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    """A field or parameter with types that values can be converted to."""

    name: str
    hint: Any
    """These types."""
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

    def taken(self, value: Any, name: str) -> Any:
        return value if self.has(value) else self.converted(value, name)


@cache
def _fields(cls: Any) -> tuple[_Slot, ...]:
    hints: dict[str, Any] = {}
    for kind in reversed(cls.__mro__):
        hints |= hints_of(kind)
    typed = [field for field in dataclasses.fields(cls) if field.init and field.name in hints]
    slots = [_slot(f.name, hints[f.name], most=most_of(f), default=default_of(f)) for f in typed]
    return tuple(slot for slot in slots if slot is not None)


@cache
def _choices(function: Any) -> tuple[tuple[int, _Slot], ...]:
    """Parameters that can be members of enumerations, and their places among the arguments."""
    hints = hints_of(function)
    found = []
    for place, parameter in enumerate(inspect.signature(function).parameters.values()):
        hint = hints.get(parameter.name)
        slot = _slot(parameter.name, hint) if any(map(is_enum, members_of(hint))) else None
        if slot is not None:
            found.append((sys.maxsize if parameter.kind is parameter.KEYWORD_ONLY else place, slot))
    return tuple(found)


def _slot(name: str, hint: Any, *, most: int = MAX_INT32, default: Any = None) -> _Slot | None:
    """None where nothing can be converted to the type."""
    members = members_of(hint)
    known = [member for member in members if is_settable(member)]
    if all(member is types.NoneType for member in known):
        return None
    return _Slot(
        name=name,
        hint=reduce(operator.or_, known),
        types=_plain_types(known),
        items=_item_types(known, tuple, lambda arguments: arguments[0] if arguments[-1] is Ellipsis else None),
        rows=_item_types(known, Mapping, lambda arguments: arguments[1]),
        is_open=len(known) < len(members),
        most=most,
        default=default,
    )


def _plain_types(members: Iterable[Any]) -> frozenset[type]:
    return frozenset(member for member in members if isinstance(member, type))


def _item_types(members: Iterable[Any], origin: Any, item: Callable[[tuple[Any, ...]], Any]) -> frozenset[type] | None:
    hints = [item(typing.get_args(member)) for member in members if typing.get_origin(member) is origin]
    found = [_plain_types(members_of(hint)) for hint in hints if hint is not None]
    return frozenset[type]().union(*found) if found else None
