"""Settings of phrase-based search, and the dense features of the decoder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from dragoman.grammar import Reordering
from dragoman.settings import Record

__all__ = ["Algorithm", "PhraseConfig", "PhraseFeatures", "phrase15"]


class Algorithm(Enum):
    """How the hypotheses of a stack are generated."""

    CUBE_PRUNING = "cube"
    """The most promising combinations of hypotheses and phrases, up to the pop limit."""
    STACK = "stack"
    """All combinations of hypotheses and phrases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseConfig(Record):
    """Settings of phrase-based search. Pop limit and stack size trade speed for model score."""

    algorithm: Algorithm = Algorithm.CUBE_PRUNING
    stack_size: int = 600
    pop_limit: int = 600
    """Cube pruning pops per stack."""
    beam: float = math.inf
    """Hypotheses worse than the best of their stack by more than this (in score) are dropped."""
    option_limit: int | None = 20
    """Options kept of a source span, the best by weighted score with the language model's opinion; None: all."""
    distortion_limit: int | None = 6
    """Longest jump in source words; None: no limit."""
    max_words: int = 1000
    """Words of a sentence at most; without a limit of jumps, memory grows with their square."""

    def _check(self) -> None:
        if self.stack_size < 1 or self.pop_limit < 1:
            raise ValueError("stack_size and pop_limit must be at least 1")
        if self.option_limit is not None and self.option_limit < 1:
            raise ValueError("the option limit must be at least 1; None means that there is none")
        if not self.beam >= 0:
            raise ValueError(f"the beam must not be negative, but is {self.beam}")
        if self.distortion_limit is not None and self.distortion_limit < 0:
            raise ValueError("the distortion limit must not be negative; None means that there is none")
        if self.max_words < 1:
            raise ValueError(f"max_words must be at least 1, not {self.max_words}")

    @classmethod
    def fast(cls, *, distortion_limit: int | None = 6) -> PhraseConfig:
        """The preset behind `--fast`."""
        return cls(stack_size=250, pop_limit=250, distortion_limit=distortion_limit)

    @classmethod
    def accurate(cls, *, distortion_limit: int | None = 6) -> PhraseConfig:
        """The preset behind `--accurate`."""
        return cls(stack_size=600, pop_limit=2000, distortion_limit=distortion_limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseFeatures(Record):
    """Names of the dense features. `scores` are those of the options' score columns.

    An option's orientation columns are those of each reordering model: backward (a phrase after what came before), then
    forward (before what comes next). Their features begin with `reorder`, those of a hierarchical model beside another
    with `hrm`.
    """

    lm: str = "lm"
    words: str = "words"
    phrases: str = "phrases"
    unknown: str = "unknown"
    distortion: str = "distortion"
    scores: tuple[str, ...] = ("p_e_f", "p_f_e", "lex_e_f", "lex_f_e")
    reordering: tuple[Reordering, ...] = (Reordering(),)

    def _check(self) -> None:
        names = self.names()
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"duplicate feature {twice[0]!r}")

    @property
    def n_orientation_columns(self) -> int:
        """Number of orientation scores per option."""
        return sum(2 * model.n_orientations for model in self.reordering)

    def reordering_names(self) -> list[list[str]]:
        """Features of each reordering model, backward then forward."""
        beside = len(self.reordering) > 1
        prefixes = ["hrm" if model.is_hierarchical and beside else "reorder" for model in self.reordering]
        return [[f"{p}_{name}" for name in model.names()] for p, model in zip(prefixes, self.reordering, strict=True)]

    def names(self) -> tuple[str, ...]:
        """All dense features, in the order of the tables in the documentation."""
        orientations = chain.from_iterable(self.reordering_names())
        return (self.lm, *self.scores, self.words, self.phrases, self.unknown, self.distortion, *orientations)


def phrase15() -> PhraseFeatures:
    """The fifteen dense features of a phrase-based system (PRO's size)."""
    return PhraseFeatures()
