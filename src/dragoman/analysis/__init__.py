"""Comparison of systems on a test set: scores, standard deviations and significance tests."""

from dragoman.analysis.errors import ERROR_KINDS, error_profile, function_words_of
from dragoman.analysis.measure import Measured, SystemOutput, measure
from dragoman.analysis.outputs import Outputs, load_outputs, load_settings
from dragoman.analysis.primary import Primary, PrimaryResult
from dragoman.analysis.rows import START, PairedTest, Row, RowKey, RowScore, RunComparison, Within
from dragoman.analysis.runs import compare_runs
from dragoman.analysis.shown import (
    Mark,
    Shown,
    comparison_header,
    comparison_html,
    comparison_rows,
    legend,
    mark_of,
    n_runs,
    plus_minus,
    pooled_header,
    pooled_legend,
    pooled_rows,
    primary_sentence,
)
from dragoman.analysis.significance import (
    LEVEL,
    Interval,
    confidence_interval,
    holm,
    is_significant,
    paired_bootstrap,
    paired_randomisation,
    resampled_totals,
    shuffled_totals,
)
from dragoman.analysis.systems import MetricScore, SystemScore, compare_systems

__all__ = [
    "ERROR_KINDS",
    "LEVEL",
    "START",
    "Interval",
    "Mark",
    "Measured",
    "MetricScore",
    "Outputs",
    "PairedTest",
    "Primary",
    "PrimaryResult",
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
    "holm",
    "is_significant",
    "legend",
    "load_outputs",
    "load_settings",
    "mark_of",
    "measure",
    "n_runs",
    "paired_bootstrap",
    "paired_randomisation",
    "plus_minus",
    "pooled_header",
    "pooled_legend",
    "pooled_rows",
    "primary_sentence",
    "resampled_totals",
    "shuffled_totals",
]
