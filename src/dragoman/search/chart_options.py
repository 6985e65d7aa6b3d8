"""Synchronous rules of a batch of sentences, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dragoman import _core
from dragoman.types import Float32Array, Int32Array, Int64Array

__all__ = ["RuleContexts", "RuleGaps", "RuleOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleContexts:
    """Features that rules have because of the sentence's words beside theirs.

    A place is where words of a pattern that stand side by side may stand in the sentence; a match of the pattern has
    one for each such run of words. Pattern p has the places `first_place[p]` to `first_place[p + 1]`.
    """

    first_place: Int64Array
    symbols: Int32Array
    """The first symbol of the run, counted in the pattern."""
    positions: Int32Array
    """Where it stands in the sentence."""
    first_row: Int64Array
    """Place k has the rows `first_row[k]` to `first_row[k + 1]`, one for each rule of the pattern."""
    feature_offsets: Int64Array
    feature_ids: Int32Array
    feature_values: Float32Array

    def native(self) -> _core.RuleContexts:
        """For the core; shares the arrays."""
        return _core.RuleContexts(*(getattr(self, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGaps:
    """Features that rules have because of how many words their nonterminals cover."""

    first_class: Int64Array
    """Pattern p has the classes `first_class[p]` to `first_class[p + 1]`: rule by rule, those of its nonterminals."""
    classes: Int32Array
    max_length: int
    """Longer nonterminals are taken to be as long."""
    feature_offsets: Int64Array
    """Row: class * max_length + length - 1."""
    feature_ids: Int32Array
    feature_values: Float32Array

    def native(self) -> _core.RuleGaps:
        """For the core; shares the arrays."""
        return _core.RuleGaps(*(getattr(self, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """What a chart decoder may use: for every sentence the source sides (patterns) that may match, each with its rules.

    Sentence s has the source words `sentence_offsets[s]` to `sentence_offsets[s + 1]` and the patterns
    `first_pattern[s]` to `first_pattern[s + 1]`; pattern p has the rules `first_rule[p]` to `first_rule[p + 1]`. The
    decoder finds where a pattern matches. Local features are here once for each rule; the decoder adds words, rules,
    arities, glue, unknown, lm and lm_oov.
    """

    sentence_offsets: Int64Array
    words: Int32Array
    """Source word ids; a word unknown to the grammar has any id that no pattern uses, but not a negative one."""
    pass_through: Int32Array
    """For every source word the target id it is passed through as when no rule covers just it."""
    first_pattern: Int64Array
    symbol_offsets: Int64Array
    symbols: Int32Array
    """Source sides: words as ids; a nonterminal with label L is -1 - L. Those of a sentence are distinct and ascend."""
    first_rule: Int64Array
    lhs: Int32Array
    """Label of each rule's left-hand side."""
    target_offsets: Int64Array
    targets: Int32Array
    """Target sides: words as ids; -1 - i is the i-th nonterminal of the source side. Each stands exactly once."""
    rules: Int64Array
    """The grammar's id of each rule."""
    scores: Float32Array
    """Rules x dense scores."""
    feature_offsets: Int64Array
    feature_ids: Int32Array
    feature_values: Float32Array
    """Sparse local features."""
    labels: tuple[str, ...] = ("X",)
    """Names of the labels."""
    contexts: RuleContexts | None = None
    gaps: RuleGaps | None = None
    """Sparse features that depend on where a rule is applied."""

    @property
    def n_sentences(self) -> int:
        return len(self.sentence_offsets) - 1

    def native(self) -> _core.RuleBatch:
        """The batch for the core; shares the arrays."""
        arrays = [
            getattr(self, field.name) for field in fields(self) if field.name not in ("labels", "contexts", "gaps")
        ]
        contexts = None if self.contexts is None else self.contexts.native()
        gaps = None if self.gaps is None else self.gaps.native()
        return _core.RuleBatch(*[*arrays, len(self.labels), contexts, gaps])
