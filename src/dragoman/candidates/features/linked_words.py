"""Sparse features of linked words, over an alignment of the candidate with its source by a system's word counts."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from dragoman._core import escape_word
from dragoman.candidates.features.base import CandidateBlock, SparseCandidateFeature
from dragoman.candidates.features.system_text import tokens_of
from dragoman.candidates.features.translation import WordTable
from dragoman.errors import InputError
from dragoman.features import feature_name
from dragoman.system import System
from dragoman.text import split_tokens
from dragoman.types import Float64Array

__all__ = ["Contexts", "WordPairs"]

_OTHER, _UNALIGNED, _BEGIN, _END = "<other>", "<unaligned>", "<s>", "</s>"
_Links = list[int | None]
"""For each word of a candidate the place of its source word, None without one."""


class LinkedWords(SparseCandidateFeature):
    """Each word of a candidate is linked to the source word that makes it most likely, by t(e|f) of the system's links.

    Of equal ones the nearest to the diagonal, then the first. It has no link if the empty word is as likely to have
    made it. The words that training linked most often have names, others share `<other>`: `SYSTEM:500` says how many.
    """

    n_frequent = 200
    """Words of each side that have a name."""

    def __init__(self, argument: str | None) -> None:
        folder, colon, number = (argument or "").rpartition(":")
        if not (colon and number.isdecimal()):
            folder, number = argument or "", str(self.n_frequent)
        if not folder:
            raise InputError(f"{self.stem}: needs a system whose word counts are used, such as SYSTEM or SYSTEM:500")
        self._system = System.load(folder)
        self._table = WordTable(self._system)
        self._sources, self._targets = self._table.frequent(int(number))

    def sparse_values(self, block: CandidateBlock, n_threads: int) -> Iterator[Mapping[str, float]]:
        block = tokens_of(self._system, block)
        words, places = block.distinct_words
        targets = self._table.target_ids(words)
        named = [_named(word, self._targets) for word in words]
        shard = block.shard
        for s, source in enumerate(block.sources):
            first, last = int(shard.sentences[s]), int(shard.sentences[s + 1])
            rows = shard.token_rows[first : last + 1]
            used = np.unique(places[rows[0] : rows[-1]])
            made, _ = self._table.probabilities(self._table.source_ids(source), targets[used])
            partners = dict(zip(used.tolist(), map(_partners, made), strict=True))
            spelled = [_named(escape_word(word.encode("utf-8")), self._sources) for word in split_tokens(source)]
            for begin, end in pairwise(rows.tolist()):
                own = places[begin:end].tolist()
                links = [_nearest(partners[word], j, len(spelled), len(own)) for j, word in enumerate(own)]
                yield Counter(
                    feature_name(*feature) for feature in self.features(spelled, [named[word] for word in own], links)
                )

    @abstractmethod
    def features(self, source: Sequence[str], target: Sequence[str], links: _Links) -> Iterator[tuple[str, ...]]:
        """Class and words of each feature, once for every place where it occurs."""


class WordPairs(LinkedWords):
    """Linked words, and words without a link."""

    stem = "linked"

    def features(self, source: Sequence[str], target: Sequence[str], links: _Links) -> Iterator[tuple[str, ...]]:
        for word, link in zip(target, links, strict=True):
            yield self.stem, _UNALIGNED if link is None else source[link], word
        for i in sorted(set(range(len(source))) - set(links)):
            yield self.stem, source[i], _UNALIGNED


class Contexts(LinkedWords):
    """Linked words with the source word before, and with the one after; of pairs whose words both have a name."""

    stem = "linked_context"
    n_frequent = 100

    def features(self, source: Sequence[str], target: Sequence[str], links: _Links) -> Iterator[tuple[str, ...]]:
        around = [_BEGIN, *source, _END]
        for word, link in zip(target, links, strict=True):
            if link is not None and word != _OTHER and source[link] != _OTHER:
                yield f"{self.stem}_before", source[link], word, around[link]
                yield f"{self.stem}_after", source[link], word, around[link + 2]


def _named(word: bytes, known: Mapping[bytes, str]) -> str:
    return known.get(word, _OTHER)


def _partners(made: Float64Array) -> list[int]:
    """Places of the source words that make a word most likely; `made` begins with the empty word."""
    if len(made) < 2 or made[1:].max() <= made[0]:
        return []
    found: list[int] = np.flatnonzero(made[1:] == made[1:].max()).tolist()
    return found


def _nearest(places: Sequence[int], target: int, n_source: int, n_target: int) -> int | None:
    """The place that is nearest to the diagonal, by the middles of words."""
    if len(places) < 2:
        return places[0] if places else None
    return min(places, key=lambda place: (abs((2 * place + 1) * n_target - (2 * target + 1) * n_source), place))
