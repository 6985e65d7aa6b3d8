"""Grammars: phrase pairs with counts per fold, extraction, scored views, Moses' tables."""

from dragoman.grammar.config import ExtractConfig, Reordering, ReorderingKind, Smoothing, ViewConfig
from dragoman.grammar.grammar import Grammar, extract
from dragoman.grammar.view import OptionArrays, PhraseOption, View

__all__ = [
    "ExtractConfig",
    "Grammar",
    "OptionArrays",
    "PhraseOption",
    "Reordering",
    "ReorderingKind",
    "Smoothing",
    "View",
    "ViewConfig",
    "extract",
]
