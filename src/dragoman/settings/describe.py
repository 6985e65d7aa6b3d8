"""Settings for people: names, defaults, allowed values and meanings; and as JSON holds them."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from dragoman.settings.fields import DEFAULT, fields_of, inlined_record
from dragoman.settings.kinds import expected, members_of

__all__ = ["Setting", "describe", "plain", "setting_names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting for people: its name (`outer.inner` inside a record), resolved default, allowed values and meaning."""

    name: str
    default: str
    allowed: str
    meaning: str


def describe(cls: type) -> list[Setting]:
    """All settings in order, those of nested records as `outer.inner`."""
    return list(_described(cls, ""))


def plain(value: Any) -> Any:
    """Settings as JSON holds them: records and tables as objects, lists and tuples as lists, numbers that are not
    finite as text.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def setting_names(cls: type) -> list[str]:
    """Names of all settings, for messages."""
    return [setting.name for setting in describe(cls)]


def _described(cls: Any, prefix: str) -> Iterator[Setting]:
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for name, field in fields_of(cls).items():
        if field.inside is not None:
            record = inlined_record(cls, field.inside)
            yield from (
                s for s in _described(type(record), prefix) if s.name.removeprefix(prefix).split(".")[0] == name
            )
            continue
        nested: Any = next((m for m in members_of(field.hint) if dataclasses.is_dataclass(m)), None)
        if nested is not None:
            record = field.default if isinstance(field.default, nested) else nested()
            for inner in _described(nested, f"{prefix}{name}."):
                value = getattr(record, inner.name.removeprefix(f"{prefix}{name}."), None)
                yield dataclasses.replace(inner, default=_text(value)) if value is not None else inner
            continue
        default = fields[name].metadata.get(DEFAULT) or _text(field.default)
        yield Setting(
            name=prefix + name, default=default, allowed=expected(field.hint), meaning=_meanings(cls).get(name, "")
        )


def _text(value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


@cache
def _meanings(cls: Any) -> dict[str, str]:
    """The first sentence of the text below each field; none for a class without a source file, as in a notebook."""
    found: dict[str, str] = {}
    for kind in reversed(cls.__mro__):
        if not dataclasses.is_dataclass(kind):
            continue
        try:
            nodes = ast.parse(textwrap.dedent(inspect.getsource(typing.cast(type, kind)))).body
        except (OSError, TypeError, SyntaxError):
            continue
        body = nodes[0].body if nodes and isinstance(nodes[0], ast.ClassDef) else []
        for field, after in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
                text = ast.literal_eval(after.value)
                found[field.target.id] = re.split(r"(?<=\.)\s", " ".join(str(text).split()), maxsplit=1)[0]
    return found
