"""Recipes: experiments as TOML files without code."""

from dragoman.recipe.read import SyntheticRecipe, read_recipe
from dragoman.recipe.synthetic import SyntheticCell, run_synthetic, write_synthetic_report

__all__ = ["SyntheticCell", "SyntheticRecipe", "read_recipe", "run_synthetic", "write_synthetic_report"]
