"""Tuning: weights from candidate lists, fixed or made by a decoder round after round."""

from dragoman.tune.command import CommandTemplate
from dragoman.tune.command_decoder import CommandDecoder, CommandSettings
from dragoman.tune.crossval import START, FoldScore, MethodComparison, best_method, cross_validate, deal_sentences
from dragoman.tune.decoder import Decoder, DecodingRound
from dragoman.tune.fixed import tune_pool
from dragoman.tune.loop import Between, Keep, LoopSettings, Measure, Stateful, Step, tune_decoder
from dragoman.tune.online import OnlineTuner
from dragoman.tune.record import Learned, RoundRecord, TuneRecord
from dragoman.tune.settings import (
    Method,
    OnlineMethod,
    OnlineSettings,
    build_method,
    build_optimiser,
    build_record,
    describe_settings,
)
from dragoman.tune.system import SystemDecoder, TuneConfig, keep_tuned, tune_system

__all__ = [
    "START",
    "Between",
    "CommandDecoder",
    "CommandSettings",
    "CommandTemplate",
    "Decoder",
    "DecodingRound",
    "FoldScore",
    "Keep",
    "Learned",
    "LoopSettings",
    "Measure",
    "Method",
    "MethodComparison",
    "OnlineMethod",
    "OnlineSettings",
    "OnlineTuner",
    "RoundRecord",
    "Stateful",
    "Step",
    "SystemDecoder",
    "TuneConfig",
    "TuneRecord",
    "best_method",
    "build_method",
    "build_optimiser",
    "build_record",
    "cross_validate",
    "deal_sentences",
    "describe_settings",
    "keep_tuned",
    "tune_decoder",
    "tune_pool",
    "tune_system",
]
