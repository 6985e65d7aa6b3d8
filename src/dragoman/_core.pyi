"""The native core. One stub per bound name; tests check that none is missing."""

import enum
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

class FeatureIndex:
    def __init__(self, key_bits: int = 64) -> None: ...
    def __len__(self) -> int: ...
    def intern(self, name: str) -> int: ...
    def find(self, name: str) -> int: ...
    def name(self, id: int) -> str: ...
    def names(self, ids: NDArray[np.int32]) -> list[str]: ...
    def keys(self) -> NDArray[np.uint64]: ...
    def extend(self, other: FeatureIndex) -> NDArray[np.int32]: ...
    def intern_lines(self, block: bytes) -> NDArray[np.int32]: ...
    def lines(self, begin: int, end: int) -> bytes: ...

_ForestArrays = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
]
_KBest = tuple[
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
]

class Forest:
    n_nodes: int
    n_edges: int
    n_instances: int
    n_bytes: int
    def arrays(self) -> _ForestArrays: ...
    def edge_scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def inside(self, weights: NDArray[np.float64], sum: bool) -> NDArray[np.float64]: ...
    def marginals(self, weights: NDArray[np.float64], sum: bool) -> NDArray[np.float64]: ...
    def pruned(self, weights: NDArray[np.float64], threshold: float, sum: bool) -> Forest: ...
    def expected_features(
        self, weights: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.int32], NDArray[np.float64]]: ...
    def tokens(self, edges: NDArray[np.int32]) -> NDArray[np.int32]: ...
    def features(self, edges: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...

def forest_of_arrays(
    nodes: NDArray[np.int32],
    rules: NDArray[np.int64],
    spans: NDArray[np.int32],
    symbol_offsets: NDArray[np.int64],
    symbols: NDArray[np.int32],
    local_offsets: NDArray[np.int64],
    local_ids: NDArray[np.int32],
    local_values: NDArray[np.float32],
    node_edges: NDArray[np.int64],
    instances: NDArray[np.int32],
    tail_offsets: NDArray[np.int64],
    tails: NDArray[np.int32],
    feature_offsets: NDArray[np.int64],
    feature_ids: NDArray[np.int32],
    feature_values: NDArray[np.float32],
) -> Forest: ...
def kbest(forests: list[Forest], weights: NDArray[np.float64], k: int, distinct: bool, n_threads: int) -> _KBest: ...
def read_hypergraph(text: bytes, words: WordTable, features: FeatureIndex) -> Forest: ...
def write_hypergraph(forest: Forest, words: WordTable, own_words: list[bytes], features: FeatureIndex) -> bytes: ...
class PhraseBatch:
    def __init__(
        self,
        pass_offsets: NDArray[np.int64],
        pass_through: NDArray[np.int32],
        first: NDArray[np.int64],
        begin: NDArray[np.int32],
        end: NDArray[np.int32],
        target_offsets: NDArray[np.int64],
        targets: NDArray[np.int32],
        rules: NDArray[np.int64],
        scores: NDArray[np.float32],
        orientations: NDArray[np.float32],
        feature_offsets: NDArray[np.int64],
        feature_ids: NDArray[np.int32],
        feature_values: NDArray[np.float32],
    ) -> None: ...

class PhraseDecoder:
    def __init__(
        self,
        stack_size: int,
        pop_limit: int,
        beam: float,
        option_limit: int,
        distortion_limit: int,
        lm_feature: int,
        words: int,
        phrases: int,
        unknown: int,
        distortion: int,
        scores: list[int],
        reordering: list[tuple[bool, int, list[int], list[int]]],
        lm: LmModel | None,
        lm_words: NDArray[np.int32],
    ) -> None: ...
    def decode(
        self, batch: PhraseBatch, weights: NDArray[np.float64], n_threads: int, progress: Callable[[int], None] | None
    ) -> list[Forest]: ...
    def kbest(
        self,
        batch: PhraseBatch,
        weights: NDArray[np.float64],
        k: int,
        distinct: bool,
        n_threads: int,
        progress: Callable[[int], None] | None,
    ) -> _KBest: ...

def feature_key(name: str) -> int: ...

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

class LmModel:
    order: int
    n_ngrams: list[int]
    words: WordTable
    def score_text(
        self,
        block: bytes,
        first_line: int,
        bos: bool,
        eos: bool,
        n_threads: int,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
    def score_ids(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        bos: bool,
        eos: bool,
        n_threads: int,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
    def full_scores(
        self, ids: NDArray[np.int32], bos: bool, eos: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]: ...
    def file_pieces(self) -> list[memoryview]: ...

class LmPiece:
    score: float

class ArpaReader:
    def __init__(self) -> None: ...
    def feed(self, block: bytes) -> None: ...
    def finish(self) -> LmModel: ...

class ArpaWriter:
    def __init__(self, model: LmModel) -> None: ...
    def next_block(self) -> bytes: ...

class LmText:
    n_sentences: int
    n_tokens: int
    def __init__(self) -> None: ...
    def add(
        self,
        offsets: NDArray[np.int64],
        ids: NDArray[np.int32],
        n_words: int,
        marks: NDArray[np.uint8] | None = None,
        excluded: int = -1,
    ) -> None: ...

def load_lm(descriptor: int, verify: bool) -> LmModel: ...
def join_pieces(model: LmModel, items: list[int | LmPiece], begins_sentence: bool) -> LmPiece: ...
def estimate_lm(
    text: LmText,
    words: WordTable,
    order: int,
    prune: list[int],
    fallback: tuple[float, float, float] | None,
    progress: Callable[[int], None] | None = None,
) -> tuple[LmModel, list[tuple[float, float, float]], list[int]]: ...
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
