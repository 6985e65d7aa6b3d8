"""What people bring by name without an edit of the package: methods, metrics and features of candidates.

Three ways lead into a registry: a decorator, as `@register.method("wander")`; an entry point of an installed
distribution in the group `dragoman.methods`, `dragoman.metrics` or `dragoman.candidate_features`; and the place of a
class, `package.module:Class`, wherever a name is taken.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import sys
from abc import update_abstractmethods
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, TypeVar

from dragoman.errors import InputError
from dragoman.settings import listed

__all__ = [
    "CANDIDATE_FEATURES",
    "METHODS",
    "METRICS",
    "Registry",
    "candidate_feature",
    "code_of",
    "method",
    "metric",
    "subclass_of",
]

_T = TypeVar("_T")
_Any = TypeVar("_Any")
_PLACE = "PACKAGE.MODULE:CLASS"


class Registry(Mapping[str, _T], Generic[_T]):
    """Things by name: the package's own and those of others, which are imported when they are first asked for."""

    def __init__(self, what: str, group: str) -> None:
        self.what = what
        self.group = group
        self._added: dict[str, Any] = {}
        self._imported: dict[str, Any] = {}

    def __call__(self, name: str) -> Callable[[_Any], _Any]:
        """A decorator that registers a class, or a function that makes what is wanted; a class learns its name."""

        def add(value: _Any) -> _Any:
            self.add(name, value)
            return value

        return add

    def add(self, name: str, value: Any) -> None:
        """Raises InputError for a name that is taken by something else than an earlier version of the value."""
        if name in self._added and _place(self._added[name]) != _place(value):
            raise self._twice(name, _where(self._added[name]), _where(value))
        self._added[name] = _named(value, name)

    def add_all(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.add(name, value)

    def named(self, name: str) -> _T:
        """What has this name. Raises InputError for an unknown one, with those that exist."""
        try:
            return self[name]
        except KeyError:
            raise InputError(
                f"there is no {self.what} '{name}'; {listed(name, list(self))}, or {_PLACE} of your own"
            ) from None

    def __getitem__(self, name: str) -> _T:
        if name in self._added:
            found: _T = self._added[name]
            return found
        if ":" in name:
            if name not in self._imported:
                self._imported[name] = _named(_imported(name, f"{self.what} {name}"), name)
            imported: _T = self._imported[name]
            return imported
        point = self._points[name]
        self.add(name, _imported(point.value, f"{self.what} {name} of {_distribution(point)}"))
        return self[name]

    def imported(self) -> list[str]:
        """Names of what is there already, for help: it does not wait for others, nor fail by them."""
        return list(self._added)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._added or ":" in name or name in self._points)

    def __iter__(self) -> Iterator[str]:
        """All names; nothing is imported for them."""
        return iter(dict.fromkeys([*self._added, *self._points]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        """Entry points by name. Raises InputError for a name that is taken twice."""
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            name, value = point.name, point.value
            if name in self._added and _place(self._added[name]) != value:
                raise self._twice(name, _where(self._added[name]), f"{value} of {_distribution(point)}")
            if name in found and found[name].value != value:
                first = f"{found[name].value} of {_distribution(found[name])}"
                raise self._twice(name, first, f"{value} of {_distribution(point)}")
            found[name] = point
        return found

    def _twice(self, name: str, first: str, second: str) -> InputError:
        return InputError(f"there are two {self.what}s '{name}': {first}, and {second}; give one of them another name")


METHODS: Registry[Any] = Registry("method", "dragoman.methods")
METRICS: Registry[Any] = Registry("metric", "dragoman.metrics")
CANDIDATE_FEATURES: Registry[Any] = Registry("feature for candidates", "dragoman.candidate_features")
method, metric, candidate_feature = METHODS, METRICS, CANDIDATE_FEATURES


def subclass_of(base: Any, found: object, name: str) -> Any:
    """Raises InputError for what has this name and is something else."""
    if isinstance(found, type) and issubclass(found, base):
        return found
    raise InputError(f"'{name}' is {found!r}, not a subclass of {base.__module__}.{base.__qualname__}")


def code_of(*values: object) -> dict[str, dict[str, str]]:
    """`{"code": {place: digest}}` of the classes and functions that the values are made of and the package lacks.

    It belongs into what names the result of a piece of work: an edited file is other work. Nothing for what is the
    package's own.
    """
    found = {_place(part): _digest(part) for value in values for part in _parts(value)}
    return {"code": dict(sorted(found.items()))} if found else {}


def _imported(place: str, called: str) -> Any:
    """What is at `package.module:Class`, from the current folder too, as for a script there."""
    module, _, path = place.partition(":")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)
    try:
        found = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever the code of others raises as it is imported
        raise InputError(
            f"the {called} cannot be imported: {type(error).__name__}: {error}; expected {_PLACE}, "
            "with the module in the current folder or where Python looks for packages"
        ) from error
    return found


def _parts(value: object) -> Iterator[Any]:
    """Classes and functions from outside in a value, and in the fields and items that it holds."""
    if isinstance(value, FunctionType | type):
        yield from (part for part in getattr(value, "__mro__", (value,)) if _is_foreign(part))
    elif isinstance(value, Mapping):
        yield from (part for item in value.values() for part in _parts(item))
    elif isinstance(value, list | tuple):
        yield from (part for item in value for part in _parts(item))
    else:
        yield from _parts(type(value))
        if dataclasses.is_dataclass(value):
            yield from (part for field in dataclasses.fields(value) for part in _parts(getattr(value, field.name)))


def _is_foreign(part: Any) -> bool:
    top = part.__module__.partition(".")[0]
    return top != "dragoman" and top not in sys.stdlib_module_names - {"__main__"} and top != "numpy"


@cache
def _digest(part: Any) -> str:
    """Of the file; what was typed into a console has none, and is new in every process."""
    try:
        return sha256(Path(inspect.getfile(part)).read_bytes()).hexdigest()[:16]
    except (TypeError, OSError):
        return os.urandom(8).hex()


def _named(value: _Any, name: str) -> _Any:
    """A class that has a name gets this one, so that what it records can be found again."""
    given = getattr(value, "name", None)
    if isinstance(value, type) and (isinstance(given, str) or getattr(given, "__isabstractmethod__", False)):
        type.__setattr__(value, "name", name)
        update_abstractmethods(value)
    return value


def _place(value: Any) -> str:
    return f"{value.__module__}:{value.__qualname__}"


def _where(value: Any) -> str:
    """For messages: the place, and the file and line if it has some."""
    try:
        return f"{_place(value)} ({inspect.getfile(value)}:{inspect.getsourcelines(value)[1]})"
    except (TypeError, OSError):
        return _place(value)


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed distribution"
