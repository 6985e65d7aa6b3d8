"""Settings of chart search, and the dense features of the chart decoder."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dragoman.settings import Record

__all__ = ["ChartConfig", "ChartFeatures"]

_PROBABILITIES = ("p_e_f", "p_f_e", "lex_e_f", "lex_f_e")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartConfig(Record):
    """Settings of hierarchical search. The pop limit trades speed for model score (docs/search.md)."""

    pop_limit: int = 200
    """Cube pruning pops per span and label, for each source word of the span (at most `max_span`)."""
    beam: float = math.inf
    """Candidates worse than the best of their span and label by more than this (in score) are dropped."""
    rule_limit: int | None = 20
    """Rules kept of a source side for each left-hand side, the best by weighted score with the language model's opinion
    of their words; None: all."""
    max_span: int | None = 20
    """Maximum number of source words a rule may cover; glue rules combine the rest. None: no limit."""
    goal: str = "S"
    """The start symbol. A sentence is derived by a rule with this left-hand side, or by glue rules."""
    glue_labels: tuple[str, ...] | None = None
    """Labels of items that may be glued; None: all but the goal. Without any, rules must build the whole sentence."""
    unknown_labels: tuple[str, ...] | None = None
    """Labels of out-of-vocabulary words; None: the first of the rules' labels."""
    max_words: int = 300
    """Words of a sentence at most: each takes up to 3 MB with the default pop limit, and up to 8 MB with `accurate`."""

    def _check(self) -> None:
        if self.pop_limit < 1:
            raise ValueError("the pop limit must be at least 1")
        if not self.beam >= 0:
            raise ValueError(f"the beam must not be negative, but is {self.beam}")
        if self.rule_limit is not None and self.rule_limit < 1:
            raise ValueError("the rule limit must be at least 1; None means that there is none")
        if self.max_span is not None and self.max_span < 1:
            raise ValueError("rules must be allowed to cover at least one word; None means no limit")
        if self.max_words < 1:
            raise ValueError(f"max_words must be at least 1, not {self.max_words}")

    @classmethod
    def fast(cls, *, max_span: int | None = 20) -> ChartConfig:
        """The preset behind `--fast`."""
        return cls(pop_limit=80, max_span=max_span)

    @classmethod
    def accurate(cls, *, max_span: int | None = 20) -> ChartConfig:
        """The preset behind `--accurate`."""
        return cls(pop_limit=500, max_span=max_span)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartFeatures(Record):
    """Names of the dense features; None: not computed. `scores` are those of the rules' score columns."""

    lm: str = "lm"
    lm_oov: str | None = None
    scores: tuple[str, ...] = _PROBABILITIES
    words: str = "words"
    rules: str | None = "rules"
    arities: tuple[str, ...] = ()
    """Counts of rules with 0, 1, … nonterminals; rules with more nonterminals than names are not counted."""
    glue: str = "glue"
    unknown: str | None = None

    def _check(self) -> None:
        names = self.names()
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"duplicate feature {twice[0]!r}")

    @classmethod
    def chiang8(cls) -> ChartFeatures:
        """The eight of Chiang (2007), HOLS and FastForest."""
        return cls()

    @classmethod
    def full14(cls) -> ChartFeatures:
        """Fourteen, RM's size: with unknown words, counts and arities."""
        return cls(
            lm_oov="lm_oov",
            scores=(*_PROBABILITIES, "count_log", "singleton"),
            rules=None,
            arities=("arity_0", "arity_1", "arity_2"),
            unknown="unknown",
        )

    def names(self) -> tuple[str, ...]:
        """Names of all computed dense features."""
        given = (self.lm, self.lm_oov, *self.scores, self.words, self.rules, *self.arities, self.glue, self.unknown)
        return tuple(name for name in given if name is not None)
