"""The fields of a record that can be set, and what their metadata say."""

from __future__ import annotations

import dataclasses
import operator
import typing
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from dragoman.settings.kinds import is_settable, members_of
from dragoman.types import MAX_INT32

__all__ = ["DEFAULT", "Field", "about", "default_of", "fields_of", "inlined_record", "most_of", "settable"]

DEFAULT, _MOST, _INLINE = "default", "most", "inline"


def about(
    *, resolved: str | None = None, most: int | None = None, inline: Collection[str] | None = None
) -> dict[str, Any]:
    """Metadata of a field. `resolved` says what a default of None stands for; `most` replaces the limit of 2^31 - 1.

    `inline` on a nested record makes its fields settings of the outer record, except for those named.
    """
    return {k: v for k, v in {DEFAULT: resolved, _MOST: most, _INLINE: inline}.items() if v is not None}


def settable(cls: Any) -> dict[str, Any]:
    """The fields that can be set, with their types; those of inlined records included."""
    return {name: field.hint for name, field in fields_of(cls).items()}


@dataclass(frozen=True, slots=True)
class Field:
    """A field that can be set."""

    hint: Any
    most: int
    inside: str | None
    """The inlined record that has it."""
    default: Any


@cache
def fields_of(cls: Any) -> dict[str, Field]:
    """By name, those of inlined records first."""
    hints = typing.get_type_hints(cls)
    found: dict[str, Field] = {}
    own: dict[str, Field] = {}
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        hidden = field.metadata.get(_INLINE)
        if hidden is not None:
            record: Any = type(inlined_record(cls, field.name))
            inner = {name: dataclasses.replace(f, inside=field.name) for name, f in fields_of(record).items()}
            found |= {name: f for name, f in inner.items() if name not in hidden}
        elif (given := _as_text(hint)) is not None:
            own[field.name] = Field(given, most_of(field), None, default_of(field))
    return found | own


def _as_text(hint: Any) -> Any:
    """What a file of settings can say: all of the hint, or of an object that has a name the name; None if nothing."""
    members = members_of(hint)
    known = [member for member in members if is_settable(member)]
    if len(known) < len(members) and str not in known:
        return None
    return reduce(operator.or_, known)


def inlined_record(cls: Any, name: str) -> Any:
    """The default of a field with an inlined record."""
    return next(default_of(f) for f in dataclasses.fields(cls) if f.name == name)


def default_of(field: dataclasses.Field[Any]) -> Any:
    """The default; None where there is none."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def most_of(field: dataclasses.Field[Any]) -> int:
    """The greatest whole number."""
    return int(field.metadata.get(_MOST, MAX_INT32))
