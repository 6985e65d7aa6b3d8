"""Settings: frozen dataclasses read from typed values, from TOML and from `NAME=VALUE` items of a command line.

A field can be set if its type is a number, a flag, text, an enumeration, a list (`tuple[T, ...]`), a fixed tuple, a
table (`Mapping[str, T]`), another such dataclass, or a union of these with None. Metadata of a field (`about`) may
say its resolved default, its greatest value, and that a nested record's fields stand beside those of the outer one.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import enum
import inspect
import re
import textwrap
import tomllib
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from dragoman.errors import InputError
from dragoman.types import MAX_INT32

__all__ = [
    "Setting",
    "about",
    "convert",
    "describe",
    "from_values",
    "key_path",
    "listed",
    "parse_bytes",
    "parse_settings",
    "parse_value",
    "plain",
    "settable",
    "shown",
]

_T = TypeVar("_T")
_DEFAULT, _MOST, _INLINE = "default", "most", "inline"
_SCALARS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    types.NoneType: "none",
}
_SIZE_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LOOSE_NUMBER = re.compile(r"[+-]?(\d+\.|\.\d+)([eE][+-]?\d+)?")
"""Numbers that TOML wants written otherwise: `5.` and `.5`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting for people: its name (`outer.inner` inside a record), resolved default, allowed values and meaning."""

    name: str
    default: str
    allowed: str
    meaning: str


def about(
    *, resolved: str | None = None, most: int | None = None, inline: Collection[str] | None = None
) -> dict[str, Any]:
    """Metadata of a field. `resolved` says what a default of None stands for; `most` replaces the limit of 2^31 - 1.

    `inline` on a nested record makes its fields settings of the outer record, except for those named.
    """
    return {k: v for k, v in {_DEFAULT: resolved, _MOST: most, _INLINE: inline}.items() if v is not None}


def parse_settings(items: Iterable[str]) -> dict[str, Any]:
    """`NAME=VALUE` items as nested tables: VALUE is TOML, or a bare word; `outer.inner` reaches into a table."""
    values: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not (name.strip() and equals):
            raise InputError(f"--set {item}: expected NAME=VALUE")
        *outer, last = key_path(name, item)
        place = values
        for key in outer:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise InputError(f"--set {item}: '{key}' was given a value before")
        if last in place:
            raise InputError(f"--set {item}: '{name}' is set twice")
        place[last] = parse_value(text)
    return values


def key_path(name: str, item: str) -> list[str]:
    """The parts of a dotted key, as TOML splits it; `item` is what messages quote."""
    try:
        nested: Any = tomllib.loads(f"{name} = 0") if "#" not in name and "=" not in name else None
    except (tomllib.TOMLDecodeError, RecursionError):
        nested = None
    if nested is None or len(nested) != 1:
        raise InputError(f"--set {item[:200]}: '{name[:200]}' is not a key; quote what is not a letter, digit, _ or -")
    path = []
    while isinstance(nested, dict):
        ((key, nested),) = nested.items()
        path.append(key)
    return path


def parse_value(text: str) -> Any:
    """A TOML value, or the text itself where it is not TOML."""
    try:
        found = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        found = {}
    if found.keys() == {"value"}:
        return found["value"]
    text = text.strip()
    if text[:1] in {"[", "{", '"', "'"}:
        raise InputError(f"--set …={text[:200]}: this is not TOML; texts in lists and tables need quotes")
    return float(text) if _LOOSE_NUMBER.fullmatch(text) else text


def from_values(cls: type[_T], values: Mapping[str, Any], *, name: str) -> _T:
    """A dataclass with some of its fields set; nested tables set the fields of records inside.

    `name` is what messages call it. Raises InputError for an unknown setting, with those that exist, and for a value
    of the wrong kind.
    """
    kind: Any = cls
    known = _fields(kind)
    for key in values:
        if key not in known:
            raise InputError(f"{name} has no setting '{key}'; it has: {', '.join(_names(cls))}")
    fields: dict[str, Any] = {}
    inlined: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        field = known[key]
        if field.inside is not None:
            inlined.setdefault(field.inside, {})[key] = value
        else:
            fields[key] = _converted(value, field, key)
    for outer, inner in inlined.items():
        record = _record(cls, outer)
        fields[outer] = dataclasses.replace(
            record, **{key: _converted(value, known[key], key) for key, value in inner.items()}
        )
    return cls(**fields)


def settable(cls: Any) -> dict[str, Any]:
    """The fields that can be set, with their types; those of inlined records included."""
    return {name: field.hint for name, field in _fields(cls).items()}


def describe(cls: type) -> list[Setting]:
    """All settings in order, those of nested records as `outer.inner`."""
    return list(_described(cls, ""))


def convert(value: Any, hint: Any, name: str, *, most: int = MAX_INT32, default: Any = None) -> Any:
    """A typed value as a type hint wants it. Raises InputError, which calls it `name`, for one of another kind.

    Whole numbers do for fractional ones, lists for tuples, text for enumerations, and the text `none` for None.
    """
    members = _members(hint)
    found = [_convert(value, member, name, most, default) for member in members]
    for member, (is_it, converted) in zip(members, found, strict=True):
        if is_it and member is not types.NoneType:
            return converted
    if any(is_it for is_it, _ in found):
        return None
    enums = [member for member in members if _is_enum(member)]
    if isinstance(value, str) and enums and len(members) == len(enums):
        raise InputError(f"{name} = {shown(value)}: {listed(value, _choices(enums))}")
    raise InputError(f"{name} = {shown(value)}: expected {_expected(hint)}")


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


def listed(value: str, choices: Collection[str]) -> str:
    """What could have stood there, the likeliest first."""
    near = difflib.get_close_matches(value, choices, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{hint}expected one of {', '.join(choices)}" if choices else "nothing was expected here"


def shown(value: object) -> str:
    """A value in a message."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True, slots=True)
