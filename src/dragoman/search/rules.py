"""Synchronous rules of a batch of sentences, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman import _core
from dragoman.types import Float32Array, Int32Array, Int64Array

__all__ = ["RuleOptions"]


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

    @property
    def n_sentences(self) -> int:
        """How many sentences."""
        return len(self.sentence_offsets) - 1

    def native(self) -> _core.RuleBatch:
        """The batch for the core; shares the arrays."""
        return _core.RuleBatch(
            self.sentence_offsets,
            self.words,
            self.pass_through,
            self.first_pattern,
            self.symbol_offsets,
            self.symbols,
            self.first_rule,
            self.lhs,
            self.target_offsets,
            self.targets,
            self.rules,
            self.scores,
            self.feature_offsets,
            self.feature_ids,
            self.feature_values,
            len(self.labels),
        )
