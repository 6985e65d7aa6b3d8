"""Tables of other toolkits, found in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import InputError
from dragoman.grammar import Grammar
from dragoman.system.settings import ModelSettings
from dragoman.types import PathLike, Progress

__all__ = ["MOSES_SCORES", "MOSES_UNKNOWN", "ForeignTables", "find_one", "weight_of"]

MOSES_SCORES = ("p_f_e", "lex_f_e", "p_e_f", "lex_e_f")
"""Our names for the scores of a Moses table, in its order."""
MOSES_UNKNOWN = -100.0
"""The value of Moses' unknown-word feature per word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTables:
    """A grammar in text form and its accompanying files."""

    grammar: Path
    lm: Path | None
    others: Mapping[str, Path | None]
    """The other input files, by role."""
    read: Callable[[PathLike, int, Progress], Grammar]
    """Reads the grammar into a folder, with the given number of threads."""
    settle: Callable[[Grammar], tuple[ModelSettings, dict[str, float]]]
    """The settings that match the grammar, and weights."""


def find_one(base: Path, *patterns: str) -> Path | None:
    """The file that matches the first matching pattern. Raises InputError if there are several."""
    for pattern in patterns:
        found = sorted(path for path in base.glob(pattern) if path.is_file())
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise InputError(f"which is meant: {names}? leave one of them there", path=base)
        if found:
            return found[0]
    return None


def weight_of(weights: Mapping[str, float], name: str, path: PathLike) -> float:
    """A required weight of a file."""
    if name not in weights:
        raise InputError(f"the weights lack {name}", path=path)
    return weights[name]
