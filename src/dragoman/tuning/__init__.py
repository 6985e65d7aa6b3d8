"""Tuning: weights from candidate lists, fixed or made by a decoder round after round."""

from dragoman.optim import LearnFrom
from dragoman.run.tunings import RESULT, Learned, RoundRecord, StepRecord, TuneRecord
from dragoman.tuning.before_after import DEVELOPMENT, TEST, BeforeAfter, raw_tokenizer
from dragoman.tuning.command import CommandTemplate
from dragoman.tuning.command_decoder import CommandDecoder, CommandSettings
from dragoman.tuning.config import TuneConfig
from dragoman.tuning.decoder import Decoder, DecodingRound
from dragoman.tuning.fixed import tune_pool
from dragoman.tuning.judge import EASILY
from dragoman.tuning.loop import Keep, LoopSettings, Phase, tune_decoder
from dragoman.tuning.moses_run import MosesRun, moses_references, read_moses_run
from dragoman.tuning.phi import LastSearch, PhiBlocks, PhiSettings, Theta, default_last
from dragoman.tuning.rounds import settings_to_come
from dragoman.tuning.step_log import OnStage
from dragoman.tuning.stored_forests import StoredForests, StoredForestsContext, dense_of, forest_pool
from dragoman.tuning.system import TUNE_RECORD, DecoderFactory, tune_system
from dragoman.tuning.system_context import SystemContext
from dragoman.tuning.system_decoder import EngineDecoder, SystemDecoder

__all__ = [
    "DEVELOPMENT",
    "EASILY",
    "RESULT",
    "TEST",
    "TUNE_RECORD",
    "BeforeAfter",
    "CommandDecoder",
    "CommandSettings",
    "CommandTemplate",
    "Decoder",
    "DecoderFactory",
    "DecodingRound",
    "EngineDecoder",
    "Keep",
    "LastSearch",
    "LearnFrom",
    "Learned",
    "LoopSettings",
    "MosesRun",
    "OnStage",
    "Phase",
    "PhiBlocks",
    "PhiSettings",
    "RoundRecord",
    "StepRecord",
    "StoredForests",
    "StoredForestsContext",
    "SystemContext",
    "SystemDecoder",
    "Theta",
    "TuneConfig",
    "TuneRecord",
    "default_last",
    "dense_of",
    "forest_pool",
    "moses_references",
    "raw_tokenizer",
    "read_moses_run",
    "settings_to_come",
    "tune_decoder",
    "tune_pool",
    "tune_system",
]
