"""Comparison of systems on a test set: scores, standard deviations and significance tests."""

from dragoman.evaluate.column import LEVEL
from dragoman.evaluate.errors import ERROR_KINDS, error_profile, function_words_of
from dragoman.evaluate.measure import Measured, SystemOutput, measure
from dragoman.evaluate.outputs import Outputs, load_outputs
from dragoman.evaluate.rows import PairedTest, Row, RowKey, RowScore, RunComparison, Within
from dragoman.evaluate.runs import compare_runs
from dragoman.evaluate.shown import (
    Mark,
    Shown,
    comparison_header,
    comparison_html,
    comparison_rows,
    legend,
    mark_of,
    plus_minus,
)
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
    "ERROR_KINDS",
    "LEVEL",
    "Interval",
    "Mark",
    "Measured",
    "MetricScore",
    "Outputs",
    "PairedTest",
    "Row",
    "RowKey",
    "RowScore",
    "RunComparison",
    "Shown",
    "SystemOutput",
    "SystemScore",
    "Within",
    "compare_runs",
    "compare_systems",
    "comparison_header",
    "comparison_html",
    "comparison_rows",
    "confidence_interval",
    "error_profile",
    "function_words_of",
    "legend",
    "load_outputs",
    "mark_of",
    "measure",
    "paired_bootstrap",
    "paired_randomisation",
    "plus_minus",
    "resampled_totals",
    "shuffled_totals",
]
