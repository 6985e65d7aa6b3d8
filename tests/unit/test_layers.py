"""Data flows one way: a module imports only from the layers above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import dragoman

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
