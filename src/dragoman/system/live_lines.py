"""Live decoders of the training text: each line by the view that has not seen its fold, or all by that of all data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dragoman.candidates import Pool, Shard
from dragoman.candidates.shard import concatenate
from dragoman.features import FeatureIndex, FeatureTable
from dragoman.settings import Record
from dragoman.system.candidates import intern_passed, shard_of, words_of
from dragoman.system.live import LiveDecoder
from dragoman.system.system import System
from dragoman.system.translator import Preset, Translator
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = ["LineBlock", "Lines", "LiveLines"]


@dataclass(frozen=True, slots=True, eq=False)
class Lines(Record):
    """Some lines of a system's training text as sentences: sentence i is line `numbers[i]`. Pickles small."""

    system: System
    numbers: Int64Array
    preset: Preset = Preset.DEFAULT
    all_data: bool = False
    """Whether all lines are decoded by tables of all data, which have seen them."""

    def folds(self) -> Int64Array:
        """The fold of each sentence."""
        return self.system.training.folds[self.numbers].astype(np.int64)

    def left_out(self, fold: int) -> int | None:
        """The fold that tables must not have seen which decode the lines of a fold."""
        return None if self.all_data else fold

    def lengths(self) -> Int32Array:
        """Source words of each sentence."""
        return self.system.training.source_ids.lengths()[self.numbers].astype(np.int32)

    def references(self, sentences: Sequence[int]) -> dict[int, list[str]]:
        """The target side of some sentences."""
        target = self.system.training.target
        return {sentence: [target(int(self.numbers[sentence]))] for sentence in sentences}


class LiveLines:
    """A live decoder of lines that builds options anew in each call; its index is its own and grows with candidates."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.lengths = lines.lengths()
        self.folds = lines.folds()
        self.index = FeatureIndex()
        self._translators: dict[int | None, Translator[Any]] = {}
        self._all = lines.system.view_on(self.index).translator
        self.dense = frozenset(self.index.find(name) for name in self._all.dense())
        self.words = words_of(self._all.vocab)

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> Shard:
        """The k best candidates of one sentence, the best first; their features may be new to the index."""
        system, fold = self.lines.system, self.lines.left_out(int(self.folds[sentence]))
        if fold not in self._translators:
            self._translators[fold] = system.view_on(self.index, fold).translator
        translator = self._translators[fold]
        number = self.lines.numbers[sentence : sentence + 1]
        encoded = system.training.encoded(number, fold, translator.max_words)
        best, vocab = translator.kbest(encoded, weights, k, distinct=distinct, preset=self.lines.preset)
        return shard_of(
            best,
            passed=intern_passed(self.words, vocab),
            n_words=len(vocab.table),
            source_lengths=self.lengths[sentence : sentence + 1],
            first_sentence=sentence,
        )

    def extraction_shares(self, ids: Int32Array) -> Float64Array:
        """Those of tables of all data."""
        return self._all.extraction_shares(self.index.names(ids))

    def pool_of(self, shards: Sequence[Shard]) -> Pool:
        return Pool(index=self.index, words=self.words, shards=(concatenate(shards),), dense=self.dense)


class LineBlock:
    """A live decoder of the sentences `block` alone, of one fold, whose options are built once.

    Its index is a function of the lines and of `weights`: dense features, those of the table in its order, then what
    the options of the block have. `lengths` are those of all sentences.
    """

    def __init__(self, lines: Lines, block: Int64Array, weights: FeatureTable) -> None:
        training, numbers = lines.system.training, lines.numbers
        (of_block,) = set(training.folds[numbers[block]].tolist())
        fold = lines.left_out(of_block)
        view = lines.system.view_on(FeatureIndex(), fold)
        self.weight_ids = view.index.extend_table(weights.features, None)
        most = view.translator.max_words
        encoded = [training.encoded(numbers[sentence : sentence + 1], fold, most) for sentence in block.tolist()]
        self._decoder = LiveDecoder(view, encoded, preset=lines.preset)
        self._places = {sentence: place for place, sentence in enumerate(block.tolist())}
        self.references = lines.references(block.tolist())
        self.index, self.words, self.dense = self._decoder.index, self._decoder.words, self._decoder.dense
        self.lengths = lines.lengths()

    def kbest(self, sentence: int, weights: Float64Array, k: int, *, distinct: bool = False) -> Shard:
        """The k best candidates of a sentence of the block, the best first."""
        shard = self._decoder.kbest(self._places[sentence], weights, k, distinct=distinct)
        return replace(shard, sentence_ids=np.array([sentence], np.int32))

    def extraction_shares(self, ids: Int32Array) -> Float64Array:
        return self._decoder.extraction_shares(ids)

    def pool_of(self, shards: Sequence[Shard]) -> Pool:
        return self._decoder.pool_of(shards)
