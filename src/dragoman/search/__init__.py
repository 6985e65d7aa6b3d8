"""Decoders: from translation options and weights to forests."""

from dragoman.search.builder import PhraseOptionBuilder
from dragoman.search.chart import ChartDecoder
from dragoman.search.chart_config import ChartConfig, ChartFeatures
from dragoman.search.config import Algorithm, PhraseConfig, PhraseFeatures, Reordering, phrase15
from dragoman.search.options import PhraseOptions
from dragoman.search.phrase import PhraseDecoder
from dragoman.search.rescore import RuleRescorer
from dragoman.search.rule_builder import RuleOptionBuilder
from dragoman.search.rules import RuleContexts, RuleGaps, RuleOptions
from dragoman.search.sentences import Sentence

__all__ = [
    "Algorithm",
    "ChartConfig",
    "ChartDecoder",
    "ChartFeatures",
    "PhraseConfig",
    "PhraseDecoder",
    "PhraseFeatures",
    "PhraseOptionBuilder",
    "PhraseOptions",
    "Reordering",
    "RuleContexts",
    "RuleGaps",
    "RuleOptionBuilder",
    "RuleOptions",
    "RuleRescorer",
    "Sentence",
    "phrase15",
]
