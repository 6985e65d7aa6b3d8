"""`__all__` of every module says what others import from it."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from pathlib import Path

import pytest

import dragoman

PACKAGE = Path(dragoman.__file__).parent
ROOT = Path(__file__).parents[2]


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


def imports_of(source: str) -> set[tuple[str, str]]:
    """Names of our modules that a source imports, or reaches through an imported module."""
    tree = ast.parse(source)
    found, modules = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dragoman":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in MODULES:
                    modules[alias.asname or alias.name] = whole
                    if alias.name not in getattr(importlib.import_module(node.module), "__all__", ()):
                        continue  # else the package exports something with the name of its module
                if whole != "dragoman._core" and node.module != "dragoman._core":
                    found.add((node.module, alias.name))
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in MODULES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (module := modules.get(ast.unparse(node.value))):
            found.add((module, node.attr))
    return found


def own(path: Path) -> set[tuple[str, str]]:
    name = module_of(path)
    return {(module, found) for module, found in imports_of(path.read_text(encoding="utf-8")) if module != name}


@pytest.fixture(scope="module")
def wanted() -> dict[str, set[str]]:
    """What modules of the package import from each."""
    found = defaultdict(set)
    for path in MODULES.values():
        for module, name in own(path):
            found[module].add(name)
    return found


@pytest.fixture(scope="module")
def used() -> dict[str, set[str]]:
    """What is imported from each package outside it."""
    found = defaultdict(set)
    for name, path in MODULES.items():
        for module, imported in own(path):
            if not name.startswith(f"{module}."):
                found[module].add(imported)
    for folder in ("tests", "bench", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            for module, imported in imports_of(path.read_text(encoding="utf-8")):
                found[module].add(imported)
    found["dragoman"] |= found["dragoman.errors"]  # the whole tree of errors is public
    return found


@pytest.fixture(scope="module")
def documented() -> set[str]:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    return {word for page in pages for word in re.findall(r"\w+", page.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("__main__")])
def test_what_others_import_is_exported(module, wanted):
    exported = getattr(importlib.import_module(module), "__all__", [])
    assert len(set(exported)) == len(exported)
    assert [name for name in exported if not hasattr(importlib.import_module(module), name)] == []
    assert sorted(wanted[module] - set(exported)) == []


def annotated(package: str) -> set[str]:
    """Words of the annotations in a package: the types of what it takes and gives."""
    words: set[str] = set()
    for path in MODULES[package].parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for note in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                words.update(re.findall(r"\w+", ast.unparse(note)) if note else ())
    return words


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_export_what_somebody_uses(package, used, documented):
    """An export is imported elsewhere, named in the documentation, or the type of something."""
    exported = getattr(importlib.import_module(package), "__all__", [])
    assert sorted(set(exported) - used[package] - documented - annotated(package)) == []
