"""Corpora: vocabularies, memory-mapped bitexts, cleaning, statistics, splitting, word classes."""

from dragoman.corpus.bitext import MAX_FOLDS, Bitext, Side, read_folds
from dragoman.corpus.classes import (
    DEFAULT_ITERATIONS,
    Clustering,
    LearnedClasses,
    WordClasses,
    check_class_sizes,
    clustering_work,
    learn_classes,
)
from dragoman.corpus.clean import CleanConfig, Cleaner, DropReason, Duplicates, count_words
from dragoman.corpus.pairs import PairFiles, read_tsv
from dragoman.corpus.split import Parts, split_pairs
from dragoman.corpus.stats import SideStats, TextStats, describe_files
from dragoman.corpus.tmx import read_tmx
from dragoman.corpus.vocab import BOS, EOS, UNK, Vocab, VocabBuilder

__all__ = [
    "BOS",
    "DEFAULT_ITERATIONS",
    "EOS",
    "MAX_FOLDS",
    "UNK",
    "Bitext",
    "CleanConfig",
    "Cleaner",
    "Clustering",
    "DropReason",
    "Duplicates",
    "LearnedClasses",
    "PairFiles",
    "Parts",
    "Side",
    "SideStats",
    "TextStats",
    "Vocab",
    "VocabBuilder",
    "WordClasses",
    "check_class_sizes",
    "clustering_work",
    "count_words",
    "describe_files",
    "learn_classes",
    "read_folds",
    "read_tmx",
    "read_tsv",
    "split_pairs",
]
