"""Statistics of a pool's candidates by a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dragoman._core import WordTable, unescape_word
from dragoman.errors import InputError, MismatchError
from dragoman.metric import External, Metric, References, Segments, Spelling
from dragoman.pool.pool import Pool
from dragoman.pool.shard import Shard
from dragoman.text import read_lines
from dragoman.types import Float64Array, Int64Array, PathLike

__all__ = ["Judge", "read_references", "with_external", "with_metric"]


def read_references(paths: Sequence[PathLike]) -> list[list[str]]:
    """The references of each sentence, from line-aligned files; an empty line is an empty reference."""
    if not paths:
        raise InputError("no references given")
    files = [list(read_lines(path)) for path in paths]
    for path, lines in zip(paths, files, strict=True):
        if len(lines) != len(files[0]):
            raise MismatchError(f"{path} has {len(lines)} lines but {paths[0]} has {len(files[0])}")
    return [list(lines) for lines in zip(*files, strict=True)]


def with_metric(
    pool: Pool,
    metric: Metric,
    references: Sequence[Sequence[str]],
    *,
    allow_missing: bool = False,
    n_threads: int = 1,
) -> Pool:
    """The pool with the statistics of a metric; `references` has one or more texts per sentence id.

    Raises MismatchError if candidates have no reference or, unless `allow_missing`, references have no candidates.
    """
    _check_ids(pool, len(references), allow_missing)
    if not any(len(shard.tokens) for shard in pool.shards):
        raise InputError("no candidate has any text, so no metric can be computed from references")
    measure = _by_text if metric.reads_text else _by_ids
    shards = tuple(
        shard.with_stats(measure(pool, shard, metric, [references[i] for i in shard.sentence_ids], n_threads))
        for shard in pool.shards
    )
    return replace(pool, shards=shards, metric=metric)


def with_external(pool: Pool, name: str, *, higher_is_better: bool = True) -> Pool:
    """The pool with one of its named scores as the metric."""
    metric = External(label=name, higher_is_better=higher_is_better)
    columns = pool.score_column(name)
    shards = tuple(
        shard.with_stats(metric.from_values(values)) for shard, values in zip(pool.shards, columns, strict=True)
    )
    return replace(pool, shards=shards, metric=metric)


class Judge:
    """Statistics of many single-sentence lists: references are tokenised and mapped to ids only once.

    `words` is the candidates' word table; the words of the references are added to it.
    """

    def __init__(self, metric: Metric, words: WordTable, references: Sequence[Sequence[str]]) -> None:
        self.metric = metric
        self._words = words
        self._texts = references
        self._references = [_encoded(words, [several]) for several in references]
        self._spelling = _spelling(words)

    def statistics(self, shard: Shard) -> Float64Array:
        """Statistics of the candidates of a shard with one sentence."""
        sentence = int(shard.sentence_ids[0])
        of_each = np.zeros(shard.n_candidates, np.int32)
        if self.metric.reads_text:
            rows = np.split(shard.tokens, shard.token_rows[1:-1])
            texts = [" ".join(self._spelling.words[token] for token in row) for row in rows[: shard.n_candidates]]
            return self.metric.text_statistics(texts, [self._texts[sentence]], sentence=of_each)
        hyps = Segments(offsets=shard.token_rows, ids=shard.tokens)
        return self.metric.statistics(hyps, self._references[sentence], sentence=of_each, spelling=self._spelling)


def _check_ids(pool: Pool, n_references: int, allow_missing: bool) -> None:
    present = np.zeros(n_references, dtype=bool)
    for shard in pool.shards:
        ids = shard.sentence_ids[np.diff(shard.sentences) > 0]
        if len(ids) and ids[-1] >= n_references:
            raise MismatchError(
                f"the lists have sentence {ids[-1]} (counted from 0) but the references have "
                f"only {n_references} lines; do they belong together?"
            )
        present[ids] = True
    missing = np.flatnonzero(~present)
    if len(missing) and not allow_missing:
        raise MismatchError(
            f"the references have {n_references} lines but {len(missing)} of them have no candidates, "
            f"the first is line {missing[0] + 1}; do they belong together?"
        )


def _by_text(
    pool: Pool, shard: Shard, metric: Metric, references: Sequence[Sequence[str]], n_threads: int
) -> Float64Array:
    texts = [pool.text(shard, candidate) for candidate in range(shard.n_candidates)]
    return metric.text_statistics(texts, references, sentence=shard.sentence_of_each(), n_threads=n_threads)


def _by_ids(
    pool: Pool, shard: Shard, metric: Metric, references: Sequence[Sequence[str]], n_threads: int
) -> Float64Array:
    if len(shard.tokens) and not 0 <= shard.tokens.min() <= shard.tokens.max() < len(pool.words):
        raise InputError("a candidate has a word id beyond the vocabulary; the pool's files do not belong together")
    refs = _encoded(pool.words, references)
    return metric.statistics(
        Segments(offsets=shard.token_rows, ids=shard.tokens),
        refs,
        sentence=shard.sentence_of_each(),
        spelling=_spelling(pool.words),
        n_threads=n_threads,
    )


def _encoded(words: WordTable, references: Sequence[Sequence[str]]) -> References:
    lines = [line for several in references for line in several]
    block = "".join(line.replace("\n", " ") + "\n" for line in lines).encode("utf-8")
    offsets, ids = words.encode_growing(block)
    counts: Int64Array = np.array([0, *(len(several) for several in references)], dtype=np.int64)
    return References(ref_offsets=np.cumsum(counts), segments=Segments(offsets=offsets, ids=ids))


def _spelling(words: WordTable) -> Spelling:
    return Spelling(unescape_word(words.word(i)).decode("utf-8") for i in range(len(words)))
