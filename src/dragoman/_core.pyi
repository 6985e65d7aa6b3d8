"""The native core. One stub per bound name; tests check that none is missing."""

import enum
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

class WordTable:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def intern(self, word: bytes) -> int: ...
    def find(self, word: bytes) -> int: ...
    def word(self, id: int) -> bytes: ...
    def blob(self) -> bytes: ...
    def offsets(self) -> NDArray[np.int64]: ...
    def encode_growing(self, block: bytes, first_line: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def encode(
        self, block: bytes, unknown: int, first_line: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...

def word_table(blob: bytes, offsets: NDArray[np.int64]) -> WordTable: ...
def assign_folds(
    table: WordTable, offsets: NDArray[np.int64], ids: NDArray[np.int32], n_folds: int, seed: int
) -> NDArray[np.uint8]: ...
def escape_word(word: bytes) -> bytes: ...
def unescape_word(word: bytes) -> bytes: ...

class Ibm2Model:
    @property
    def tension(self) -> float: ...
    def row_offsets(self) -> NDArray[np.int64]: ...
    def targets(self) -> NDArray[np.int32]: ...
    def probs(self) -> NDArray[np.float32]: ...
    def null_probs(self) -> NDArray[np.float32]: ...
    def align(
        self,
        source_offsets: NDArray[np.int64],
        source_ids: NDArray[np.int32],
        target_offsets: NDArray[np.int64],
        target_ids: NDArray[np.int32],
        n_threads: int,
    ) -> NDArray[np.int32]: ...

def train_ibm2(
    source_offsets: NDArray[np.int64],
    source_ids: NDArray[np.int32],
    target_offsets: NDArray[np.int64],
    target_ids: NDArray[np.int32],
    n_iterations: int,
    null_prob: float,
    tension: float,
    fit_tension: bool,
    alpha: float,
    max_length: int,
    n_threads: int,
    keep_model: bool,
    progress: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], Ibm2Model | None]: ...

class Heuristic(enum.Enum):
    INTERSECTION = 0
    UNION = 1
    GROW_DIAG = 2
    GROW_DIAG_AND = 3
    GROW_DIAG_FINAL = 4
    GROW_DIAG_FINAL_AND = 5
    REFINED = 6

def links_of(
    offsets: NDArray[np.int64], assignment: NDArray[np.int32], by_source: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def symmetrize_links(
    first_offsets: NDArray[np.int64],
    first_links: NDArray[np.int32],
    second_offsets: NDArray[np.int64],
    second_links: NDArray[np.int32],
    heuristic: Heuristic,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def overlap_of_links(
    first_offsets: NDArray[np.int64],
    first_links: NDArray[np.int32],
    second_offsets: NDArray[np.int64],
    second_links: NDArray[np.int32],
    n_threads: int,
) -> tuple[int, int, int]: ...
def parse_pharaoh(block: bytes, first_line: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def format_pharaoh(offsets: NDArray[np.int64], links: NDArray[np.int32], begin: int, end: int) -> bytes: ...

class PhraseSmoothing(enum.Enum):
    NONE = 0
    KNESER_NEY = 1

class ReorderingModel(enum.Enum):
    WORD = 0
    PHRASE = 1
    HIERARCHICAL = 2

class GrammarTables:
    def n_pairs(self) -> int: ...
    def n_sources(self) -> int: ...
    def find_source(self, symbols: NDArray[np.int32]) -> int: ...
    def find_pair(self, source: NDArray[np.int32], target: NDArray[np.int32]) -> int: ...
    def sides(self, pair: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...

_Options: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.uint8],
]

class GrammarView:
    def n_reordering(self) -> int: ...
    def knows_source(self, word: int) -> bool: ...
    def knows_target(self, word: int) -> bool: ...
    def options(self, sentence: NDArray[np.int32]) -> _Options: ...
    def lookup(self, source: int) -> _Options: ...
    def pair(self, pair: int) -> _Options: ...

class MosesTable:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def n_reordering(self) -> int: ...
    def add_phrases(self, block: bytes, first_line: int, source: WordTable, target: WordTable) -> None: ...
    def add_reordering(self, block: bytes, first_line: int, source: WordTable, target: WordTable) -> None: ...
    def write(
        self, folder: str, n_source_words: int, n_target_words: int, max_memory_bytes: int, n_threads: int
    ) -> dict[str, int]: ...
    def place(self, grammar: GrammarTables) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...

def extract_phrases(
    source_offsets: NDArray[np.int64],
    source_ids: NDArray[np.int32],
    target_offsets: NDArray[np.int64],
    target_ids: NDArray[np.int32],
    folds: NDArray[np.uint8],
    link_offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    n_source_words: int,
    n_target_words: int,
    folder: str,
    max_length: int,
    max_sentence_length: int,
    max_memory_bytes: int,
    n_threads: int,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]: ...
def map_grammar(arrays: dict[str, NDArray[Any]], n_given_reordering: int) -> GrammarTables: ...
def grammar_view(
    grammar: GrammarTables,
    excluded_fold: int,
    max_targets: int,
    min_count: int,
    smoothing: PhraseSmoothing,
    reordering: list[tuple[ReorderingModel, int]],
    reordering_smoothing: float,
    n_threads: int,
) -> GrammarView: ...
def format_moses(
    grammar: GrammarTables, view: GrammarView, source: WordTable, target: WordTable, begin: int, end: int
) -> tuple[bytes, bytes]: ...
