"""Comparing systems on a test set: scores, their spread, and whether a difference is more than chance."""

from dragoman.evaluate.significance import (
    Interval,
    confidence_interval,
    paired_bootstrap,
    paired_randomisation,
    resampled_totals,
    shuffled_totals,
)
from dragoman.evaluate.systems import MetricScore, SystemOutput, SystemScore, compare_systems

__all__ = [
    "Interval",
    "MetricScore",
    "SystemOutput",
    "SystemScore",
    "compare_systems",
    "confidence_interval",
    "paired_bootstrap",
    "paired_randomisation",
    "resampled_totals",
    "shuffled_totals",
]
