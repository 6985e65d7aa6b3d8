"""The hand-written stub of the native core names exactly what the core offers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import dragoman
from dragoman import _core

STUB = ast.parse((Path(dragoman.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_every_bound_name_is_declared_and_exists():
    declared = {node.name for node in STUB.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert declared == public(vars(_core))


def test_every_method_is_declared_and_exists():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            methods |= {i.target.id for i in node.body if isinstance(i, ast.AnnAssign)}
            methods |= {target.id for i in node.body if isinstance(i, ast.Assign) for target in i.targets}
            assert public(methods) == public(vars(getattr(_core, node.name))), node.name


def test_benchmarks_call_what_exists():
    for path in sorted((Path(__file__).parents[2] / "bench").glob("*.py")):
        called = set(re.findall(r"\b_core\.(\w+)", path.read_text(encoding="utf-8")))
        assert called <= set(vars(_core)), path.name
