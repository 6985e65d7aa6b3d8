"""Tuning: weights from candidate lists, fixed or made by a decoder round after round."""

from dragoman.tune.before_after import DEVELOPMENT, TEST, BeforeAfter, raw_tokenizer
from dragoman.tune.bootstrap import BootstrappedWeights, WeightInterval, bootstrap_weights
from dragoman.tune.command import CommandTemplate
from dragoman.tune.command_decoder import CommandDecoder, CommandSettings
from dragoman.tune.crossval import START, FoldScore, MethodComparison, best_method, cross_validate, deal_sentences
from dragoman.tune.curve import Curve, Stretch, curve_of, on_envelopes
from dragoman.tune.curve_features import frequent_and_rare
from dragoman.tune.decoder import Decoder, DecodingRound
from dragoman.tune.fixed import tune_pool
from dragoman.tune.judge import EASILY
from dragoman.tune.loop import Keep, LoopSettings, Measure, Step, tune_decoder
from dragoman.tune.moses_run import MosesRun, moses_references, read_moses_run
from dragoman.tune.phi import LastSearch, PhiBlocks, PhiSettings, Theta
from dragoman.tune.record import Learned, RoundRecord, StepRecord, TuneRecord
from dragoman.tune.rounds import RESULT, settings_to_come
from dragoman.tune.step_log import OnStage
from dragoman.tune.stored_forests import StoredForests, StoredForestsContext, dense_of, forest_pool
from dragoman.tune.system import (
    TUNE_RECORD,
    DecoderFactory,
    EngineDecoder,
    LearnFrom,
    SystemDecoder,
    TuneConfig,
    tune_system,
)
from dragoman.tune.system_context import SystemContext
from dragoman.tune.weight_curves import (
    Check,
    CurveConfig,
    CurveDecoder,
    Frequency,
    WeightCurve,
    system_curves,
    weight_curve,
)

__all__ = [
    "DEVELOPMENT",
    "EASILY",
    "RESULT",
    "START",
    "TEST",
    "TUNE_RECORD",
    "BeforeAfter",
    "BootstrappedWeights",
    "Check",
    "CommandDecoder",
    "CommandSettings",
    "CommandTemplate",
    "Curve",
    "CurveConfig",
    "CurveDecoder",
    "Decoder",
    "DecoderFactory",
    "DecodingRound",
    "EngineDecoder",
    "FoldScore",
    "Frequency",
    "Keep",
    "LastSearch",
    "LearnFrom",
    "Learned",
    "LoopSettings",
    "Measure",
    "MethodComparison",
    "MosesRun",
    "OnStage",
    "PhiBlocks",
    "PhiSettings",
    "RoundRecord",
    "Step",
    "StepRecord",
    "StoredForests",
    "StoredForestsContext",
    "Stretch",
    "SystemContext",
    "SystemDecoder",
    "Theta",
    "TuneConfig",
    "TuneRecord",
    "WeightCurve",
    "WeightInterval",
    "best_method",
    "bootstrap_weights",
    "cross_validate",
    "curve_of",
    "deal_sentences",
    "dense_of",
    "forest_pool",
    "frequent_and_rare",
    "moses_references",
    "on_envelopes",
    "raw_tokenizer",
    "read_moses_run",
    "settings_to_come",
    "system_curves",
    "tune_decoder",
    "tune_pool",
    "tune_system",
    "weight_curve",
]
