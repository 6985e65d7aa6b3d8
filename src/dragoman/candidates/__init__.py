"""Candidate pools: n-best lists of any decoder as arrays, with readers, writers, merging and shards on disk."""

from dragoman.candidates.choose import (
    Choice,
    best_by,
    model_totals,
    oracle,
    ranked,
    rerank,
    rerank_each,
    score_deviation,
    weights_for,
)
from dragoman.candidates.consensus import expected_gains, mbr, posteriors
from dragoman.candidates.describe import FeatureSummary, PoolSummary, describe_pool, gain_correlation
from dragoman.candidates.doubt import doubt_of_references
from dragoman.candidates.filter import PoolFilter, filter_pool, resampled, with_origin, without_scores
from dragoman.candidates.lazy import LazyShards, Outline, outlines
from dragoman.candidates.measure import (
    Judge,
    has_scores,
    mixes_metrics,
    read_references,
    summed_names,
    texts_of,
    with_external,
    with_metric,
    with_mixture,
)
from dragoman.candidates.merge import compacted, merge_pools, on_tables
from dragoman.candidates.missing import has_missing, with_list_means
from dragoman.candidates.objective import ExternalObjective, MeasuredObjective, MixedObjective, Objective
from dragoman.candidates.pool import Pool, metric_of, new_words
from dragoman.candidates.readers import (
    FIELDS,
    NbestFormat,
    format_of_list,
    has_segmentation,
    read_lists_in_order,
    read_nbest,
    read_pool,
    subword_mark,
)
from dragoman.candidates.shard import Shard
from dragoman.candidates.statistics_files import read_statistics
from dragoman.candidates.storage import load_pool, merge_to_disk, read_to_disk, save_pool, spooled
from dragoman.candidates.synthetic import SyntheticPool, cosine, synthetic_pool
from dragoman.candidates.text_lists import read_text_lists
from dragoman.candidates.unite import unite_pools
from dragoman.candidates.writers import nbest_blocks, write_nbest

__all__ = [
    "FIELDS",
    "Choice",
    "ExternalObjective",
    "FeatureSummary",
    "Judge",
    "LazyShards",
    "MeasuredObjective",
    "MixedObjective",
    "NbestFormat",
    "Objective",
    "Outline",
    "Pool",
    "PoolFilter",
    "PoolSummary",
    "Shard",
    "SyntheticPool",
    "best_by",
    "compacted",
    "cosine",
    "describe_pool",
    "doubt_of_references",
    "expected_gains",
    "filter_pool",
    "format_of_list",
    "gain_correlation",
    "has_missing",
    "has_scores",
    "has_segmentation",
    "load_pool",
    "mbr",
    "merge_pools",
    "merge_to_disk",
    "metric_of",
    "mixes_metrics",
    "model_totals",
    "nbest_blocks",
    "new_words",
    "on_tables",
    "oracle",
    "outlines",
    "posteriors",
    "ranked",
    "read_lists_in_order",
    "read_nbest",
    "read_pool",
    "read_references",
    "read_statistics",
    "read_text_lists",
    "read_to_disk",
    "rerank",
    "rerank_each",
    "resampled",
    "save_pool",
    "score_deviation",
    "spooled",
    "subword_mark",
    "summed_names",
    "synthetic_pool",
    "texts_of",
    "unite_pools",
    "weights_for",
    "with_external",
    "with_list_means",
    "with_metric",
    "with_mixture",
    "with_origin",
    "without_scores",
    "write_nbest",
]
