"""Reading and checking a recipe completely before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.errors import InputError, naming
from dragoman.experiments.grid import GridRecipe, read_grid
from dragoman.experiments.list_form import ListRecipe, read_list_recipe
from dragoman.experiments.synthetic_form import SyntheticRecipe, read_synthetic
from dragoman.experiments.table import RecipeTable
from dragoman.settings import key_path, parse_value
from dragoman.types import PathLike

__all__ = ["Recipe", "read_recipe"]

Recipe = GridRecipe | ListRecipe | SyntheticRecipe
_KINDS: dict[str, Callable[[RecipeTable, Mapping[str, Any], Path], Recipe]] = {
    "systems": read_grid,
    "lists": read_list_recipe,
    "synthetic": read_synthetic,
}


def read_recipe(path: PathLike, overrides: Sequence[str] = (), *, data: PathLike | None = None) -> Recipe:
    """Read a recipe; `overrides` are `key=value`, `table.key=value` for tables; values are TOML or bare words.

    Files of corpora are relative to `data`, or to the recipe's folder if it is None; `select` checks them.
    `published` can name a file of such tables, relative to the recipe. Raises InputError with the key and what was
    expected.
    """
    content = _toml(Path(path))
    if isinstance(content.get("published"), str):
        content["published"] = _published(Path(path), content["published"])
    for item in overrides:
        _override(content, item)
    base = Path(path).parent if data is None else Path(data)
    with naming(path):
        table = RecipeTable(content)
        kind = table.one_of("kind", _KINDS, "systems")
        return _KINDS[kind](table, content, base)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"is not TOML: {error}", path=path) from error


def _published(recipe: Path, name: str) -> Any:
    """The content of the file named by `published`: a file with only this key, relative to the recipe."""
    path = recipe.parent / name
    if not path.is_file():
        raise InputError(f"published = {name!r}: there is no file {path}; expected one with [[published]]", path=recipe)
    found = _toml(path)
    if list(found) != ["published"]:
        raise InputError(f"expected [[published]] and nothing else, not {', '.join(found) or 'nothing'}", path=path)
    return found["published"]


def _override(content: dict[str, Any], item: str) -> None:
    key, equals, value = item.partition("=")
    if not (key.strip() and equals):
        raise InputError(f"--set {item}: expected KEY=VALUE")
    parsed, path = parse_value(value), key_path(key, item)
    places: list[Any] = [content]
    for step in path[:-1]:
        places = [found for place in places for found in _inside(place, step, item)]
    for place in places:
        for table in _tables(place, path[-1], item):
            table[path[-1]] = parsed


def _inside(place: Any, key: str, item: str) -> list[Any]:
    """The values at a key. A list of tables is followed in all of them, or in one by its index."""
    if isinstance(place, list) and key.isdigit():
        if int(key) >= len(place):
            raise InputError(f"--set {item}: there is no table {key}; the last is {len(place) - 1}")
        return [place[int(key)]]
    return [table.setdefault(key, {}) for table in _tables(place, key, item)]


def _tables(place: Any, key: str, item: str) -> list[dict[str, Any]]:
    tables = place if isinstance(place, list) else [place]
    if not all(isinstance(table, dict) for table in tables):
        raise InputError(f"--set {item}: what holds '{key}' is not a table")
    return tables
