"""Grammars: phrase pairs or rules with counts per fold, extraction, scored views, other toolkits' tables."""

from dragoman.grammar.config import (
    PhraseExtraction,
    PhraseSmoothing,
    PhraseViewConfig,
    Reordering,
    ReorderingKind,
    RuleCut,
    RuleExtraction,
    RuleViewConfig,
)
from dragoman.grammar.grammar import Grammar, extract_phrases, extract_rules
from dragoman.grammar.phrase_view import OptionArrays, PhraseOption, PhraseView
from dragoman.grammar.rule_view import RULE_SCORES, Rule, RuleKind, RuleView, is_nonterminal, nonterminal_of

__all__ = [
    "RULE_SCORES",
    "Grammar",
    "OptionArrays",
    "PhraseExtraction",
    "PhraseOption",
    "PhraseSmoothing",
    "PhraseView",
    "PhraseViewConfig",
    "Reordering",
    "ReorderingKind",
    "Rule",
    "RuleCut",
    "RuleExtraction",
    "RuleKind",
    "RuleView",
    "RuleViewConfig",
    "extract_phrases",
    "extract_rules",
    "is_nonterminal",
    "nonterminal_of",
]
