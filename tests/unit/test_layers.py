"""Data flows one way: a module imports only from the layers above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dragoman

ROOT = Path(dragoman.__file__).parent
LAYERS = [
    ["errors", "types", "cost", "_core"],
    ["text"],
    ["settings"],
    ["store"],
    ["array_file"],
    ["pipeline"],
    ["engine"],
    ["corpus"],
    ["synth"],
    ["align"],
    ["lm"],
    ["metric"],
    ["features"],
    ["drawing"],
    ["grammar"],
    ["forest"],
    ["search"],
    ["pool"],
    ["optim"],
    ["run"],
    ["debian"],
    ["system"],
    ["rescoring"],
    ["lists"],
    ["passes"],
    ["tune"],
    ["evaluate"],
    ["report"],
    ["recipe", "demo", "serve"],
    ["cli"],
    ["__main__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


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
        found |= {name.split(".")[1] for name in names if name.startswith("dragoman.")}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_upwards(path: Path) -> None:
    own = path.relative_to(ROOT).with_suffix("").parts[0]
    assert own in RANK, f"{own} has no layer; give it one here and in docs/architecture.md"
    for other in imported_layers(path):
        assert other == own or RANK[other] < RANK[own], f"{path.name} imports {other} from below"
