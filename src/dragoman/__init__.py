"""Dragoman learns machine-translation systems discriminatively.

system = dragoman.train("train.de", "train.en", "system")
tuned = dragoman.tune(system, "dev.de", "dev.en", "tuned")
list(tuned.translate(["guten morgen ."]))

pool = dragoman.Objective("bleu", dragoman.read_references("dev.en")).measure(dragoman.read_pool("dev.nbest"))
found = dragoman.tune_pool(pool, dragoman.Mira())
dragoman.rerank(dragoman.read_pool("test.nbest"), found.weights).write("test.out")
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.candidates import (
        Choice,
        Objective,
        Pool,
        load_pool,
        mbr,
        oracle,
        read_pool,
        read_references,
        rerank,
        save_pool,
        with_external,
        with_metric,
    )
    from dragoman.corpus import Bitext, Vocab
    from dragoman.errors import DragomanError, FailedError, InputError, MismatchError
    from dragoman.features import Weights, read_weights, write_weights
    from dragoman.metric import Bleu, Chrf, Ribes, Ter, Wer
    from dragoman.optim import (
        Cll,
        FastForest,
        ForestMert,
        Hils,
        Hols,
        Mert,
        Mira,
        OnlineMira,
        OnlineRm,
        Perceptron,
        Pro,
        Rampion,
        Rm,
        SoftRamp,
        Svm,
        Xbleu,
    )
    from dragoman.system import System
    from dragoman.system.train import TrainConfig, train
    from dragoman.tuning import LoopSettings, TuneConfig, TuneRecord, tune_pool
    from dragoman.tuning import tune_system as tune

    __version__: str

__all__ = [
    "Bitext",
    "Bleu",
    "Choice",
    "Chrf",
    "Cll",
    "DragomanError",
    "FailedError",
    "FastForest",
    "ForestMert",
    "Hils",
    "Hols",
    "InputError",
    "LoopSettings",
    "Mert",
    "Mira",
    "MismatchError",
    "Objective",
    "OnlineMira",
    "OnlineRm",
    "Perceptron",
    "Pool",
    "Pro",
    "Rampion",
    "Ribes",
    "Rm",
    "SoftRamp",
    "Svm",
    "System",
    "Ter",
    "TrainConfig",
    "TuneConfig",
    "TuneRecord",
    "Vocab",
    "Weights",
    "Wer",
    "Xbleu",
    "__version__",
    "load_pool",
    "mbr",
    "oracle",
    "read_pool",
    "read_references",
    "read_weights",
    "rerank",
    "save_pool",
    "train",
    "tune",
    "tune_pool",
    "with_external",
    "with_metric",
    "write_weights",
]

# Imported when they are first used: the command line, and whoever wants one part, need not wait for all.
_HOMES = {
    "candidates": (
        "Choice Objective Pool load_pool mbr oracle read_pool read_references rerank save_pool with_external "
        "with_metric"
    ),
    "corpus": "Bitext Vocab",
    "errors": "DragomanError FailedError InputError MismatchError",
    "features": "Weights read_weights write_weights",
    "metric": "Bleu Chrf Ribes Ter Wer",
    "optim": (
        "Cll FastForest ForestMert Hils Hols Mert Mira OnlineMira OnlineRm Perceptron Pro Rampion Rm SoftRamp Svm Xbleu"
    ),
    "system": "System TrainConfig train",
    "tuning": "LoopSettings TuneConfig TuneRecord tune_pool tune",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker knows the names above, and should find others misspelt

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            value = version("dragoman")
        elif name in _HOME_OF:
            module = import_module(f"dragoman.{_HOME_OF[name]}")
            value = getattr(module, "tune_system" if name == "tune" else name)
        elif not name.startswith("_") and find_spec(f"dragoman.{name}") is not None:
            return import_module(f"dragoman.{name}")
        else:
            raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The names of this page and the packages they come from."""
    from pkgutil import iter_modules

    packages = (module.name for module in iter_modules(__path__) if not module.name.startswith("_"))
    return sorted({*__all__, *packages})
