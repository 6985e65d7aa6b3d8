"""Systems: folders of tables and weights that translate; training one from parallel text."""

from dragoman.corpus.tokens import TextSettings
from dragoman.system.candidates import intern_passed, words_of
from dragoman.system.exchange import export_system, import_system
from dragoman.system.explain import Contribution, Explanation, Piece, TreeNode
from dragoman.system.folds import FoldDecoder
from dragoman.system.force import Difference, ForcedExplanation, Verdict
from dragoman.system.jobs import (
    LineListsJob,
    ListsJob,
    TranslationJob,
    kbest_by_engine,
    kbest_of_lines,
    pool_of_lists,
)
from dragoman.system.kinds import KINDS, Kind, kind_named
from dragoman.system.live import LiveDecoder
from dragoman.system.live_lines import LineBlock, Lines, LiveLines
from dragoman.system.settings import (
    REORDERING,
    DenseSet,
    HieroSettings,
    ModelSettings,
    PhraseSettings,
    SystemSettings,
    reordering_by_name,
)
from dragoman.system.stages import Monitor, Silent
from dragoman.system.system import System
from dragoman.system.text import LineTranslation, LongLines, check_lengths
from dragoman.system.train import TrainConfig, train
from dragoman.system.training import SHARD_LINES, TrainingLines, digest_lines, draw_fold, sample_lines, shards
from dragoman.system.translator import Preset, Translator
from dragoman.system.tuned import save_tuned
from dragoman.system.unknown import UnknownWords, other_kind, unknown_source, unknown_target
from dragoman.system.view import SystemView

__all__ = [
    "KINDS",
    "REORDERING",
    "SHARD_LINES",
    "Contribution",
    "DenseSet",
    "Difference",
    "Explanation",
    "FoldDecoder",
    "ForcedExplanation",
    "HieroSettings",
    "Kind",
    "LineBlock",
    "LineListsJob",
    "LineTranslation",
    "Lines",
    "ListsJob",
    "LiveDecoder",
    "LiveLines",
    "LongLines",
    "ModelSettings",
    "Monitor",
    "PhraseSettings",
    "Piece",
    "Preset",
    "Silent",
    "System",
    "SystemSettings",
    "SystemView",
    "TextSettings",
    "TrainConfig",
    "TrainingLines",
    "TranslationJob",
    "Translator",
    "TreeNode",
    "UnknownWords",
    "Verdict",
    "check_lengths",
    "digest_lines",
    "draw_fold",
    "export_system",
    "import_system",
    "intern_passed",
    "kbest_by_engine",
    "kbest_of_lines",
    "kind_named",
    "other_kind",
    "pool_of_lists",
    "reordering_by_name",
    "sample_lines",
    "save_tuned",
    "shards",
    "train",
    "unknown_source",
    "unknown_target",
    "words_of",
]
