"""Tuning: weights from candidate lists, fixed or made by a decoder round after round."""

from dragoman.tune.command import PLACEHOLDERS, CommandTemplate
from dragoman.tune.command_decoder import CommandDecoder, CommandSettings
from dragoman.tune.decoder import Decoder, DecodingRound, RoundAware
from dragoman.tune.fixed import tune_pool
from dragoman.tune.loop import Between, Keep, LoopSettings, Measure, Step, tune_decoder
from dragoman.tune.record import Learned, RoundRecord, TuneRecord
from dragoman.tune.settings import build_optimiser, describe_settings
from dragoman.tune.system import SystemDecoder, TuneConfig, tune_system

__all__ = [
    "PLACEHOLDERS",
    "Between",
    "CommandDecoder",
    "CommandSettings",
    "CommandTemplate",
    "Decoder",
    "DecodingRound",
    "Keep",
    "Learned",
    "LoopSettings",
    "Measure",
    "RoundAware",
    "RoundRecord",
    "Step",
    "SystemDecoder",
    "TuneConfig",
    "TuneRecord",
    "build_optimiser",
    "describe_settings",
    "tune_decoder",
    "tune_pool",
    "tune_system",
]
