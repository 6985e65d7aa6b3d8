"""The native core. One stub per bound name; tests check that none is missing."""

import enum
from collections.abc import Callable

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
