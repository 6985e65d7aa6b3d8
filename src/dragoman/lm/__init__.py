"""Language models: backoff n-grams, estimated by interpolated modified Kneser-Ney smoothing."""

from dragoman.lm.estimate import (
    DEFAULT_FALLBACK,
    MAX_ORDER,
    Estimate,
    EstimateConfig,
    TrainingText,
    estimate,
    estimate_work,
)
from dragoman.lm.model import LanguageModel, TokenScore
from dragoman.lm.scores import Perplexity, SentenceScores

__all__ = [
    "DEFAULT_FALLBACK",
    "MAX_ORDER",
    "Estimate",
    "EstimateConfig",
    "LanguageModel",
    "Perplexity",
    "SentenceScores",
    "TokenScore",
    "TrainingText",
    "estimate",
    "estimate_work",
]
