"""Dragoman learns machine-translation systems discriminatively.

system = dragoman.train("train.de", "train.en", "system")
tuned = dragoman.tune(system, "dev.de", ["dev.en"], "tuned")
list(tuned.translate(["guten morgen ."]))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.candidates import Pool
    from dragoman.corpus import Bitext, Vocab
    from dragoman.errors import DragomanError, FailedError, InputError, MismatchError
    from dragoman.system import System
    from dragoman.system.train import TrainConfig, train
    from dragoman.tuning import TuneConfig
    from dragoman.tuning import tune_system as tune

    __version__: str

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

# Imported when they are first used: the command line, and whoever wants one part, need not wait for all.
_HOMES = {
    "corpus": ("Bitext", "Vocab"),
    "errors": ("DragomanError", "FailedError", "InputError", "MismatchError"),
    "candidates": ("Pool",),
    "system": ("System", "TrainConfig", "train"),
    "tuning": ("TuneConfig", "tune"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("dragoman")
    elif name in _HOME_OF:
        module = import_module(f"dragoman.{_HOME_OF[name]}")
        value = getattr(module, "tune_system" if name == "tune" else name)
    else:
        raise AttributeError(f"module 'dragoman' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
