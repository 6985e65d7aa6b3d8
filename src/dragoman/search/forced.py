"""Forced decoding: the best derivations of given translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.corpus import UNK, Vocab
from dragoman.errors import InputError, MismatchError
from dragoman.forest import Forest, KBest
from dragoman.settings import Record
from dragoman.text import split_tokens
from dragoman.types import Int32Array, Int64Array, offsets_of

__all__ = ["Forced", "ForcedConfig", "ForcedPairs"]

Rows = tuple[Int64Array, Int32Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedConfig(Record):
    """Settings of forced decoding."""

    width: int = 500
    """Hypotheses kept for a number of covered words (phrases), nodes kept for a span and label (rules)."""
    may_edit: bool = True
    """Whether words may be deleted, inserted and copied where no derivation makes the translation."""

    def _check(self) -> None:
        if self.width < 1:
            raise ValueError("the width must be at least 1")


@dataclass(frozen=True, slots=True)
class ForcedPairs:
    """Translations of the sentences of a batch, as ids; words that neither vocabulary nor batch has follow theirs."""

    vocab: Vocab
    sentences: Int64Array
    targets: Rows
    copies: Rows
    """For every source word what it is on the target side; -1 for a word that no translation has."""

    @classmethod
    def encode(
        cls,
        sources: Sequence[str],
        targets: Sequence[str],
        sentences: Int64Array | None,
        vocab: Vocab,
        own_words: Sequence[str],
    ) -> ForcedPairs:
        """Translation i is one of the source `sentences[i]`, by default i. Raises MismatchError if some has none."""
        of_each = np.arange(len(sources), dtype=np.int64) if sentences is None else sentences
        if len(of_each) != len(targets):
            raise MismatchError(f"{len(of_each)} source sentences and {len(targets)} translations")
        ids: dict[str, int] = {}
        own = list(own_words)
        places = {word: len(vocab) + i for i, word in enumerate(own)}

        def id_of(word: str) -> int:
            if (known := ids.get(word)) is None:
                known = vocab.id(word)
                if known == UNK:
                    known = places.setdefault(word, len(vocab) + len(own))
                    if known == len(vocab) + len(own):
                        own.append(word)
                ids[word] = known
            return known

        rows = [[id_of(word) for word in _tokens(target)] for target in targets]
        copies = [[ids.get(word, -1) for word in _tokens(source)] for source in sources]
        return cls(vocab.extended(own), of_each, _ragged(rows), _ragged(copies))


def _tokens(sentence: str) -> Sequence[str]:
    if not isinstance(sentence, str):
        raise InputError("forced decoding takes lines of tokens, not ids")
    return split_tokens(sentence)


def _ragged(rows: Sequence[Sequence[int]]) -> Rows:
    return offsets_of([len(row) for row in rows]), np.array([id_ for row in rows for id_ in row], dtype=np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forced:
    """The best derivation of each translation; where there is none, with as few edits as possible, then by score."""

    forests: Sequence[Forest]
    """Of one derivation each; empty where there is none."""
    lists: KBest
    """The same as candidates, with their features."""
    deleted: Rows
    """Source positions without a translation."""
    inserted: Rows
    """Target positions that no source word made."""
    copied: Rows
    """Words copied although the tables translate them: source and target position, in turn."""
    is_complete: NDArray[np.uint8]
    """1 where nothing was pruned, so that no better derivation exists."""

    @classmethod
    def of(cls, native: Any, pairs: ForcedPairs, index: Any, labels: tuple[str, ...]) -> Forced:
        cores, lists, deleted, inserted, copied, complete = native
        return cls(
            forests=[Forest(core, pairs.vocab, index, labels=labels) for core in cores],
            lists=KBest.of(lists),
            deleted=deleted,
            inserted=inserted,
            copied=copied,
            is_complete=complete,
        )

    def deleted_in(self, pair: int) -> tuple[int, ...]:
        return _row(self.deleted, pair)

    def inserted_in(self, pair: int) -> tuple[int, ...]:
        return _row(self.inserted, pair)

    def copied_in(self, pair: int) -> tuple[tuple[int, int], ...]:
        flat = _row(self.copied, pair)
        return tuple(zip(flat[::2], flat[1::2], strict=True))


def _row(rows: Rows, number: int) -> tuple[int, ...]:
    offsets, values = rows
    return tuple(values[offsets[number] : offsets[number + 1]].tolist())
