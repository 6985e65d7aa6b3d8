"""What `import dragoman` gives: flat names, packages when they are asked for, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman

PACKAGE = Path(dragoman.__file__).parent


def fresh(code):
    """Run in another process, where nothing has been imported."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_every_name_is_there_and_has_a_home():
    assert sorted(dragoman.__all__) == dragoman.__all__
    for name in dragoman.__all__:
        assert getattr(dragoman, name) is not None
    assert {*dragoman._HOME_OF, "__version__"} == set(dragoman.__all__)


def test_what_type_checkers_see_is_what_there_is():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {*seen, "__version__"} == set(dragoman.__all__)
    for name, whole in seen.items():
        module, _, there = whole.rpartition(".")
        assert getattr(dragoman, name) is getattr(sys.modules[module], there)


def test_dir_is_names_and_packages():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_")}
    assert set(dir(dragoman)) == {*dragoman.__all__, *packages, *modules}
    for name in dir(dragoman):
        assert getattr(dragoman, name) is not None


@pytest.mark.parametrize("package", ["tuning", "metric", "candidates", "view"])
def test_packages_come_when_they_are_asked_for(package):
    told = fresh(f"import dragoman, types; m = dragoman.{package}; print(m.__name__, isinstance(m, types.ModuleType))")
    assert told.split() == [f"dragoman.{package}", "True"]


def test_a_package_is_a_package_and_a_function_a_function():
    told = fresh("import dragoman.tuning as t; import dragoman; print(t.LoopSettings is dragoman.LoopSettings)")
    assert told.split() == ["True"]
    assert callable(dragoman.tune)
    assert callable(dragoman.train)


def test_nothing_else_is_there():
    assert not hasattr(dragoman, "nothing")
    assert not hasattr(dragoman, "_nothing")
    assert fresh("import sys, dragoman; print('numpy' in sys.modules, 'dragoman.errors' in sys.modules)").split() == [
        "False",
        "False",
    ]
