"""Tuning: weights from candidate lists, fixed or made by a decoder round after round."""

from dragoman.tune.command import PLACEHOLDERS, CommandTemplate
from dragoman.tune.fixed import TuneRecord, tune_pool
from dragoman.tune.settings import build_optimiser, describe_settings

__all__ = ["PLACEHOLDERS", "CommandTemplate", "TuneRecord", "build_optimiser", "describe_settings", "tune_pool"]
