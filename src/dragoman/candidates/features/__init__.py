"""Features for candidates that came from elsewhere, by a registry: `--add NAME=ARGUMENT`."""

from dragoman.candidates.features.add import (
    AddedFeatures,
    add_candidate_features,
    describe_candidates,
    with_score_table,
)
from dragoman.candidates.features.agreement_scale import (
    LearnedScale,
    learn_agreement_scale,
    needs_scale,
    with_learned_scales,
    with_scales_of,
)
from dragoman.candidates.features.base import CandidateBlock, CandidateFeature
from dragoman.candidates.features.registry import CANDIDATE_FEATURES, feature_makers

__all__ = [
    "CANDIDATE_FEATURES",
    "AddedFeatures",
    "CandidateBlock",
    "CandidateFeature",
    "LearnedScale",
    "add_candidate_features",
    "describe_candidates",
    "feature_makers",
    "learn_agreement_scale",
    "needs_scale",
    "with_learned_scales",
    "with_scales_of",
    "with_score_table",
]
