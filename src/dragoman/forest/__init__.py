"""Search spaces: packed forests, their best derivations, and the files that hold them."""

from dragoman.forest.arrays import ForestArrays
from dragoman.forest.derivation import Application, Derivation
from dragoman.forest.files import read_forest, write_forest
from dragoman.forest.forest import Expectation, Forest, Marginal
from dragoman.forest.json_form import forest_from_json, forest_to_json
from dragoman.forest.kbest import KBest

__all__ = [
    "Application",
    "Derivation",
    "Expectation",
    "Forest",
    "ForestArrays",
    "KBest",
    "Marginal",
    "forest_from_json",
    "forest_to_json",
    "read_forest",
    "write_forest",
]
