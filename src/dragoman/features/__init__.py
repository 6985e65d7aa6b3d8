"""Features: the name index, weights, blocks, templates and weight files."""

from dragoman.features.binary_weights import read_binary_weights
from dragoman.features.blocks import (
    HOLS_BEFORE,
    HOLS_STEP,
    Block,
    blocks_by_orientation,
    blocks_by_template,
    class_sizes,
    places_by_template,
)
from dragoman.features.fit import describe_fit, fitted_values
from dragoman.features.index import FeatureIndex, feature_arguments, feature_key, feature_name, load_index, save_index
from dragoman.features.sign_flips import SignFlips, sign_flips
from dragoman.features.table import FeatureTable, is_feature_table
from dragoman.features.templates import (
    TEMPLATE_SETS,
    Template,
    TemplateKind,
    TemplateSetting,
    known_templates,
    parse_templates,
)
from dragoman.features.weight_files import (
    MANY_WEIGHTS,
    InitOpt,
    WeightFormat,
    find_weights,
    is_init_opt,
    read_init_opt,
    read_weights,
    store_weights,
    unite_weights,
    write_weights,
)
from dragoman.features.weights import Weights, live_values

__all__ = [
    "HOLS_BEFORE",
    "HOLS_STEP",
    "MANY_WEIGHTS",
    "TEMPLATE_SETS",
    "Block",
    "FeatureIndex",
    "FeatureTable",
    "InitOpt",
    "SignFlips",
    "Template",
    "TemplateKind",
    "TemplateSetting",
    "WeightFormat",
    "Weights",
    "blocks_by_orientation",
    "blocks_by_template",
    "class_sizes",
    "describe_fit",
    "feature_arguments",
    "feature_key",
    "feature_name",
    "find_weights",
    "fitted_values",
    "is_feature_table",
    "is_init_opt",
    "known_templates",
    "live_values",
    "load_index",
    "parse_templates",
    "places_by_template",
    "read_binary_weights",
    "read_init_opt",
    "read_weights",
    "save_index",
    "sign_flips",
    "store_weights",
    "unite_weights",
    "write_weights",
]
