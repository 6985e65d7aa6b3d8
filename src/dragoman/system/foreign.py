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
"""What Moses adds for each word passed through, times its weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTables:
    """A grammar in text and what lies beside it."""

    grammar: Path
    lm: Path | None
    others: Mapping[str, Path | None]
    """Everything else that is read, by what it is."""
    read: Callable[[PathLike, int, Progress], Grammar]
    """Reads the grammar into a folder, with that many threads."""
    settle: Callable[[Grammar], tuple[ModelSettings, dict[str, float]]]
    """Settings that go with the grammar, and weights."""


def find_one(base: Path, *patterns: str) -> Path | None:
    """The file that matches a pattern, of the first pattern that has any. Raises InputError when there are several."""
    for pattern in patterns:
        found = sorted(path for path in base.glob(pattern) if path.is_file())
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise InputError(f"which is meant: {names}? leave one of them there", path=base)
        if found:
            return found[0]
    return None


def weight_of(weights: Mapping[str, float], name: str, path: PathLike) -> float:
    """A weight that a file must have."""
    if name not in weights:
        raise InputError(f"the weights lack {name}", path=path)
    return weights[name]
