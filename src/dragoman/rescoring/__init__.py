"""Features for candidates that came from elsewhere, by a registry: `--add NAME=ARGUMENT`."""

from dragoman.rescoring.add import AddedFeatures, add_candidate_features, describe_candidates, with_score_table
from dragoman.rescoring.base import CandidateBlock, CandidateFeature
from dragoman.rescoring.registry import CANDIDATE_FEATURES

__all__ = [
    "CANDIDATE_FEATURES",
    "AddedFeatures",
    "CandidateBlock",
    "CandidateFeature",
    "add_candidate_features",
    "describe_candidates",
    "with_score_table",
]
