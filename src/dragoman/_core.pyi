"""The native core. One stub per bound name; tests check that none is missing."""

import enum

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

class ReferenceLength(enum.Enum):
    CLOSEST = 0
    SHORTEST = 1
    AVERAGE = 2

def bleu_statistics(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    order: int,
    length: ReferenceLength,
    threads: int,
) -> NDArray[np.float64]: ...
def chrf_statistics(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    character_offsets: NDArray[np.int64],
    characters: NDArray[np.int32],
    piece_offsets: NDArray[np.int64],
    pieces: NDArray[np.int32],
    char_order: int,
    word_order: int,
    beta: float,
    threads: int,
) -> NDArray[np.float64]: ...
def ter_statistics(
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    sentence: NDArray[np.int32],
    ref_offsets: NDArray[np.int64],
    ref_word_offsets: NDArray[np.int64],
    ref_ids: NDArray[np.int32],
    threads: int,
) -> NDArray[np.float64]: ...
