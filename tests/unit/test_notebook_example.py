"""The example notebook runs from its first cell to its last, and what its cells end in shows itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from tests.kit.html_pages import Fragment

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook" / "look.ipynb"


def run_cell(source, names):
    """Execute a cell in a plain process; the value of its last expression, which a notebook would display."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What every code cell displays."""
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("notebook")))
        cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        return [run_cell(source, names) for source in sources]


def test_the_notebook_has_no_outputs_and_is_valid():
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in book["cells"])


def test_every_cell_runs_and_shows_what_it_should(shown):
    first, phrases, tree, large, small, tuning, after = shown
    assert first is None
    pages = [Fragment(value._repr_html_()) for value in shown[1:]]
    pictures = [sum(tag == "svg" and attrs.get("role") == "img" for tag, attrs in page.tags) for page in pages]
    assert pictures == [1, 1, 0, 1, 0, 1]
    assert not phrases.nodes
    assert tree.nodes
    assert phrases.source == tree.source == after.source
    assert small.n_edges < large.n_edges
    assert [one.name for one in tuning.sets] == ["test set", "development set"]
    assert all("BLEU went from" in said for said in tuning.headlines)
