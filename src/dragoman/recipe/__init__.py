"""Recipes: experiments as TOML files without code."""

from dragoman.recipe.grid import GridRecipe, Selection
from dragoman.recipe.list_form import ListRecipe, ListSelection
from dragoman.recipe.list_runner import plan_list_cells, run_list_cells
from dragoman.recipe.read import Recipe, read_recipe
from dragoman.recipe.report_plan import ReportPlan
from dragoman.recipe.runner import CellPlan, Observer, cache_folder, plan_cells, run_cells
from dragoman.recipe.synthetic import SyntheticCell, run_synthetic, write_synthetic_report
from dragoman.recipe.synthetic_form import SyntheticPoint, SyntheticRecipe

__all__ = [
    "CellPlan",
    "GridRecipe",
    "ListRecipe",
    "ListSelection",
    "Observer",
    "Recipe",
    "ReportPlan",
    "Selection",
    "SyntheticCell",
    "SyntheticPoint",
    "SyntheticRecipe",
    "cache_folder",
    "plan_cells",
    "plan_list_cells",
    "read_recipe",
    "run_cells",
    "run_list_cells",
    "run_synthetic",
    "write_synthetic_report",
]
