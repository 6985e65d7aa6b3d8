"""A metric is one file in `metric/` and a line of its registry: nobody else asks which one it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dragoman
from dragoman import metric as metrics
from dragoman.metric import METRICS, Metric, by_name

ROOT = Path(dragoman.__file__).parent
KINDS = {
    name for name in metrics.__all__ if isinstance(kind := getattr(metrics, name), type) and issubclass(kind, Metric)
}


def asks_for_kinds(path: Path) -> list[int]:
    """Lines with `isinstance(..., Bleu)` or `case Bleu()`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked = node.args[1]
        elif isinstance(node, ast.MatchClass):
            asked = node.cls
        else:
            continue
        if KINDS & {name.id for name in ast.walk(asked) if isinstance(name, ast.Name)}:
            lines.append(node.lineno if isinstance(node, ast.Call) else node.cls.lineno)
    return lines


def test_nobody_outside_asks_which_metric_it_is():
    assert {"Bleu", "Chrf", "External", "Metric", "Mix", "Ter"} <= KINDS
    outside = [path for path in ROOT.rglob("*.py") if "metric" not in path.relative_to(ROOT).parts]
    assert {str(path.relative_to(ROOT)): lines for path in outside if (lines := asks_for_kinds(path))} == {}


@pytest.mark.parametrize("name", METRICS)
def test_the_registry_knows_a_metric_by_its_name(name):
    assert by_name(name).name == name
    assert by_name(f"2*{name} + {name}").terms == ((3.0, by_name(name)),)
