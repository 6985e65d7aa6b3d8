"""`__all__` of every module says what others import from it."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from pathlib import Path

import dragoman
import dragoman_debian
import dragoman_synth

ROOT = Path(__file__).parents[2]


def module_of(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_of(path, package): path
    for imported in (dragoman, dragoman_debian, dragoman_synth)
    for package in [Path(imported.__file__).parent]
    for path in sorted(package.rglob("*.py"))
}
ROOTS = {name.partition(".")[0] for name in MODULES}
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


def imports_of(source: str) -> set[tuple[str, str]]:
    """Names of our modules that a source imports, or reaches through an imported module."""
    tree = ast.parse(source)
    found, modules = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ROOTS:
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


def package_of(module: str) -> str:
    return module if module in PACKAGES else module.rpartition(".")[0]


def own(name: str) -> set[tuple[str, str]]:
    imported = imports_of(MODULES[name].read_text(encoding="utf-8"))
    return {(module, found) for module, found in imported if module != name}


def imported_inside() -> dict[str, set[str]]:
    """What modules of the packages import from each."""
    found = defaultdict(set)
    for importer in MODULES:
        for module, name in own(importer):
            found[module].add(name)
    return found


def used_outside() -> dict[str, set[str]]:
    """What is imported from each package outside it."""
    found = defaultdict(set)
    for name in MODULES:
        for module, imported in own(name):
            if package_of(name) != module:
                found[module].add(imported)
    for folder in ("tests", "bench", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            for module, imported in imports_of(path.read_text(encoding="utf-8")):
                found[module].add(imported)
    found["dragoman"] |= found["dragoman.errors"]  # the whole tree of errors is public
    return found


def documented() -> set[str]:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    return {word for page in pages for word in re.findall(r"\w+", page.read_text(encoding="utf-8"))}


def exports(module: str) -> list[str]:
    return getattr(importlib.import_module(module), "__all__", [])


def test_what_others_import_is_exported():
    findings, imported = [], imported_inside()
    for module in MODULES:
        if module.endswith("__main__"):
            continue
        exported = exports(module)
        findings += [f"{module} exports {name} twice" for name in {n for n in exported if exported.count(n) > 1}]
        findings += [
            f"{module} exports {name}, which it lacks"
            for name in exported
            if not hasattr(importlib.import_module(module), name)
        ]
        findings += [f"{module} does not export {name}" for name in sorted(imported[module] - set(exported))]
    assert findings == []


def annotated(package: str) -> set[str]:
    """Words of the annotations in a package: the types of what it takes and gives."""
    words: set[str] = set()
    for path in MODULES[package].parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for note in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                words.update(re.findall(r"\w+", ast.unparse(note)) if note else ())
    return words


def test_packages_export_what_somebody_uses():
    """An export is imported elsewhere, named in the documentation, or the type of something."""
    used, named = used_outside(), documented()
    findings = [
        f"{package} exports {name}, which nobody uses"
        for package in PACKAGES
        for name in sorted(set(exports(package)) - used[package] - named - annotated(package))
    ]
    assert findings == []
