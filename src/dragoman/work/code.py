"""The program as part of what a result depends on: the native core, and the Python code that a module imports."""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from dragoman import _core
from dragoman.files.store import digest

__all__ = ["code_digest", "core_digest", "program_name"]

_OWN = "dragoman"
_IMPORT = re.compile(r"^ *from ([\w.]+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


@cache
def core_digest() -> str:
    """Digest of the native core."""
    return digest(str(_core.__file__))


@cache
def code_digest(module: str) -> str:
    """Digest of the code of a module and all that it imports from its own package, with data files next to them.

    What is typed in has no file, and no digest.
    """
    root = _root(module.partition(".")[0])
    if root is None:
        return ""
    code = _code_of(module, root)
    bare = {root.parent, root} if root.name == _OWN else {root.parent}
    data = {path for folder in {file.parent for file in code} - bare for path in folder.rglob("*.txt")}
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(code | data):
        found.update(f"{path.relative_to(root.parent).as_posix()} {_digest(path)}\n".encode())
    return found.hexdigest()


@cache
def program_name(module: str) -> str:
    """The version, and a short digest of the native core and the code that results of a module depend on."""
    name = hashlib.blake2b(f"{core_digest()} {code_digest(module)}".encode(), digest_size=4).hexdigest()
    return f"{version('dragoman')}+{name}"


def _root(package: str) -> Path | None:
    """The folder of a package, or the file of a module that is a single one, without its suffix."""
    file = getattr(sys.modules.get(package), "__file__", None)
    if file is None and package != "__main__" and (spec := find_spec(package)) is not None:
        file = spec.origin
    if file is None:
        return None
    path = Path(file)
    return path.parent if path.stem == "__init__" else path.with_suffix("")


def _code_of(module: str, root: Path) -> set[Path]:
    """The file of a module and all files of its package that it imports, directly or indirectly."""
    names, todo = {module}, [module]
    found: set[Path] = set()
    while todo:
        path = _file_of(todo.pop(), root)
        if path is not None and path not in found:
            found.add(path)
            more = set(_imported(path)) - names
            names |= more
            todo += more
    return found


@cache
def _file_of(name: str, root: Path) -> Path | None:
    """Of a module of a package. The front door is none: it imports everything."""
    first, *inner = name.split(".")
    if first != root.name or (not inner and first == _OWN):
        return None
    place = root.joinpath(*inner)
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return path if path.exists() else None


@cache
def _digest(path: Path) -> str:
    return digest(path)


@cache
def _imported(path: Path) -> list[str]:
    """Names of modules that a file may import."""
    found = []
    for package, several, one in _IMPORT.findall(path.read_text(encoding="utf-8")):
        found += [package, *(f"{package}.{name}" for name in re.findall(r"\w+", several or one))]
    return found
