"""Data flows one way: a module imports only from the layers above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import dragoman
from dragoman.optim import OPTIMISERS
from dragoman.system import KINDS

ROOT = Path(dragoman.__file__).parent
LAYERS = [
    ["errors"],
    ["types", "cost", "_core"],
    ["text"],
    ["settings"],
    ["register"],
    ["files.store"],
    ["files.arrays"],
    ["work.engine"],
    ["work.code"],
    ["work.store"],
    ["corpus.tokens"],
    ["corpus"],
    ["align"],
    ["lm"],
    ["metric"],
    ["features"],
    ["view.drawing"],
    ["grammar"],
    ["forest"],
    ["search"],
    ["candidates"],
    ["optim"],
    ["run"],
    ["system"],
    ["candidates.features"],
    ["sources.lists"],
    ["gradients"],
    ["tuning"],
    ["analysis"],
    ["view.report"],
    ["experiments", "demo", "view.serve"],
    ["cli"],
    ["__main__"],
]
BARE = {ROOT.name, "files", "sources", "view", "work"}
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__init__.py" or path.parent.name not in BARE)


def imported_layers(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [node.module or ""]
            if node.module == "dragoman":
                names = [f"dragoman.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {layer_of(name.split(".")[1:]) for name in names if name.startswith("dragoman.")}
    return found


def layer_of(parts: Sequence[str]) -> str:
    """The layer of a module, by its package or by the part of a package that has a layer of its own."""
    two = ".".join(parts[:2])
    return two if two in RANK else parts[0]


def findings(path: Path) -> Iterator[str]:
    where = path.relative_to(ROOT).with_suffix("")
    own = layer_of(where.parts)
    if own not in RANK:
        yield f"{own} has no layer; give it one here and in docs/architecture.md"
        return
    for other in imported_layers(path) - {own}:
        if RANK[other] >= RANK[own]:
            yield f"{where} imports {other} from below"


def test_imports_point_upwards() -> None:
    assert [finding for path in MODULES for finding in findings(path)] == []


def concrete_kinds() -> set[str]:
    """Names of the classes of methods, and of what belongs to one kind of system."""
    methods = {ancestor.__name__ for name in OPTIMISERS for ancestor in OPTIMISERS.named(name).__mro__}
    kinds = {item.__name__ for kind in KINDS.values() for item in (kind.settings, kind.translator)}
    return (methods - {"object", "Record"}) | kinds


def asked_kinds(path: Path, kinds: set[str]) -> Iterator[str]:
    """Places that ask whether something is of one of the kinds."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            names = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
            yield from (f"{path.relative_to(ROOT)}:{node.lineno} asks for {name}" for name in sorted(names & kinds))


def test_methods_and_kinds_of_systems_say_what_they_are() -> None:
    kinds = concrete_kinds()
    assert {"Hols", "Online", "FastForest", "HieroSettings", "PhraseTranslator"} <= kinds
    modules = [path for path in MODULES if layer_of(path.relative_to(ROOT).parts) != "optim"]
    assert [finding for path in modules for finding in asked_kinds(path, kinds)] == []
