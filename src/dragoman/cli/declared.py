"""Commands whose options are the fields of a dataclass, each declared once as Annotated[type, typer.Option(...)]."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["takes"]

_Options = TypeVar("_Options")


def takes(options: type[_Options]) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """A command that is called with the fields of `options` as keywords, and works with one value of it."""

    def declare(work: Callable[[_Options], None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            work(options(**given))

        functools.update_wrapper(command, work)
        del command.__dict__["__wrapped__"]
        command.__annotations__ = hints = typing.get_type_hints(options, include_extras=True)
        parameters = inspect.signature(options).parameters.values()
        command.__dict__["__signature__"] = inspect.Signature([p.replace(annotation=hints[p.name]) for p in parameters])
        return command

    return declare
