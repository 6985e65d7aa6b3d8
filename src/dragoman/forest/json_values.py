"""Values of JSON that others wrote, checked as they are taken out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dragoman.errors import InputError

__all__ = ["JsonPairs", "items", "number", "parse_json", "text", "whole"]


class JsonPairs(list[tuple[str, Any]]):
    """An object that has a key twice: cdec's hypergraphs do, and the order counts."""


def parse_json(data: str | bytes) -> Any:
    """JSON; an object with a repeated key is JsonPairs. Raises InputError with the line."""
    try:
        # json.loads would let bytes of surrogates pass.
        decoded = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(decoded, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError("not JSON: invalid UTF-8; convert the file to UTF-8", line=line) from error
    except RecursionError as error:
        raise InputError(f"not JSON that holds a search space: {error}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", line=error.lineno) from error
    except ValueError as error:  # a whole number of thousands of digits
        raise InputError(f"not JSON that holds a search space: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | JsonPairs:
    found = dict(pairs)
    return found if len(found) == len(pairs) else JsonPairs(pairs)


def whole(value: object, what: str, *, below: int | None = None) -> int:
    """A whole number that is not negative and less than `below`. Raises InputError for anything else."""
    if type(value) is not int or value < 0:
        raise InputError(f"{what} must be a whole number from 0, not {_shown(value)}")
    if below is not None and value >= below:
        raise InputError(f"{what} is {value}, but there are only {below}")
    return value


def number(value: object, what: str) -> float:
    """A number. Raises InputError for anything else."""
    if type(value) is int or type(value) is float:
        try:
            return float(value)
        except OverflowError:
            pass
    raise InputError(f"{what} must be a number, not {_shown(value)}")


def text(value: object, what: str) -> str:
    """A string. Raises InputError for anything else."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {_shown(value)}")
    return value


def items(value: object, what: str) -> list[Any]:
    """An array, empty where there is null. Raises InputError for anything else."""
    if value is None:
        return []
    if not isinstance(value, list) or isinstance(value, JsonPairs):
        raise InputError(f"{what} must be an array, not {_shown(value)}")
    return value


def _shown(value: object) -> str:
    if isinstance(value, Mapping | JsonPairs):
        return "an object"
    if isinstance(value, list):
        return "an array"
    shown = json.dumps(value, ensure_ascii=True)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"
