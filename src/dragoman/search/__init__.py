"""Decoders: from translation options and weights to forests."""

from dragoman._core import PhraseBatch, RuleBatch
from dragoman.search.blocks import SearchBlocks
from dragoman.search.chart_builder import RuleOptionBuilder
from dragoman.search.chart_config import ChartConfig, ChartFeatures
from dragoman.search.chart_decoder import ChartDecoder
from dragoman.search.derivation_features import DerivationFeatures
from dragoman.search.forced import Forced, ForcedConfig, ForcedPairs
from dragoman.search.phrase_builder import PhraseOptionBuilder
from dragoman.search.phrase_config import Algorithm, PhraseConfig, PhraseFeatures, phrase15
from dragoman.search.phrase_decoder import PhraseDecoder
from dragoman.search.phrase_reference import PhraseReferenceParser
from dragoman.search.reference import EdgeKind, Reach, ReferenceConfig, ReferenceForests, ReferenceParser
from dragoman.search.sentences import EncodedSentences, Sentence, Sentences

__all__ = [
    "Algorithm",
    "ChartConfig",
    "ChartDecoder",
    "ChartFeatures",
    "DerivationFeatures",
    "EdgeKind",
    "EncodedSentences",
    "Forced",
    "ForcedConfig",
    "ForcedPairs",
    "PhraseBatch",
    "PhraseConfig",
    "PhraseDecoder",
    "PhraseFeatures",
    "PhraseOptionBuilder",
    "PhraseReferenceParser",
    "Reach",
    "ReferenceConfig",
    "ReferenceForests",
    "ReferenceParser",
    "RuleBatch",
    "RuleOptionBuilder",
    "SearchBlocks",
    "Sentence",
    "Sentences",
    "phrase15",
]
