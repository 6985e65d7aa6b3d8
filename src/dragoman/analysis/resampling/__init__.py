"""What of a result holds on other sentences: cross-validation, resamples, tests of held-out choices."""

from dragoman.analysis.resampling.bootstrap import BootstrappedWeights, WeightInterval, bootstrap_weights
from dragoman.analysis.resampling.crossval import (
    FoldScore,
    MethodComparison,
    best_method,
    cross_validate,
    deal_sentences,
)
from dragoman.analysis.resampling.held_out import HeldOutTest, held_out_tests

__all__ = [
    "BootstrappedWeights",
    "FoldScore",
    "HeldOutTest",
    "MethodComparison",
    "WeightInterval",
    "best_method",
    "bootstrap_weights",
    "cross_validate",
    "deal_sentences",
    "held_out_tests",
]
