"""Stored lists as a pool: features are computed from derivations whenever a shard is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dragoman._core import DerivationBatch
from dragoman.candidates import LazyShards, Outline, Pool, Shard
from dragoman.corpus import UNK
from dragoman.errors import InputError, naming
from dragoman.features import FeatureIndex, parse_templates
from dragoman.metric import Metric
from dragoman.search import DerivationFeatures, EncodedSentences
from dragoman.sources.lists.shard import ALL_DATA, ListShard
from dragoman.sources.lists.storage import map_shard
from dragoman.system import System, intern_passed, words_of
from dragoman.types import Int32Array, Int64Array, PathLike, Progress

__all__ = ["StoredLists"]


class StoredLists(LazyShards):
    """The shards of stored lists, in files in the order of their lines, as shards of a pool.

    Features are those of the system's templates and blocks (`System.with_templates`, `with_blocks`), equal to the
    decoder's own: they are computed from derivations, and dense ones were stored. The names of all features are added
    to the index, by default the system's, at the start, in the order of the shards, so that ids do not depend on which
    shards are looked at later; `progress` counts them. Words are computed too if `with_words`. `seen` are outlines and
    numbers of statistics of the first shards, whose names the index has: they are not gone through again.
    """

    def __init__(
        self,
        system: System,
        paths: Sequence[PathLike],
        *,
        with_words: bool = False,
        n_threads: int = 1,
        progress: Progress | None = None,
        index: FeatureIndex | None = None,
        seen: Sequence[tuple[Outline, int]] = (),
    ) -> None:
        self.system = system
        self._index = system.index if index is None else index
        self.words = words_of(system.grammar.target_vocab)
        self._paths = [Path(path) for path in paths]
        self._with_words = with_words
        self._n_threads = n_threads
        self._computer = DerivationFeatures(
            system.grammar,
            self._index,
            templates=parse_templates(system.settings.features),
            word_counts=system.word_counts(),
            word_classes=system.classes,
            blocks=system.blocks_on(self._index),
        )
        blocks = {block.name for block in system.blocks}
        self._dense_names = [name for name in system.translator.dense() if name not in blocks]
        self._dense = np.array([self._index.find(name) for name in self._dense_names], np.int32)
        self._outlines = [outline for outline, _ in seen]
        self._n_stats = [n_stats for _, n_stats in seen]
        for path in self._paths[len(seen) :]:
            stored = map_shard(path)
            with naming(path):
                self._check(stored)
                sentences, batch = self._batch(stored)
                self._computer.intern(batch, n_threads=n_threads)
                if with_words:
                    self._tokens(stored, sentences, batch)
            self._outlines.append(Outline(stored.lines, stored.sentences))
            self._n_stats.append(stored.stats.shape[1])
            if progress is not None:
                progress(len(self._outlines))
        self._last: tuple[int, Shard] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The index travels so that ids are the same, and those of the pool that goes with it.
        # Words are found anew.
        seen = () if self._with_words else tuple(zip(self._outlines, self._n_stats, strict=True))
        paths = [path.resolve() for path in self._paths]
        return _reopened, (self.system, self._index, seen, paths, self._with_words, self._n_threads)

    @property
    def outlines(self) -> Sequence[Outline]:
        return self._outlines

    def pool(self, metric: Metric | None = None) -> Pool:
        """A pool of these shards; `metric` is the one of the stored statistics. Raises InputError if it cannot be."""
        for path, n_stats in zip(self._paths, self._n_stats, strict=True):
            if metric is not None and n_stats != metric.n_stats:
                raise InputError(f"has {n_stats} statistics; {metric.name} has {metric.n_stats}", path=path)
        return Pool(
            index=self._index,
            words=self.words,
            shards=self,
            dense=frozenset(map(self._index.find, self.system.translator.dense())),
            metric=metric,
            folds=self.system.training.folds,
        )

    def make(self, number: int) -> Shard:
        last = self._last
        if last is None or last[0] != number:
            self._last = last = number, self.compute(number)
        return last[1]

    def maker(self) -> Callable[[int, int], Shard]:
        return self.compute

    def compute(self, number: int, n_threads: int | None = None) -> Shard:
        """A shard from its file, even if it is the one that was asked for last, which is kept."""
        threads = self._n_threads if n_threads is None else n_threads
        stored = self._stored(number)
        with naming(self._paths[number]):
            sentences, batch = self._batch(stored)
            dense = stored.dense[:, [stored.dense_names.index(name) for name in self._dense_names]]
            features = self._computer.features(batch, self._dense, dense, grow=False, n_threads=threads)
            tokens = self._tokens(stored, sentences, batch) if self._with_words else None
        return _shard(stored, features, tokens)

    def light(self, number: int) -> Shard:
        return _shard(self._stored(number))

    def _stored(self, number: int) -> ListShard:
        stored, outline = map_shard(self._paths[number]), self._outlines[number]
        same = (
            (stored.lines, outline.sentence_ids),
            (stored.sentences, outline.sentences),
            (stored.stats.shape[1], self._n_stats[number]),
        )
        if not set(stored.dense_names) >= set(self._dense_names) or not all(np.array_equal(*pair) for pair in same):
            raise InputError("has changed since it was first read; start anew", path=self._paths[number])
        return stored

    def _check(self, stored: ListShard) -> None:
        if not set(stored.dense_names) >= set(self._dense_names):
            raise InputError("has other dense features than the system; the lists were made with another system")
        training = self.system.training
        if stored.lines.max(initial=-1) >= len(training):
            raise InputError("has lines that the training text lacks; the lists were made with another system")
        lines, offsets = stored.lines.astype(np.int64), training.source_ids.offsets
        if not (
            ((stored.folds == training.folds[lines]) | (stored.folds == ALL_DATA)).all()
            and np.array_equal(stored.source_lengths, offsets[lines + 1] - offsets[lines])
        ):
            raise InputError(
                "has other folds or lengths than the training text; the lists were made with another system"
            )

    def _batch(self, stored: ListShard) -> tuple[EncodedSentences, DerivationBatch]:
        training = self.system.training
        side = training.source_ids.take(stored.lines.astype(np.int64))
        ids = side.ids
        if (stored.folds != ALL_DATA).any():
            # As the decoder saw them: words of the excluded fold alone are unknown.
            alone = training.only_fold[ids] == np.repeat(stored.folds, side.lengths())
            ids = np.where(alone, np.int32(UNK), ids)
        sentences = EncodedSentences(side.vocab, [None] * len(side), side.offsets, ids, side.ids)
        return sentences, self._computer.batch(sentences, stored.folds, stored.sentences, stored.derivations)

    def _tokens(
        self, stored: ListShard, sentences: EncodedSentences, batch: DerivationBatch
    ) -> tuple[Int64Array, Int32Array]:
        """Words by ids of the pool's table, to which those that the system does not know are added."""
        rows, tokens, own_words = self._computer.tokens(batch, sentences, stored.derivations, n_threads=self._n_threads)
        vocab = self.system.grammar.target_vocab
        if own_words:
            beyond = tokens >= len(vocab)
            passed = intern_passed(self.words, vocab.extended(own_words))
            tokens[beyond] = passed[tokens[beyond] - len(vocab)]
        return rows, tokens


def _reopened(
    system: System,
    index: FeatureIndex,
    seen: Sequence[tuple[Outline, int]],
    paths: Sequence[Path],
    with_words: bool,
    n_threads: int,
) -> StoredLists:
    return StoredLists(system, paths, with_words=with_words, n_threads=n_threads, index=index, seen=seen)


def _shard(
    stored: ListShard,
    features: tuple[Int64Array, Int32Array, np.ndarray] | None = None,
    tokens: tuple[Int64Array, Int32Array] | None = None,
) -> Shard:
    n = stored.n_candidates
    none = np.zeros(n + 1, np.int64)
    rows, ids, values = features or (none, np.zeros(0, np.int32), np.zeros(0, np.float32))
    token_rows, words = tokens or (none, np.zeros(0, np.int32))
    return Shard(
        sentence_ids=stored.lines,
        sentences=stored.sentences,
        feature_rows=rows,
        feature_ids=ids,
        feature_values=values,
        token_rows=token_rows,
        tokens=words,
        rounds=np.zeros(n, np.int32),
        source_lengths=stored.source_lengths,
        totals=stored.totals,
        scores=np.zeros((n, 0)),
        stats=stored.stats,
        derivations=stored.derivations,
    )
