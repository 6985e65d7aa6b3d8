"""Reading and checking a recipe completely before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import InputError
from dragoman.optim import OPTIMISERS
from dragoman.tune import build_optimiser
from dragoman.types import PathLike

__all__ = ["SyntheticRecipe", "read_recipe"]

_KINDS = ("synthetic",)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticRecipe:
    """The experiment of PRO, sections 3 and 4.2: which methods find the weights that made the scores."""

    title: str
    citation: str
    expected: str
    dimensions: tuple[int, ...]
    noise: tuple[float, ...]
    seeds: tuple[int, ...]
    n_sentences: int
    n_candidates: int
    upper: float
    methods: Mapping[str, Mapping[str, str]]
    """Settings of each method, as text."""

    def settings(self) -> dict[str, Any]:
        """For the record of a run."""
        return asdict(self)


def read_recipe(path: PathLike, overrides: Sequence[str] = ()) -> SyntheticRecipe:
    """Read a recipe; `overrides` are `key=value` with TOML values, `table.key=value` for tables.

    Raises InputError that names the key and what was expected.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}", path=path) from error
    for item in overrides:
        _override(content, item)
    try:
        return _synthetic(content)
    except InputError as error:
        raise error.at(path) from error


def _override(content: dict[str, Any], item: str) -> None:
    key, equals, value = item.partition("=")
    if not (key and equals):
        raise InputError(f"--set {item}: expected KEY=VALUE")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"--set {item}: the value is not TOML ({error})") from error
    *tables, last = key.split(".")
    place = content
    for table in tables:
        place = place.setdefault(table, {})
        if not isinstance(place, dict):
            raise InputError(f"--set {item}: '{table}' is not a table")
    place[last] = parsed


def _synthetic(content: dict[str, Any]) -> SyntheticRecipe:
    table = _Table(content, "")
    kind = table.take("kind", str)
    if kind not in _KINDS:
        raise InputError(f"kind = '{kind}': expected one of {', '.join(_KINDS)}")
    grid, pool = table.table("grid"), table.table("pool")
    methods = content.pop("methods", None)
    if not isinstance(methods, dict) or not methods:
        raise InputError(f"[methods.NAME] is missing; NAME is one of {', '.join(OPTIMISERS)}")
    recipe = SyntheticRecipe(
        title=table.take("title", str),
        citation=table.take("citation", str),
        expected=table.take("expected", str),
        dimensions=grid.numbers("dimensions", 1, int),
        noise=grid.numbers("noise", 0, float),
        seeds=grid.numbers("seeds", 0, int),
        n_sentences=pool.number("n_sentences", 1),
        n_candidates=pool.number("n_candidates", 2),
        upper=float(pool.take("upper", int, float)),
        methods={name: _method(name, settings) for name, settings in methods.items()},
    )
    for rest in (table, grid, pool):
        rest.done()
    return recipe


def _method(name: str, settings: object) -> dict[str, str]:
    if not isinstance(settings, dict):
        raise InputError(f"methods.{name}: expected a table of settings")
    texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in settings.items()}
    try:
        build_optimiser(name, texts)
    except InputError as error:
        raise InputError(f"methods.{name}: {error.message}") from error
    return texts


class _Table:
    """Takes keys out of a table, each with its check, and complains about what is left."""

    def __init__(self, content: dict[str, Any], prefix: str) -> None:
        self._content = content
        self._prefix = prefix

    def take(self, key: str, *kinds: type) -> Any:
        name = self._prefix + key
        if key not in self._content:
            raise InputError(f"'{name}' is missing; expected {_named(kinds)}")
        value = self._content.pop(key)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise InputError(f"{name} = {value!r}: expected {_named(kinds)}")
        return value

    def table(self, key: str) -> _Table:
        return _Table(self.take(key, dict), f"{self._prefix}{key}.")

    def number(self, key: str, least: int) -> int:
        value: int = self.take(key, int)
        if value < least:
            raise InputError(f"{self._prefix}{key} = {value}: expected at least {least}")
        return value

    def numbers(self, key: str, least: float, kind: type[int] | type[float]) -> tuple[Any, ...]:
        values = self.take(key, list)
        allowed = (int,) if kind is int else (int, float)
        good = all(isinstance(v, allowed) and not isinstance(v, bool) and least <= v < float("inf") for v in values)
        if not values or not good:
            raise InputError(f"{self._prefix}{key} = {values!r}: expected a list of numbers of at least {least}")
        return tuple(kind(v) for v in values)

    def done(self) -> None:
        if self._content:
            raise InputError(f"'{self._prefix}{next(iter(self._content))}' is not a key of this kind of recipe")


def _named(kinds: tuple[type, ...]) -> str:
    names = {str: "text", int: "a whole number", float: "a number", dict: "a table", list: "a list"}
    return " or ".join(names[kind] for kind in kinds)
