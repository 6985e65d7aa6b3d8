"""Words <-> int32 ids."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dragoman._core import WordTable, escape_word, unescape_word, word_table
from dragoman.errors import InputError, naming
from dragoman.text import LineBlock, read_blocks, replace_bytes
from dragoman.types import Int32Array, Int64Array, PathLike, sentences_of

__all__ = ["BOS", "EOS", "N_RESERVED", "UNK", "Vocab", "VocabBuilder"]

UNK, BOS, EOS = 0, 1, 2
_RESERVED = (b"<unk>", b"<s>", b"</s>")
N_RESERVED = len(_RESERVED)
"""Ids below are no words of a corpus."""


class VocabBuilder:
    """A vocabulary that grows while text is encoded; `freeze` makes it a Vocab.

    With `start`, a copy of that vocabulary grows: its words keep their ids.
    """

    def __init__(self, start: Vocab | None = None) -> None:
        if start is not None:
            self._table = word_table(start.table.blob(), start.table.offsets())
            return
        self._table = WordTable()
        for word in _RESERVED:
            self._table.intern(word)

    @property
    def table(self) -> WordTable:
        """The native table, for kernels."""
        return self._table

    def encode_block(self, block: LineBlock) -> tuple[Int64Array, Int32Array]:
        """Row offsets and word ids of a block's lines; new words get the next ids."""
        return self._table.encode_growing(block.data, block.first_line)

    def freeze(self) -> Vocab:
        """The vocabulary so far. Do not use the builder afterwards."""
        return Vocab(self._table)


class Vocab:
    """An immutable vocabulary. Ids 0, 1, 2 are `<unk>`, `<s>`, `</s>`; a corpus word `<s>` has another id."""

    __slots__ = ("_beyond", "_beyond_ids", "_table")

    def __init__(self, table: WordTable, beyond: Iterable[str] = ()) -> None:
        if [table.word(i) for i in range(min(len(table), len(_RESERVED)))] != list(_RESERVED):
            raise InputError("a vocabulary must begin with <unk>, <s>, </s>")
        self._table = table
        self._beyond = tuple(beyond)
        self._beyond_ids = {word: len(table) + i for i, word in enumerate(self._beyond)}

    @classmethod
    def of(cls, lines: Iterable[str]) -> Vocab:
        """The vocabulary of these lines, in order of first occurrence."""
        builder = VocabBuilder()
        builder.encode_block(LineBlock("\n".join(sentences_of(lines, "lines")).encode("utf-8"), 1))
        return builder.freeze()

    def extended(self, words: Iterable[str]) -> Vocab:
        """The same vocabulary and more words, whose ids follow; only `encode` and its like do not know them.

        For out-of-vocabulary words that pass through a decoder: the native table is shared, so this costs little.
        """
        return Vocab(self._table, words)

    @property
    def beyond(self) -> tuple[str, ...]:
        """The words that `extended` added; the native table lacks them."""
        return self._beyond

    def __repr__(self) -> str:
        return f"Vocab({len(self)} words)"

    def __len__(self) -> int:
        return len(self._table) + len(self._beyond)

    def __contains__(self, word: str) -> bool:
        return word in self._beyond_ids or self._table.find(escape_word(word.encode("utf-8"))) >= 0

    @property
    def table(self) -> WordTable:
        """The native table, for kernels. Do not intern into it."""
        return self._table

    def id(self, word: str) -> int:
        """The id of a corpus word; UNK if it is out of vocabulary."""
        found = self._table.find(escape_word(word.encode("utf-8")))
        return self._beyond_ids.get(word, UNK) if found < 0 else found

    def word(self, id_: int) -> str:
        """The word as it occurs in the corpus (or the reserved symbol)."""
        stored = self.stored(id_)
        return stored.decode("utf-8") if id_ < len(_RESERVED) else unescape_word(stored).decode("utf-8")

    def stored(self, id_: int) -> bytes:
        """The escaped form, safe in every text format."""
        if id_ < len(self._table):
            return self._table.word(id_)
        return escape_word(self._beyond[id_ - len(self._table)].encode("utf-8"))

    def encode(self, line: str) -> Int32Array:
        """Ids of one line's tokens, out-of-vocabulary words as UNK."""
        return self.encode_block(LineBlock(line.replace("\n", " ").encode("utf-8"), 1))[1]

    def encode_lines(self, lines: Iterable[str]) -> tuple[Int64Array, Int32Array]:
        """Row offsets and word ids of lines, which must not contain line feeds."""
        data = "".join(line + "\n" for line in lines).encode("utf-8")
        return self.encode_block(LineBlock(data, 1))

    def encode_block(self, block: LineBlock) -> tuple[Int64Array, Int32Array]:
        """Row offsets and word ids of a block's lines, out-of-vocabulary words as UNK."""
        return self._table.encode(block.data, UNK, block.first_line)

    def decode(self, ids: Iterable[int]) -> str:
        return " ".join(self.word(int(i)) for i in ids)

    def save(self, path: PathLike) -> None:
        """Write one stored word per line; the line number (from 0) is the id."""
        replace_bytes(path, b"".join(self._table.word(i) + b"\n" for i in range(len(self._table))))

    @classmethod
    def load(cls, path: PathLike) -> Vocab:
        data = b"".join(block.data for block in read_blocks(path))
        if data and not data.endswith(b"\n"):
            raise InputError("the vocabulary ends in the middle of a line; the file is truncated", path=path)
        lengths = np.array([len(word) for word in data.split(b"\n")[:-1]], dtype=np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        with naming(path):
            return cls(word_table(data.replace(b"\n", b""), offsets))
