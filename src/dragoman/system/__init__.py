"""Systems: folders of tables and weights that translate; training one from parallel text."""

from dragoman.system.explain import Contribution, Explanation, Piece
from dragoman.system.hiero_files import export_hiero, import_hiero
from dragoman.system.live import LiveDecoder
from dragoman.system.moses import export_moses, import_moses
from dragoman.system.raw import RawText
from dragoman.system.settings import (
    DEFAULT_REORDERING,
    REORDERING,
    DenseSet,
    ModelKind,
    SystemSettings,
    TextSettings,
    reordering_by_name,
)
from dragoman.system.stages import Monitor, Silent, Stage
from dragoman.system.system import System, SystemView
from dragoman.system.train import TrainConfig, train
from dragoman.system.translator import Preset, Translator
from dragoman.system.tuned import save_tuned

__all__ = [
    "DEFAULT_REORDERING",
    "REORDERING",
    "Contribution",
    "DenseSet",
    "Explanation",
    "LiveDecoder",
    "ModelKind",
    "Monitor",
    "Piece",
    "Preset",
    "RawText",
    "Silent",
    "Stage",
    "System",
    "SystemSettings",
    "SystemView",
    "TextSettings",
    "TrainConfig",
    "Translator",
    "export_hiero",
    "export_moses",
    "import_hiero",
    "import_moses",
    "reordering_by_name",
    "save_tuned",
    "train",
]