class _Field:
    hint: Any
    most: int
    inside: str | None
    """The inlined record that has it."""
    default: Any


@cache
def _fields(cls: Any) -> dict[str, _Field]:
    hints = typing.get_type_hints(cls)
    found: dict[str, _Field] = {}
    own: dict[str, _Field] = {}
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        hidden = field.metadata.get(_INLINE)
        if hidden is not None:
            record: Any = type(_record(cls, field.name))
            inner = {name: dataclasses.replace(f, inside=field.name) for name, f in _fields(record).items()}
            found |= {name: f for name, f in inner.items() if name not in hidden}
        elif all(_is_settable(member) for member in _members(hint)):
            own[field.name] = _Field(hint, field.metadata.get(_MOST, MAX_INT32), None, _default_of(field))
    return found | own


def _converted(value: Any, field: _Field, name: str) -> Any:
    return convert(value, field.hint, name, most=field.most, default=field.default)


def _convert(value: Any, kind: Any, name: str, most: int, default: Any) -> tuple[bool, Any]:
    """Whether the value is of a kind, and what it becomes. Raises for one that is, with wrong parts."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is types.NoneType:
        return value is None or (isinstance(value, str) and value.lower() == "none"), None
    if _is_enum(kind):
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
        if not isinstance(value, Mapping):
            return False, None
        return True, _nested(kind, value, name, default)
    if origin is tuple:
        return _tuple(value, arguments, name)
    if not isinstance(value, Mapping):
        return False, None
    return True, {str(key): convert(item, arguments[1], f"{name}.{key}") for key, item in value.items()}


def _nested(kind: Any, values: Mapping[str, Any], name: str, default: Any) -> Any:
    known = _fields(kind)
    for key in values:
        if key not in known:
            raise InputError(f"{name} has no setting '{key}'; it has: {', '.join(_names(kind))}")
    fields = {key: _converted(value, known[key], f"{name}.{key}") for key, value in values.items()}
    record: Any = default if isinstance(default, kind) else kind()
    return dataclasses.replace(record, **fields)


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


def _members(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def _is_settable(kind: Any) -> bool:
    arguments = [argument for argument in typing.get_args(kind) if argument is not Ellipsis]
    if typing.get_origin(kind) is tuple:
        return all(_is_settable(member) for argument in arguments for member in _members(argument))
    if typing.get_origin(kind) is Mapping:
        return arguments[0] is str and all(_is_settable(member) for member in _members(arguments[1]))
    return kind in _SCALARS or _is_enum(kind) or (isinstance(kind, type) and dataclasses.is_dataclass(kind))


def _choices(enums: Iterable[Any]) -> list[str]:
    return [str(member.value) for kind in enums for member in kind]


def _expected(hint: Any) -> str:
    return " or ".join(dict.fromkeys(text for member in _members(hint) for text in _allowed(member)))


def _allowed(kind: Any) -> list[str]:
    arguments = typing.get_args(kind)
    if _is_enum(kind):
        return _choices([kind])
    if typing.get_origin(kind) is tuple:
        if arguments[-1] is Ellipsis:
            return [f"a list of {_plural(arguments[0])}"]
        return [f"a list of {len(arguments)}: {', '.join(_expected(argument) for argument in arguments)}"]
    if typing.get_origin(kind) is Mapping:
        return [f"a table NAME = {_expected(arguments[1])}"]
    return [_SCALARS.get(kind, "a table")]


def _plural(kind: Any) -> str:
    return {str: "texts", int: "whole numbers", float: "numbers"}.get(kind, _expected(kind))


def _names(cls: type) -> list[str]:
    return [setting.name for setting in describe(cls)]


def _described(cls: Any, prefix: str) -> Iterator[Setting]:
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for name, field in _fields(cls).items():
        if field.inside is not None:
            record = _record(cls, field.inside)
            yield from (
                s for s in _described(type(record), prefix) if s.name.removeprefix(prefix).split(".")[0] == name
            )
            continue
        nested: Any = next((m for m in _members(field.hint) if dataclasses.is_dataclass(m)), None)
        if nested is not None:
            record = field.default if isinstance(field.default, nested) else nested()
            for inner in _described(nested, f"{prefix}{name}."):
                value = getattr(record, inner.name.removeprefix(f"{prefix}{name}."), None)
                yield dataclasses.replace(inner, default=_text(value)) if value is not None else inner
            continue
        default = fields[name].metadata.get(_DEFAULT) or _text(field.default)
        yield Setting(
            name=prefix + name, default=default, allowed=_expected(field.hint), meaning=_meanings(cls).get(name, "")
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


def _record(cls: Any, name: str) -> Any:
    return next(_default_of(f) for f in dataclasses.fields(cls) if f.name == name)


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def parse_bytes(text: str) -> int:
    """Bytes of a size such as 500M, 2G or 1.5GiB, by powers of 1024. Raises InputError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) *([kmgt]?)(?:i?b)?", text.strip(), re.IGNORECASE)
    size = 0 if match is None else int(float(match[1]) * 1024 ** _SIZE_UNITS[match[2].lower()])
    if size < 1:
        raise InputError(f"'{text}' is no size; expected a number with K, M, G or T, such as 500M or 2G")
    return size
