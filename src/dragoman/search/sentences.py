"""Encoded sentences for decoders: word ids and out-of-vocabulary words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dragoman.corpus import UNK, Side, Vocab
from dragoman.errors import InputError
from dragoman.text import split_tokens
from dragoman.types import Int32Array, Int64Array, offsets_of

__all__ = ["EncodedSentences", "Sentence", "Sentences", "encode_sentences"]

Sentence: TypeAlias = str | Sequence[str] | Int32Array
"""A line, its tokens, or their ids in the source vocabulary."""


@dataclass(frozen=True, slots=True)
class EncodedSentences:
    """Sentence s has the words `ids[offsets[s]:offsets[s + 1]]`."""

    vocab: Vocab
    tokens: Sequence[Sequence[str] | None]
    """None for sentences given as ids."""
    offsets: Int64Array
    ids: Int32Array
    copied: Int32Array
    """Of sentences given as ids, what passes through: the ids as given, also of words that are called unknown."""

    @classmethod
    def of_side(cls, side: Side, is_known: NDArray[np.bool_]) -> EncodedSentences:
        """Sentences as ids; words that `is_known` (by id) denies are unknown, and pass through by their own name."""
        ids = np.where(is_known[side.ids], side.ids, np.int32(UNK))
        return cls(side.vocab, [None] * len(side), side.offsets, ids, side.ids)

    def passed(self, places: Int64Array, target: Vocab) -> tuple[Int32Array, list[str]]:
        """Target ids of the source words copied at these positions, and the words that the vocabulary lacks."""
        ids = np.zeros(len(places), np.int32)
        own: dict[str, int] = {}
        numbers = np.searchsorted(self.offsets, places, side="right") - 1
        for i, (place, number) in enumerate(zip(places.tolist(), numbers.tolist(), strict=True)):
            words = self.tokens[number]
            if words is None:
                word = self.vocab.word(int(self.copied[place]))
            else:
                word = words[place - int(self.offsets[number])]
            known = target.id(word)
            ids[i] = known if known != UNK else own.setdefault(word, len(target) + len(own))
        return ids, list(own)


def encode_sentences(sentences: Sequence[Sentence], vocab: Vocab) -> EncodedSentences:
    """Encode sentences as word ids."""
    tokens = [None if isinstance(s, np.ndarray) else split_tokens(s) if isinstance(s, str) else s for s in sentences]
    lines = [" ".join(row) for row in tokens if row is not None]
    offsets, ids = vocab.encode_lines(lines)
    encoded = iter(np.split(ids, offsets[1:-1]))
    rows = [np.asarray(s, np.int32) if row is None else next(encoded) for s, row in zip(sentences, tokens, strict=True)]
    for number, (words, row) in enumerate(zip(tokens, rows, strict=True), 1):
        if len(offsets) != len(lines) + 1 or (words is not None and len(words) != len(row)):
            raise InputError(f"a token of sentence {number} is empty or has white space")
    offsets = offsets_of([len(row) for row in rows])
    ids = np.concatenate([np.zeros(0, np.int32), *rows])
    return EncodedSentences(vocab, tokens, offsets, ids, ids)


Sentences: TypeAlias = Sequence[Sentence] | EncodedSentences
