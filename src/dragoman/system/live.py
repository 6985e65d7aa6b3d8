"""k-best lists of single sentences with changing weights, for online learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dragoman.candidates import Pool, Shard
from dragoman.candidates.shard import concatenate
from dragoman.search import EncodedSentences
from dragoman.settings import takes_text
from dragoman.system.candidates import intern_passed, shard_of, words_of
from dragoman.system.translator import PreparedSentences, Preset
from dragoman.system.view import SystemView
from dragoman.text import split_tokens
from dragoman.types import Float64Array, Int32Array

__all__ = ["LiveDecoder"]


class LiveDecoder:
    """A system and sentences whose options are built once for all calls. Thread-safe.

    `index` has all features and `words` all words that candidates can have; neither grows any more. `dense` are
    the ids of the dense features. Encoded sentences are given one by one. Without `searches` it knows all this but
    keeps no options: others search.
    """

    @takes_text
    def __init__(
        self,
        view: SystemView,
        sentences: Sequence[str | EncodedSentences],
        *,
        preset: Preset = Preset.DEFAULT,
        searches: bool = True,
    ) -> None:
        self._translator = view.translator
        self.index = self._translator.index
        self.dense = frozenset(self.index.find(name) for name in self._translator.dense())
        self.words = words_of(self._translator.vocab)
        self._prepared: list[PreparedSentences[Any]] = []
        self._passed = []
        for sentence in sentences:
            one = self._translator.prepare([sentence], preset=preset)
            self._passed.append(intern_passed(self.words, one.vocab(0)))
            if searches:
                self._prepared.append(one)
        self._shares = np.full(len(self.index), np.nan)  # as far as anybody asked
        self.lengths = np.array([_n_words(sentence) for sentence in sentences], np.int32)

    def __len__(self) -> int:
        return len(self.lengths)

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> Shard:
        """The k best candidates of one sentence, the best first; its id is its position.

        The weights must not change meanwhile.
        """
        return shard_of(
            self._prepared[sentence].kbest(0, weights, k, distinct=distinct),
            passed=self._passed[sentence],
            n_words=len(self._translator.vocab.table),
            source_lengths=self.lengths[sentence : sentence + 1],
            first_sentence=sentence,
        )

    def extraction_shares(self, ids: Int32Array) -> Float64Array:
        """How often the rules that features name were extracted, per sentence pair; 0 where they name none."""
        new = ids[np.isnan(self._shares[ids])]
        if len(new):
            self._shares[new] = self._translator.extraction_shares(self.index.names(new))
        return self._shares[ids]

    def pool_of(self, shards: Sequence[Shard]) -> Pool:
        return Pool(index=self.index, words=self.words, shards=(concatenate(shards),), dense=self.dense)


def _n_words(sentence: str | EncodedSentences) -> int:
    return len(split_tokens(sentence)) if isinstance(sentence, str) else len(sentence.ids)
