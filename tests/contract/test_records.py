"""What every record with an enumeration promises: text becomes the member, misspelt text is refused.

Records are found by walking the package, so a new one joins by being there.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType

import pytest

import dragoman
from dragoman.errors import InputError
from dragoman.settings import Record
from dragoman.settings.kinds import is_enum, members_of

EXAMPLES = {
    "BeforeAfter": {"references": [[]]},
    "DebianConfig": {"languages": ("de", "pt")},
}
"""Arguments where what `example` makes of a type will not do."""


@cache
def modules() -> tuple[object, ...]:
    names = [module.name for module in pkgutil.walk_packages(dragoman.__path__, "dragoman.")]
    return tuple(importlib.import_module(name) for name in names if not name.endswith("__main__"))


@cache
def classes() -> tuple[type, ...]:
    own = (c for module in modules() for c in vars(module).values() if isinstance(c, type))
    return tuple(dict.fromkeys(c for c in own if c.__module__.startswith("dragoman.")))


RECORDS = [c for c in classes() if dataclasses.is_dataclass(c) and issubclass(c, Record)]
OTHERS = [c for c in classes() if dataclasses.is_dataclass(c) and not issubclass(c, Record)]


def enums_in(hint) -> Iterator[type[enum.Enum]]:
    """Enumerations of a type, in unions, tuples and the values of tables too."""
    for member in members_of(hint):
        arguments = typing.get_args(member)
        if is_enum(member):
            yield member
        elif typing.get_origin(member) is tuple:
            yield from (found for argument in arguments if argument is not Ellipsis for found in enums_in(argument))
        elif typing.get_origin(member) is Mapping:
            yield from enums_in(arguments[1])


def enums_named(note: str, scope: Mapping[str, object]) -> set[str]:
    """The same by name, for annotations with names that are imported for type checkers only."""
    names = {c.__name__ for c in classes() if is_enum(c)}

    def within(node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Name) and (is_enum(scope[node.id]) if node.id in scope else node.id in names):
            yield node.id
        elif isinstance(node, ast.BinOp):
            yield from (*within(node.left), *within(node.right))
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("tuple", "Mapping"):
            yield from (found for part in getattr(node.slice, "elts", [node.slice]) for found in within(part))

    return set(within(ast.parse(note, mode="eval").body))


def enum_fields_of(cls) -> set[str]:
    scope = vars(importlib.import_module(cls.__module__))
    try:
        hints = typing.get_type_hints(cls)
        return {f.name for f in dataclasses.fields(cls) if any(enums_in(hints[f.name]))}
    except NameError:
        return {f.name for f in dataclasses.fields(cls) if enums_named(str(f.type), scope)}


def test_dataclasses_with_enumerations_are_records():
    """Else text would be kept as it is, and be another setting wherever members are compared by identity."""
    assert len(OTHERS) > 200
    assert {cls.__qualname__: found for cls in OTHERS if (found := enum_fields_of(cls))} == {}


def example(hint):
    """A value of a type: none or empty where that is one."""
    members = members_of(hint)
    (kind, *_), origin = members, typing.get_origin(members[0])
    if NoneType in members:
        return None
    if kind in (bool, int, float, str):
        return kind(1) if kind is not str else "text"
    if is_enum(kind):
        return next(iter(kind))
    if isinstance(kind, type) and issubclass(kind, Record):
        return minimal(next(c for c in RECORDS if issubclass(c, kind) and not inspect.isabstract(c)))()
    if dataclasses.is_dataclass(kind):
        return object.__new__(kind)
    return {Mapping: dict}.get(origin, tuple)()


def minimal(cls):
    """Makes a record of a class with as few arguments as it needs beside those given."""
    hints = typing.get_type_hints(cls)
    needed = [f.name for f in dataclasses.fields(cls) if f.default is f.default_factory is dataclasses.MISSING]
    given = {name: example(hints[name]) for name in needed} | EXAMPLES.get(cls.__name__, {})
    return lambda **changes: cls(**(given | changes))


def enum_fields() -> list[tuple[type, str, type[enum.Enum]]]:
    found = []
    for cls in RECORDS:
        hints = typing.get_type_hints(cls)
        found += [(cls, f.name, kind) for f in dataclasses.fields(cls) for kind in enums_in(hints[f.name])]
    return found


FIELDS = [pytest.param(*found, id=f"{found[0].__module__}.{found[0].__name__}.{found[1]}") for found in enum_fields()]


def wrapped(cls, name, value):
    """The value, in a list or a table if that is what the field holds."""
    (kind, *_) = members_of(typing.get_type_hints(cls)[name])
    return {tuple: [value], Mapping: {"key": value}}.get(typing.get_origin(kind), value)


def outcome(cls, name, value):
    """What the field becomes; or why the record is refused, which other settings may be the reason for."""
    try:
        found = getattr(minimal(cls)(**{name: wrapped(cls, name, value)}), name)
    except InputError as error:
        return str(error)
    return next(iter(found.values() if isinstance(found, Mapping) else found)) if wrapped(cls, name, 0) != 0 else found


@pytest.mark.parametrize(("cls", "name", "kind"), FIELDS)
def test_text_becomes_the_member(cls, name, kind):
    made = [outcome(cls, name, member.value) for member in kind]
    assert made == [outcome(cls, name, member) for member in kind]
    arrived = [found for found, member in zip(made, kind, strict=True) if found is member]
    assert arrived, made
    assert all(isinstance(found, kind) or "expected one of" not in found for found in made)


@pytest.mark.parametrize(("cls", "name", "kind"), FIELDS)
def test_misspelt_text_is_refused(cls, name, kind):
    for member in kind:
        with pytest.raises(InputError) as caught:
            minimal(cls)(**{name: wrapped(cls, name, f"{member.value}x")})
        assert f"{cls.__name__}.{name}" in str(caught.value)
        assert "expected" in str(caught.value)
        assert "did you mean" in str(caught.value) or not (isinstance(member.value, str) and member.value)


def test_there_are_many():
    assert len(FIELDS) > 90
    assert len({cls for cls, _, _ in enum_fields()}) > 60
