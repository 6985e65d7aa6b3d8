"""Recipes: experiments as TOML files without code."""

from dragoman.experiments.grid import GridRecipe, Selection
from dragoman.experiments.list_form import ListRecipe, ListSelection
from dragoman.experiments.list_runner import plan_list_cells, run_list_cells
from dragoman.experiments.read import Recipe, read_recipe
from dragoman.experiments.report_plan import ReportPlan
from dragoman.experiments.runner import CellPlan, Observer, cache_folder, plan_cells, run_cells
from dragoman.experiments.synthetic import SyntheticCell, run_synthetic, write_synthetic_report
from dragoman.experiments.synthetic_form import SyntheticPoint, SyntheticRecipe

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
