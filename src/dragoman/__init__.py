"""Dragoman learns machine-translation systems discriminatively.

system = dragoman.train("train.de", "train.en", "system")
tuned = dragoman.tune(system, "dev.de", ["dev.en"], "tuned")
list(tuned.translate(["guten morgen ."]))
"""

from importlib.metadata import version as _version

from dragoman.corpus import Bitext, Vocab
from dragoman.errors import DragomanError, FailedError, InputError, MismatchError
from dragoman.pool import Pool
from dragoman.system import System, TrainConfig, train
from dragoman.tune import TuneConfig
from dragoman.tune import tune_system as tune

__version__ = _version("dragoman")

__all__ = [
    "Bitext",
    "DragomanError",
    "FailedError",
    "InputError",
    "MismatchError",
    "Pool",
    "System",
    "TrainConfig",
    "TuneConfig",
    "Vocab",
    "__version__",
    "train",
    "tune",
]
