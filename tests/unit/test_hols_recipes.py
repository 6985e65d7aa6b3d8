"""Recipes of held-out line search compare like with like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dragoman.experiments import read_recipe
from dragoman.experiments.starts import CellStart
from dragoman.optim.hols import Scaling


@pytest.fixture
def recipe(request):
    return lambda name: read_recipe(request.config.rootpath / "recipes" / name)


@pytest.mark.parametrize("name", ["hols.toml", "hols-choice.toml"])
def test_mert_on_held_out_lines_has_the_rounds_of_start_and_search(recipe, name):
    optimisers = recipe(name).optimisers
    alone, whole = optimisers["mert-lines"].optimiser, optimisers["hols-lines"].optimiser
    assert alone.start_rounds == whole.start_rounds + whole.search_rounds


def test_rows_of_table_3_start_from_mert_with_a_start_of_each_seed(recipe):
    plan = recipe("hols.toml")
    rows = {cell.optimiser for cell in plan.cells if cell.corpus == "enja-fold"}
    assert len(rows) == 8
    for name in rows - {"fold-mert"}:
        assert plan.optimisers[name].start == CellStart(optimiser="fold-mert")
    assert plan.optimisers["fold-mert"].training_seed is None
    assert plan.report.baseline == ("mert", "fold-mert")


def test_oscillation_without_conditioning_is_a_row_beside_that_with_it(recipe):
    plan = recipe("hols.toml")
    cells = [cell for cell in plan.cells if cell.optimiser == "hols-4-no-conditioning"]
    assert {(cell.system, cell.seed) for cell in cells} == {("phrase", 1)}
    with_it, without = (plan.optimisers[name] for name in ("hols-4", "hols-4-no-conditioning"))
    assert without.optimiser == replace(with_it.optimiser, conditioning=Scaling.NONE)
    assert without.config == with_it.config
