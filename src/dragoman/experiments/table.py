"""Tables of a recipe: each key is checked when taken, and unknown keys are errors."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from dragoman.errors import InputError
from dragoman.settings import convert, listed, settable, shown

__all__ = ["RecipeTable"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_KINDS: dict[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}
_NUMBER_LIMIT = 2**63
"""Exclusive upper limit of integers in TOML and in the native core."""
_Choice = TypeVar("_Choice", bound=enum.Enum)
_T = TypeVar("_T")


class RecipeTable:
    """A table with its name for messages."""

    def __init__(self, content: Mapping[str, Any], name: str = "") -> None:
        self._content = content
        self._known: list[str] = []
        self.name = name

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def present(self) -> list[str]:
        return list(self._content)

    def named(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def take(self, key: str, *kinds: type) -> Any:
        value = self.find(key, *kinds)
        if value is None:
            raise InputError(f"'{self.named(key)}' is missing; expected {_kinds(kinds)}")
        return value

    def find(self, key: str, *kinds: type) -> Any:
        """The value of a key, or None if missing."""
        self._known.append(key)
        value = self._content.get(key)
        if value is None:
            return None
        if (isinstance(value, bool) and bool not in kinds) or not isinstance(value, kinds):
            raise self.wrong(key, f"expected {_kinds(kinds)}")
        if isinstance(value, int | float) and not abs(value) < _NUMBER_LIMIT:
            raise self.wrong(key, "expected a number of less than 64 bits")
        return value

    def wrong(self, key: str, expected: str) -> InputError:
        return InputError(f"{self.named(key)} = {shown(self._content.get(key))}: {expected}")

    def text(self, key: str, default: str = "") -> str:
        value = self.find(key, str)
        return default if value is None else str(value)

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.find(key, bool)
        return default if value is None else bool(value)

    def number(self, key: str, least: int, default: int | None = None, most: int | None = None) -> int:
        """An integer; required without a default."""
        value = self.take(key, int) if default is None else self.find(key, int)
        if value is None:
            assert default is not None
            return default
        if value < least or (most is not None and value > most):
            raise self.wrong(key, f"expected at least {least}" if most is None else f"expected {least} to {most}")
        return int(value)

    def numbers(self, key: str, least: float, kind: type[int] | type[float]) -> tuple[Any, ...]:
        """A list of numbers, at least one."""
        values = self.take(key, list)
        allowed = (int,) if kind is int else (int, float)
        good = all(isinstance(v, allowed) and not isinstance(v, bool) and least <= v < _NUMBER_LIMIT for v in values)
        if not values or not good:
            what = "whole numbers" if kind is int else "numbers"
            raise self.wrong(key, f"expected a list of {what} of at least {least}, of less than 64 bits")
        if len(set(values)) != len(values):
            raise self.wrong(key, "duplicate number")
        return tuple(kind(v) for v in values)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, or a single one; empty if missing."""
        value = self.find(key, str, list)
        values = [value] if isinstance(value, str) else value or []
        if not all(isinstance(item, str) and item for item in values):
            raise self.wrong(key, "expected text or a list of texts")
        return tuple(values)

    def choice(self, key: str, choices: type[_Choice], default: _Choice) -> _Choice:
        value = self.find(key, str)
        if value is None:
            return default
        try:
            return choices(value)
        except ValueError:
            raise self.wrong(key, listed(value, [str(member.value) for member in choices])) from None

    def one_of(self, key: str, choices: Collection[str], default: str) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise self.wrong(key, listed(value, choices))
        return value

    def names(self, key: str, defined: Collection[str]) -> tuple[str, ...]:
        """A list of defined names; all of them if missing."""
        if key not in self:
            self._known.append(key)
            return tuple(defined)
        values = self.texts(key)
        for value in values:
            if value not in defined:
                raise self.wrong(key, f"there is no {value!r} in [{key}]; {listed(value, defined)}")
        if not values:
            raise self.wrong(key, listed("", defined))
        return values

    def need(self, key: str, found: Collection[object]) -> None:
        """Raise InputError if a list of tables is empty."""
        if not found:
            raise InputError(f"[[{self.named(key)}]] is missing; a recipe has at least one")

    def table(self, key: str) -> RecipeTable:
        """A nested table; empty if missing."""
        return RecipeTable(self.find(key, dict) or {}, self.named(key))

    def need_table(self, key: str) -> RecipeTable:
        return RecipeTable(self.take(key, dict), self.named(key))

    def tables(self, key: str) -> list[RecipeTable]:
        """A list of tables, or a single one."""
        value = self.find(key, list, dict)
        if isinstance(value, dict):
            return [RecipeTable(value, self.named(key))]
        if not all(isinstance(item, dict) for item in value or []):
            raise self.wrong(key, f"expected tables; write [[{self.named(key)}]]")
        return [RecipeTable(item, f"{self.named(key)}.{number}") for number, item in enumerate(value or [])]

    def entries(self, key: str) -> dict[str, RecipeTable]:
        """Named tables, at least one."""
        content = self.find(key, dict)
        if not content:
            raise InputError(f"[{self.named(key)}.NAME] is missing; a recipe has at least one")
        found = {}
        for name, value in content.items():
            if not _NAME.fullmatch(name):
                raise InputError(f"{self.named(key)}: the name {name!r} may only hold letters, digits and ._+-")
            if not isinstance(value, dict):
                raise InputError(f"{self.named(key)}.{name} = {shown(value)}: expected a table")
            found[name] = RecipeTable(value, f"{self.named(key)}.{name}")
        return found

    def fields(self, cls: type, skip: Collection[str] = ()) -> dict[str, Any]:
        """Values of the settable fields of a dataclass that are present."""
        hints = {name: hint for name, hint in settable(cls).items() if name not in skip}
        self._known += hints
        return {
            name: convert(self._content[name], hint, self.named(name)) for name, hint in hints.items() if name in self
        }

    def record(self, cls: type[_T], skip: Collection[str] = ()) -> _T:
        """A dataclass from the present fields; other keys are errors."""
        values = self.fields(cls, skip)
        self.done()
        with self:
            return cls(**values)

    def __enter__(self) -> None:
        """Start a block in which errors get the table's name."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self.name}: {error.message}", path=error.path) from error

    def done(self) -> None:
        """Raise InputError for the first unknown key."""
        for key in self._content:
            if key not in self._known:
                raise InputError(f"'{self.named(key)}' is not a key of a recipe: {listed(key, self._known)}")


def _kinds(kinds: tuple[type, ...]) -> str:
    return " or ".join(dict.fromkeys(_KINDS[kind] for kind in kinds))
