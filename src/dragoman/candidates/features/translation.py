"""Word-translation models both ways, from the counts of linked words that a system keeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.candidates.features.base import CandidateBlock, CandidateFeature, token_sums
from dragoman.candidates.features.system_text import tokens_of
from dragoman.corpus import UNK
from dragoman.errors import InputError
from dragoman.system import System
from dragoman.types import Float64Array, Int64Array

__all__ = ["WordTable", "WordTranslations"]

_FLOOR = 1e-7
"""The least probability of a word: of one that never was linked to any of the others, or is unknown."""
_COUNT = np.uint64((1 << 56) - 1)  # the other bits are the fold


class WordTranslations(CandidateFeature):
    """Per direction the score of IBM Model 1, the same with the best partner alone, and words without a partner.

    t(e|f) is the relative frequency of links in the system's training text, with an empty word on both sides for words
    without a link. Natural logs, summed over the words of the side that is generated. A word has no partner if no word
    of the other side is as likely to have made it as the empty word is.
    """

    def __init__(self, argument: str | None) -> None:
        if not argument:
            raise InputError("system needs a system whose word counts are used: system=FOLDER")
        self._system = System.load(argument)
        self._table = WordTable(self._system)

    @property
    def names(self) -> tuple[str, ...]:
        return ("m1_e_f", "m1_e_f_best", "m1_f_e", "m1_f_e_best", "unlinked_e", "unlinked_f")

    def values(self, block: CandidateBlock, n_threads: int) -> Float64Array:
        block = tokens_of(self._system, block)
        words, places = block.distinct_words
        targets = self._table.target_ids(words)
        shard = block.shard
        result = np.zeros((shard.n_candidates, len(self.names)))
        per_token = np.zeros((len(shard.tokens), 3))
        for s, source in enumerate(block.sources):
            first, last = int(shard.sentences[s]), int(shard.sentences[s + 1])
            begin, end = int(shard.token_rows[first]), int(shard.token_rows[last])
            used, where = np.unique(places[begin:end], return_inverse=True)
            where = where.reshape(-1)
            made, making = self._table.probabilities(self._table.source_ids(source), targets[used])
            # Of the candidate's words given the source: the same for every occurrence of a word.
            columns = np.stack(
                [np.log(np.maximum(made.mean(axis=1), _FLOOR)), np.log(np.maximum(made.max(axis=1), _FLOOR))], axis=1
            )
            per_token[begin:end, :2] = columns[where]
            per_token[begin:end, 2] = (made[:, 1:].max(axis=1, initial=0) <= made[:, 0])[where]
            rows = shard.token_rows[first : last + 1] - begin
            result[first:last, [2, 3, 5]] = _of_source(making, where, rows)
        result[:, [0, 1, 4]] = token_sums(block, per_token)
        return result


def _of_source(making: Float64Array, where: Int64Array, rows: Int64Array) -> Float64Array:
    """Scores of a source given each candidate, [n, 3]; `making` is [1 + words, source words], the empty word first."""
    empty, words = making[0], making[1:]
    result = np.zeros((len(rows) - 1, 3))
    for c in range(len(rows) - 1):
        mine = words[where[rows[c] : rows[c + 1]]]
        best = mine.max(axis=0, initial=0)
        mean = (mine.sum(axis=0) + empty) / (len(mine) + 1)
        result[c, 0] = np.log(np.maximum(mean, _FLOOR)).sum()
        result[c, 1] = np.log(np.maximum(np.maximum(best, empty), _FLOOR)).sum()
        result[c, 2] = np.count_nonzero(best <= empty)
    return result


class WordTable:
    """Counts of linked words, looked up by pairs; number 0 is the empty word, word i has number i + 1."""

    def __init__(self, system: System) -> None:
        grammar = system.grammar
        self._source, self._target = grammar.source_vocab, grammar.target_vocab
        manifest = grammar.manifest
        keys = np.asarray(manifest.map_array("word_pairs.keys", np.uint64))
        offsets = np.asarray(manifest.map_array("word_pairs.offsets", np.int64))
        values = np.asarray(manifest.map_array("word_pairs.values", np.uint64)) & _COUNT
        if not len(keys):
            raise InputError(
                "has no counts of linked words (imported systems have none); name one that was trained here",
                path=system.folder,
            )
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(values.astype(np.int64))])
        self._keys: NDArray[np.uint64] = keys
        self._counts = (running[offsets[1:]] - running[offsets[:-1]]).astype(np.float64)
        sources, targets = (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        linked = (sources > 0) & (targets > 0)
        of_pairs = self._counts * linked
        self._links_of_source = np.bincount(sources, of_pairs, minlength=len(self._source) + 1)
        self._links_of_target = np.bincount(targets, of_pairs, minlength=len(self._target) + 1)
        self._of_source = np.maximum(np.bincount(sources, self._counts, minlength=len(self._source) + 1), 1)
        self._of_target = np.maximum(np.bincount(targets, self._counts, minlength=len(self._target) + 1), 1)

    def frequent(self, n: int) -> tuple[dict[bytes, str], dict[bytes, str]]:
        """The n words of each side that have most links, by their spelling in tables; ties by spelling."""
        return _most(self._source.table, self._links_of_source.tolist(), n), _most(
            self._target.table, self._links_of_target.tolist(), n
        )

    def source_ids(self, source: str) -> Int64Array:
        return self._source.encode(source).astype(np.int64)

    def target_ids(self, words: list[bytes]) -> Int64Array:
        """Ids of words as tables spell them; UNK for those the system does not know."""
        found = np.array([self._target.table.find(word) for word in words], dtype=np.int64)
        return np.where(found < 0, UNK, found)

    def probabilities(self, sources: Int64Array, targets: Int64Array) -> tuple[Float64Array, Float64Array]:
        """t(e|f), [targets, 1 + sources], and t(f|e), [1 + targets, sources]; the empty word comes first."""
        f = np.concatenate([[0], sources + 1]).astype(np.uint64)
        e = np.concatenate([[0], targets + 1]).astype(np.uint64)
        keys = (f[None, :] << np.uint64(32)) | e[:, None]
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        counts = np.where(self._keys[at] == keys, self._counts[at], 0.0)
        return counts[1:] / self._of_source[f.astype(np.int64)], (
            counts[:, 1:] / self._of_target[e.astype(np.int64)][:, None]
        )


def _most(words: _core.WordTable, counts: Sequence[float], n: int) -> dict[bytes, str]:
    """The words with the highest counts, numbered from 1, that have any."""
    found = sorted((-count, words.word(i)) for i, count in enumerate(counts[1:]) if count > 0)
    return {word: word.decode("utf-8") for _, word in found[:n]}
