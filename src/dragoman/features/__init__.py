"""Features: the index of their names, weights, blocks, and the files that hold weights."""

from dragoman.features.blocks import Block
from dragoman.features.index import FeatureIndex, feature_key, feature_name, load_index, save_index
from dragoman.features.weight_files import (
    InitOpt,
    WeightFormat,
    read_init_opt,
    read_weights,
    write_init_opt,
    write_weights,
)
from dragoman.features.weights import Weights

__all__ = [
    "Block",
    "FeatureIndex",
    "InitOpt",
    "WeightFormat",
    "Weights",
    "feature_key",
    "feature_name",
    "load_index",
    "read_init_opt",
    "read_weights",
    "save_index",
    "write_init_opt",
    "write_weights",
]
