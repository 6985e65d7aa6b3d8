"""Dragoman learns machine-translation systems discriminatively."""

from importlib.metadata import version as _version

from dragoman.corpus import Bitext, Vocab
from dragoman.errors import DragomanError, FailedError, InputError, MismatchError

__version__ = _version("dragoman")

__all__ = ["Bitext", "DragomanError", "FailedError", "InputError", "MismatchError", "Vocab", "__version__"]
