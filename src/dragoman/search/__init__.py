"""Decoders: from translation options and weights to forests."""

from dragoman.search.builder import PhraseOptionBuilder, Sentence
from dragoman.search.config import Algorithm, PhraseConfig, PhraseFeatures, Reordering, phrase15
from dragoman.search.options import PhraseOptions
from dragoman.search.phrase import PhraseDecoder

__all__ = [
    "Algorithm",
    "PhraseConfig",
    "PhraseDecoder",
    "PhraseFeatures",
    "PhraseOptionBuilder",
    "PhraseOptions",
    "Reordering",
    "Sentence",
    "phrase15",
]
