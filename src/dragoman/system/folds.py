"""Candidate lists of the training text, each line by a system that has not seen it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dragoman._core import WordTable
from dragoman.candidates import Pool
from dragoman.candidates.measure import id_statistics, text_statistics
from dragoman.candidates.shard import Shard, concatenate
from dragoman.features import FeatureIndex, Weights
from dragoman.metric import Metric, References, Segments
from dragoman.settings import takes_text
from dragoman.system.candidates import intern_passed, shard_of, words_of
from dragoman.system.system import System
from dragoman.system.training import TrainingLines
from dragoman.system.translator import Preset, Translator
from dragoman.types import Float64Array, Int64Array

__all__ = ["FoldDecoder"]


class FoldDecoder:
    """Decodes lines of the training text, each without its fold: by the grammar and language model of all others.

    With `all_data`, by those of all data, which have seen the line. Views are opened when their first line comes.
    """

    @takes_text
    def __init__(self, system: System, *, preset: Preset = Preset.DEFAULT, all_data: bool = False) -> None:
        self.system = system
        self.training: TrainingLines = system.training
        self._preset = preset
        self._all_data = all_data
        self._translators: dict[int | None, Translator[Any]] = {}

    @property
    def index(self) -> FeatureIndex:
        return self.system.index

    def kbest(
        self,
        lines: Int64Array,
        weights: Weights | Float64Array,
        k: int,
        *,
        distinct: bool = False,
        n_threads: int = 1,
        derivations: bool = False,
    ) -> Pool:
        """k-best lists of lines (ascending) as a pool of one shard, whose sentence ids are the line numbers."""
        words = words_of(self.system.grammar.target_vocab)
        how = {"distinct": distinct, "n_threads": n_threads, "derivations": derivations}
        parts = [
            self._shard(fold, lines[places], weights, k, words=words, **how) for fold, places in self._groups(lines)
        ]
        dense = frozenset(self.index.find(name) for name in self.system.translator.dense())
        return Pool(index=self.index, words=words, shards=(concatenate(parts),) if parts else (), dense=dense)

    def measured(self, pool: Pool, metric: Metric, *, n_threads: int = 1) -> Pool:
        """The pool of `kbest` with the statistics of a metric against the target side of the training text."""
        shards = []
        for shard in pool.shards:
            lines = shard.sentence_ids.astype(np.int64)
            if metric.reads_text:
                texts = [[self.training.target(line)] for line in lines.tolist()]
                stats = text_statistics(pool, shard, metric, texts, n_threads)
            else:
                side = self.training.target_ids.take(lines)
                # One reference each; ids of the target vocabulary mean the same in the pool's table.
                references = References(
                    ref_offsets=np.arange(len(lines) + 1, dtype=np.int64),
                    segments=Segments(offsets=side.offsets, ids=side.ids),
                )
                stats = id_statistics(pool, shard, metric, references, n_threads)
            shards.append(shard.with_stats(stats))
        return replace(pool, shards=tuple(shards), metric=metric)

    def _groups(self, lines: Int64Array) -> Iterator[tuple[int | None, Int64Array]]:
        """Lines that one view decodes: its fold, and their places."""
        if self._all_data:
            yield None, np.arange(len(lines))
            return
        folds = self.training.folds[lines]
        for fold in np.unique(folds).tolist():
            yield fold, np.flatnonzero(folds == fold)

    def _shard(
        self,
        fold: int | None,
        lines: Int64Array,
        weights: Weights | Float64Array,
        k: int,
        *,
        words: WordTable,
        **how: Any,
    ) -> Shard:
        offsets = self.training.source_ids.offsets
        # The longest first: otherwise many threads wait for a late one at the end of a group.
        lines = lines[np.argsort(offsets[lines] - offsets[lines + 1], kind="stable")]
        translator = self._translator(fold)
        sentences = self.training.encoded(lines, fold, translator.max_words)
        best, vocab = translator.kbest(sentences, weights, k, preset=self._preset, **how)
        shard = shard_of(
            best,
            passed=intern_passed(words, vocab),
            n_words=len(vocab.table),
            source_lengths=np.diff(sentences.offsets).astype(np.int32),
        )
        return replace(shard, sentence_ids=lines.astype(np.int32))

    def _translator(self, fold: int | None) -> Translator[Any]:
        if fold not in self._translators:
            self._translators[fold] = self.system.view(fold).translator
        return self._translators[fold]
