"""Comparing systems on a test set: scores, their spread, and whether a difference is more than chance."""

from dragoman.evaluate.measure import Measured, SystemOutput, measure
from dragoman.evaluate.significance import (
    Interval,
    confidence_interval,
    paired_bootstrap,
    paired_randomisation,
    resampled_totals,
    shuffled_totals,
)
from dragoman.evaluate.systems import MetricScore, SystemScore, compare_systems

__all__ = [
    "Interval",
    "Measured",
    "MetricScore",
    "SystemOutput",
    "SystemScore",
    "compare_systems",
    "confidence_interval",
    "measure",
    "paired_bootstrap",
    "paired_randomisation",
    "resampled_totals",
    "shuffled_totals",
]
