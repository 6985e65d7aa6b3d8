"""Search spaces: packed forests, their best derivations, and their file formats."""

from dragoman.forest.arrays import ForestArrays
from dragoman.forest.derivation import Application, Derivation
from dragoman.forest.derivations import Derivations
from dragoman.forest.envelope import Envelopes, envelopes
from dragoman.forest.files import read_forest, read_forests, write_forest
from dragoman.forest.forest import Expectation, Forest, Marginal
from dragoman.forest.forest_set import ForestSet
from dragoman.forest.json_form import forest_from_json, forest_to_json
from dragoman.forest.kbest import KBest
from dragoman.forest.oracle import Oracle, oracles
from dragoman.forest.prune import prune_to_density

__all__ = [
    "Application",
    "Derivation",
    "Derivations",
    "Envelopes",
    "Expectation",
    "Forest",
    "ForestArrays",
    "ForestSet",
    "KBest",
    "Marginal",
    "Oracle",
    "envelopes",
    "forest_from_json",
    "forest_to_json",
    "oracles",
    "prune_to_density",
    "read_forest",
    "read_forests",
    "write_forest",
]
