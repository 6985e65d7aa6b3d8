"""Decoding as jobs of an engine: batches of sentences to translations, or to lists that any process can read.

Sentences are text, or lines of the training text, each decoded by the view that has not seen its fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from dragoman.candidates import Pool
from dragoman.candidates.merge import renumbered
from dragoman.candidates.shard import concatenate
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import KBest
from dragoman.settings import Record
from dragoman.system.candidates import intern_passed, shard_of, source_lengths, words_of
from dragoman.system.system import System
from dragoman.system.text import LineTranslation
from dragoman.system.training import shards
from dragoman.system.translator import Preset
from dragoman.system.view import SystemView
from dragoman.types import Int32Array, Int64Array, Progress
from dragoman.work.engine import Engine, Job

__all__ = [
    "LineListsJob",
    "ListsJob",
    "PortableLists",
    "TranslationJob",
    "kbest_by_engine",
    "kbest_of_lines",
    "pool_of_lists",
]

_BLOCK = 64
"""Sentences of one item. Results do not depend on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationJob(Record, Job[Sequence[str], list[str]]):
    """The best translation of each line.

    `raw` and `languages` are those of `System.lines`; `terms` are forced translations.
    """

    view: SystemView
    weights: Weights
    preset: Preset = Preset.DEFAULT
    raw: bool | None = None
    languages: str | None = None
    terms: Mapping[str, str] = field(default_factory=dict)

    def open(self, n_threads: int) -> Callable[[Sequence[str]], list[str]]:
        view = self.view
        weights = self.weights.on(view.index)
        text = view.lines(raw=self.raw, languages=self.languages)
        job = LineTranslation(text=text, terms=self.terms, protect=text.is_raw)

        def decode(tokens: Sequence[str]) -> Iterator[str]:
            return view.translate_tokens(tokens, weights=weights, preset=self.preset, n_threads=n_threads)

        def linked(tokens: str) -> tuple[str, Sequence[tuple[int, int]]]:
            return view.translate_linked(tokens, weights=weights, preset=self.preset)

        return lambda lines: job.translate(lines, decode, linked)


@dataclass(frozen=True, slots=True)
class PortableLists:
    """k-best lists whose features and out-of-vocabulary words go by names.

    `features` has the features of the candidates by candidate and name, the order in which an index learns them;
    tokens from the size of the target vocabulary on are `words`.
    """

    best: KBest
    features: FeatureIndex
    words: tuple[str, ...]
    source_lengths: Int32Array

    @classmethod
    def of(cls, best: KBest, vocab: Vocab, index: FeatureIndex, lengths: Int32Array) -> PortableLists:
        """Lists over the index of the process that made them; `lengths` are the words of each source sentence."""
        used, first, ids = np.unique(best.feature_ids, return_index=True, return_inverse=True)
        candidates = np.searchsorted(best.feature_rows, first, side="right")
        names = index.names(used.astype(np.int32))
        order = sorted(range(len(used)), key=lambda place: (candidates[place], names[place]))
        portable = FeatureIndex()
        places = np.empty(len(used), np.int32)
        places[order] = [portable.intern(names[place]) for place in order]
        none = np.zeros(len(best) + 1, np.int64), np.zeros(0, np.int32)  # edges are those of a forest that stays
        moved = replace(best, feature_ids=places[ids], edge_rows=none[0], edges=none[1], derivations=None)
        return cls(moved, portable, vocab.beyond, lengths)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsJob(Record, Job[Sequence[str], PortableLists]):
    """The k best candidates of each sentence."""

    view: SystemView
    weights: Weights
    k: int
    distinct: bool = False
    preset: Preset = Preset.DEFAULT

    def open(self, n_threads: int) -> Callable[[Sequence[str]], PortableLists]:
        translator = self.view.translator
        weights = self.weights.on(translator.index)

        def lists(sentences: Sequence[str]) -> PortableLists:
            best, vocab = translator.kbest(
                sentences, weights, self.k, distinct=self.distinct, preset=self.preset, n_threads=n_threads
            )
            return PortableLists.of(best, vocab, translator.index, source_lengths(sentences))

        return lists


@dataclass(frozen=True, slots=True, kw_only=True)
class LineListsJob(Record, Job[Int64Array, PortableLists]):
    """The k best candidates of lines of the training text, all of one fold, by the view that has not seen it."""

    system: System
    weights: Weights
    k: int
    distinct: bool = False
    preset: Preset = Preset.DEFAULT

    def open(self, n_threads: int) -> Callable[[Int64Array], PortableLists]:
        training, index = self.system.training, self.system.index
        weights = self.weights.on(index)
        view = cache(self.system.view)

        def lists(lines: Int64Array) -> PortableLists:
            fold = int(training.folds[lines[0]])
            translator = view(fold).translator
            sentences = training.encoded(lines, fold, translator.max_words)
            best, vocab = translator.kbest(
                sentences, weights, self.k, distinct=self.distinct, preset=self.preset, n_threads=n_threads
            )
            return PortableLists.of(best, vocab, index, np.diff(sentences.offsets).astype(np.int32))

        return lists


def pool_of_lists(
    parts: Sequence[PortableLists], view: SystemView, *, round_number: int = 0, first_sentence: int = 0
) -> Pool:
    """What `SystemView.kbest` gives, to the last bit: the view's index learns the same features in the same order."""
    index, vocab = view.index, view.translator.vocab
    words = words_of(vocab)
    shards = []
    for part in parts:
        to = index.extend(part.features)
        shard = shard_of(
            part.best,
            passed=intern_passed(words, vocab.extended(part.words)),
            n_words=len(vocab.table),
            source_lengths=part.source_lengths,
            round_number=round_number,
            first_sentence=first_sentence,
        )
        first_sentence += part.best.n_sentences
        shards.append(renumbered(shard, to))
    dense = frozenset(index.find(name) for name in view.translator.dense())
    return Pool(index=index, words=words, shards=(concatenate(shards),), dense=dense)


def kbest_by_engine(
    engine: Engine, job: ListsJob, sentences: Sequence[str], *, progress: Progress | None = None
) -> Pool:
    """The lists of all sentences in one shard, from the workers of an engine."""
    blocks = [sentences[begin : begin + _BLOCK] for begin in range(0, len(sentences), _BLOCK)]
    parts: list[PortableLists] = []
    for part in engine.map(job, blocks):
        parts.append(part)
        if progress is not None:
            progress(min(_BLOCK * len(parts), len(sentences)))
    return pool_of_lists(parts, job.view)


def kbest_of_lines(engine: Engine, job: LineListsJob, lines: Int64Array, *, progress: Progress | None = None) -> Pool:
    """The lists of lines, fold by fold, in one shard: sentence i is `lines[i]`."""
    folds = job.system.training.folds[lines]
    runs = np.split(lines, np.flatnonzero(np.diff(folds)) + 1)
    blocks = [block for run in runs for block in shards(run, _BLOCK)]
    parts: list[PortableLists] = []
    n_lines = 0
    for block, part in zip(blocks, engine.map(job, blocks), strict=True):
        parts.append(part)
        n_lines += len(block)
        if progress is not None:
            progress(n_lines)
    return pool_of_lists(parts, job.system)
