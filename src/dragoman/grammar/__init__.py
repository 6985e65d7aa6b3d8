"""Grammars: phrase pairs or rules with counts per fold, extraction, scored views, the tables of others."""

from dragoman.grammar.config import (
    ExtractConfig,
    Reordering,
    ReorderingKind,
    RuleConfig,
    RuleViewConfig,
    Smoothing,
    ViewConfig,
)
from dragoman.grammar.grammar import Grammar, extract, extract_rules
from dragoman.grammar.rule_view import RULE_SCORES, Rule, RuleKind, RuleView, is_nonterminal, nonterminal_of
from dragoman.grammar.view import OptionArrays, PhraseOption, View

__all__ = [
    "RULE_SCORES",
    "ExtractConfig",
    "Grammar",
    "OptionArrays",
    "PhraseOption",
    "Reordering",
    "ReorderingKind",
    "Rule",
    "RuleConfig",
    "RuleKind",
    "RuleView",
    "RuleViewConfig",
    "Smoothing",
    "View",
    "ViewConfig",
    "extract",
    "extract_rules",
    "is_nonterminal",
    "nonterminal_of",
]
