"""Recipes: experiments as TOML files without code."""

from dragoman.recipe.grid import GridRecipe, ReportPlan, Selection
from dragoman.recipe.read import read_recipe
from dragoman.recipe.runner import CellPlan, Observer, cache_folder, plan_cells, run_cells
from dragoman.recipe.synthetic import SyntheticCell, run_synthetic, write_synthetic_report
from dragoman.recipe.synthetic_form import SyntheticPoint, SyntheticRecipe

__all__ = [
    "CellPlan",
    "GridRecipe",
    "Observer",
    "ReportPlan",
    "Selection",
    "SyntheticCell",
    "SyntheticPoint",
    "SyntheticRecipe",
    "cache_folder",
    "plan_cells",
    "read_recipe",
    "run_cells",
    "run_synthetic",
    "write_synthetic_report",
]
