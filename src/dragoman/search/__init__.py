"""Decoders: from translation options and weights to forests."""

from dragoman.search.builder import PhraseOptionBuilder, Sentence
from dragoman.search.chart import ChartDecoder
from dragoman.search.chart_config import ChartConfig, ChartFeatures
from dragoman.search.config import Algorithm, PhraseConfig, PhraseFeatures, Reordering, phrase15
from dragoman.search.options import PhraseOptions
from dragoman.search.phrase import PhraseDecoder
from dragoman.search.rules import RuleOptions

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
    "RuleOptions",
    "Sentence",
    "phrase15",
]
