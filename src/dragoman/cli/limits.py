"""Whole numbers of options must fit into what the native core counts with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from dragoman.errors import InputError
from dragoman.types import MAX_INT32

__all__ = ["limited"]

_OTHERS = {"seed": 2**63 - 1, "threads": 4096, "bootstrap": 1_000_000, "trials": 1_000_000}


def limited(app: typer.Typer) -> Callable[[], Any]:
    """The command, with an end to the ranges of all its options."""
    command: Any = typer.main.get_command(app)
    _limit(command)
    return lambda: command()


def _limit(command: Any) -> None:
    for parameter in command.params:
        parameter.callback = _checked(parameter.callback, _OTHERS.get(parameter.name, MAX_INT32))
    for part in getattr(command, "commands", {}).values():
        _limit(part)


def _checked(callback: Callable[..., Any] | None, greatest: int) -> Callable[..., Any]:
    def check(context: Any, parameter: Any, value: Any) -> Any:
        for number in value if isinstance(value, list | tuple) else [value]:
            if isinstance(number, int) and abs(number) > greatest:
                raise InputError(f"{parameter.opts[0]} {number}: at most {greatest} will do")
        return value if callback is None else callback(context, parameter, value)

    return check
