"""What the surface of a candidate tells: copied words and numbers, punctuation, brackets, repeated n-grams."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np

from dragoman.candidates.features.base import CandidateBlock, CandidateFeature, token_sums
from dragoman.errors import InputError
from dragoman.text import split_tokens
from dragoman.types import Float64Array, Int64Array

__all__ = ["Copies", "Punctuation", "Repeats"]

_CLASSES = '.,:;?!()"'
_SAME = dict(zip("。．、，،：；？؟！（）[]{}", "..,,,:;??!()()()", strict=True)) | dict.fromkeys("「」『』“”„«»", '"')
"""Which of the classes a mark of another typography belongs to."""


def _no_argument(name: str, argument: str | None) -> None:
    if argument:
        raise InputError(f"{name} takes no argument, not '{argument}'")


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


class Copies(CandidateFeature):
    """Words (no punctuation) that the source has, too; numbers (words with a digit) of one side alone."""

    def __init__(self, argument: str | None) -> None:
        _no_argument("copies", argument)

    @property
    def names(self) -> tuple[str, ...]:
        return ("copied", "numbers_added", "numbers_dropped")

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        result = np.zeros((block.shard.n_candidates, 3))
        bounds = block.shard.sentences.tolist()
        for s, source in enumerate(block.sources):
            words = set(split_tokens(source))
            numbers = {word for word in words if _has_digit(word)}
            for c in range(bounds[s], bounds[s + 1]):
                mine = block.texts[c].split(" ") if block.texts[c] else []
                result[c] = (
                    sum(word in words and any(map(str.isalnum, word)) for word in mine),
                    sum(_has_digit(word) and word not in numbers for word in mine),
                    len(numbers.difference(mine)),
                )
        return result


class Punctuation(CandidateFeature):
    """How far the numbers of each mark differ from the source's, whether the last marks differ, unmatched brackets.

    Marks of East Asian, Arabic and European typography count as the mark they stand for.
    """

    def __init__(self, argument: str | None) -> None:
        _no_argument("punctuation", argument)

    @property
    def names(self) -> tuple[str, ...]:
        return ("marks_differ", "last_mark_differs", "brackets_unmatched")

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        result = np.zeros((block.shard.n_candidates, 3))
        bounds = block.shard.sentences.tolist()
        for s, source in enumerate(block.sources):
            marks = _marks(source)
            counts = Counter(marks)
            for c in range(bounds[s], bounds[s + 1]):
                mine = _marks(block.texts[c])
                own = Counter(mine)
                result[c] = (
                    sum(abs(own[mark] - counts[mark]) for mark in _CLASSES),
                    _last_mark(source) != _last_mark(block.texts[c]),
                    _unmatched(mine),
                )
        return result


def _marks(text: str) -> list[str]:
    found = (_SAME.get(character, character) for character in text)
    return [mark for mark in found if mark in _CLASSES]


def _last_mark(text: str) -> str:
    """The mark that ends the text; empty if a word does."""
    last = text.rstrip()[-1:]
    mark = _SAME.get(last, last)
    return mark if mark and unicodedata.category(mark).startswith("P") else ""


def _unmatched(marks: list[str]) -> int:
    n_open = n_unmatched = 0
    for mark in marks:
        if mark == "(":
            n_open += 1
        elif mark == ")":
            n_unmatched += n_open == 0
            n_open = max(0, n_open - 1)
    return n_open + n_unmatched


class Repeats(CandidateFeature):
    """Words that follow themselves, and occurrences of n-grams of order 2 to 4 beyond the first of each."""

    def __init__(self, argument: str | None) -> None:
        _no_argument("repeats", argument)

    @property
    def names(self) -> tuple[str, ...]:
        return ("doubled", "repeated_2", "repeated_3", "repeated_4")

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        rows, tokens = block.shard.token_rows, block.shard.tokens.astype(np.int64)
        n = block.shard.n_candidates
        candidate = np.repeat(np.arange(n), np.diff(rows))
        left = rows[1:][candidate] - np.arange(len(tokens))  # tokens from this one to the end of its candidate
        follows = np.zeros(len(tokens))
        follows[1:] = (tokens[1:] == tokens[:-1]) & (candidate[1:] == candidate[:-1])
        result = np.zeros((n, 4))
        result[:, 0] = token_sums(block, follows)
        grams = tokens
        for order in (2, 3, 4):
            grams = _longer(grams, tokens, order)
            at = np.flatnonzero(left >= order)
            distinct = np.unique(np.stack([candidate[at], grams[at]], axis=1), axis=0)[:, 0]
            result[:, order - 1] = np.bincount(candidate[at], minlength=n) - np.bincount(distinct, minlength=n)
        return result


def _longer(grams: Int64Array, tokens: Int64Array, order: int) -> Int64Array:
    """Numbers of n-grams of an order at each token, from those one shorter; meaningless across ends of candidates."""
    last = np.zeros_like(tokens)
    last[: max(0, len(tokens) - order + 1)] = tokens[order - 1 :]
    pairs = grams * (int(tokens.max(initial=0)) + 1) + last
    numbers: Int64Array = np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers
