"""Statistics of a pool's candidates by a metric."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dragoman._core import WordTable, unescape_word
from dragoman.candidates.pool import Pool
from dragoman.candidates.shard import Shard
from dragoman.errors import InputError, MismatchError
from dragoman.metric import (
    METRICS,
    External,
    Metric,
    MetricWords,
    Mix,
    References,
    Segments,
    Smoothing,
    Spelling,
    Tokenizer,
    by_name,
)
from dragoman.settings import takes_text
from dragoman.text import read_lines
from dragoman.types import Float64Array, Int32Array, Int64Array, Paths, one_or_many, sentences_of

__all__ = [
    "Judge",
    "compact_words",
    "has_scores",
    "id_statistics",
    "metric_of_sum",
    "mixes_metrics",
    "read_references",
    "summed_names",
    "text_statistics",
    "texts_of",
    "with_external",
    "with_metric",
    "with_mixture",
]

_FACTOR = r"\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+"


def read_references(paths: Paths) -> list[list[str]]:
    """The references of each sentence, from line-aligned files; an empty line is an empty reference."""
    paths = one_or_many(paths)
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
    shards = []
    for shard in pool.shards:
        own = [sentences_of(references[i], "the references of a sentence") for i in shard.sentence_ids]
        if metric.reads_text:
            stats = text_statistics(pool, shard, metric, own, n_threads)
        else:
            stats = id_statistics(pool, shard, metric, _encoded(pool.words, own), n_threads)
        shards.append(shard.with_stats(stats))
    return replace(pool, shards=tuple(shards), metric=metric)


def with_external(pool: Pool, name: str, *, higher_is_better: bool = True, fill_missing: bool = False) -> Pool:
    """The pool with one of its named scores as the metric, or a sum of them: `comet - 0.04*metricx`.

    A candidate that lacks a score is an error, or with `fill_missing` has the mean of its list (`Pool.score_column`).
    """
    metric = External(label=name, higher_is_better=higher_is_better)
    columns = _external_columns(pool, name, fill_missing)
    shards = tuple(
        shard.with_stats(metric.from_values(values)) for shard, values in zip(pool.shards, columns, strict=True)
    )
    return replace(pool, shards=shards, metric=metric)


@takes_text
def with_mixture(
    pool: Pool,
    told: str,
    references: Sequence[Sequence[str]],
    *,
    tokenizer: Tokenizer = Tokenizer.NONE,
    lowercase: bool = False,
    allow_missing: bool = False,
    fill_missing: bool = False,
    n_threads: int = 1,
) -> Pool:
    """The pool with a sum of its named scores and of metrics as the metric: `0.5*comet + 0.5*chrf`.

    A score that is subtracted is a loss, such as an error rate. Every part has the scale that it is computed in, so
    that bleu, chrf and ter are numbers from 0 to 1. `fill_missing` as in `with_external`. Raises InputError for a name
    that is neither.
    """
    sum_ = metric_of_sum(told, pool.score_names, tokenizer=tokenizer, lowercase=lowercase)
    parts = []
    for _, metric in sum_.terms:
        if metric.uses_references:
            measured = with_metric(pool, metric, references, allow_missing=allow_missing, n_threads=n_threads)
            parts.append([shard.stats for shard in measured.shards])
        else:
            columns = pool.score_column(metric.name, fill_missing=fill_missing)
            parts.append([External(label=metric.name).from_values(values) for values in columns])
    shards = [
        shard.with_stats(np.ascontiguousarray(np.concatenate(stats, axis=1)))
        for shard, *stats in zip(pool.shards, *parts, strict=True)
    ]
    return replace(pool, shards=tuple(shards), metric=sum_)


@takes_text
def metric_of_sum(
    told: str,
    scores: Collection[str] | None = None,
    *,
    tokenizer: Tokenizer = Tokenizer.NONE,
    lowercase: bool = False,
) -> Mix:
    """The metric of a sum of scores and metrics; `scores` are those that candidates have, None: any that is no metric.

    Where they are known, raises InputError for a name that is neither, and for a sum without metrics.
    """
    terms: list[tuple[float, Metric]] = []
    for name, factor in _sum_of_scores(told) or [(told, 1.0)]:
        is_metric = name.lower() in METRICS
        if scores is not None and not is_metric and name not in scores:
            raise InputError(
                f"'{name}' is no score of the candidates, which have {', '.join(scores) or 'none'}, and no metric: "
                f"expected one of {', '.join(METRICS)}"
            )
        if not is_metric or (scores is not None and name in scores):
            terms.append((factor, External(label=name, higher_is_better=factor > 0)))
        else:
            metric = by_name(name, smoothing=Smoothing.NONE, tokenizer=tokenizer, lowercase=lowercase)
            terms.append((factor, metric))
    if scores is not None and not any(metric.uses_references for _, metric in terms):
        raise InputError(f"'{told}' needs no references; leave them out, or add a metric: '{told} + chrf'")
    return Mix(terms=tuple(terms))


def mixes_metrics(told: str) -> bool:
    """Whether a sum names a metric of references."""
    return any(name.lower() in METRICS for name, _ in _sum_of_scores(told) or [])


def summed_names(told: str) -> list[str]:
    """The names in a sum of scores, and what was told itself, which may be a name."""
    return [told, *(name for name, _ in _sum_of_scores(told) or [])]


def has_scores(pool: Pool, told: str, *, beside: Collection[str] = ()) -> bool:
    """Whether candidates have the score, or all scores of the sum; names `beside` are no scores."""
    names = [name for name, _ in _sum_of_scores(told) or [(told, 1)]]
    return told in pool.score_names or all(name in pool.score_names for name in names if name.lower() not in beside)


def _external_columns(pool: Pool, told: str, fill_missing: bool) -> Iterator[Float64Array]:
    """A named score, or the sum of several with factors, one array per shard."""
    terms = None if told in pool.score_names else _sum_of_scores(told)
    if terms is None or not all(name in pool.score_names for name, _ in terms):
        return pool.score_column(told, fill_missing=fill_missing)
    columns = [pool.score_column(name, fill_missing=fill_missing) for name, _ in terms]
    factors = np.array([factor for _, factor in terms])
    return (np.ascontiguousarray(np.stack(each, axis=1) @ factors) for each in zip(*columns, strict=True))


def _sum_of_scores(told: str) -> list[tuple[str, float]] | None:
    """Names and factors of a sum; None if it is none. A minus needs spaces around it, for names may have one."""
    terms = []
    for part in filter(None, re.split(r"\s*(?=\+)|\s+(?=-\s)", told.strip())):
        match = re.fullmatch(rf"([+-]?)\s*(?:({_FACTOR})\s*\*\s*)?([^\s*+]+)", part)
        if match is None:
            return None
        factor = float(match[2] or 1)
        terms.append((match[3], -factor if match[1] == "-" else factor))
    return terms or None


class Judge:
    """Statistics of many single-sentence lists: references are tokenised and mapped to ids only once.

    `words` is the candidates' word table; the words of the references are added to it. References are those of all
    sentences, or by sentence id those of some.
    """

    def __init__(
        self, metric: Metric, words: WordTable, references: Sequence[Sequence[str]] | Mapping[int, Sequence[str]]
    ) -> None:
        self.metric = metric
        self._words = words
        self._texts = references if isinstance(references, Mapping) else dict(enumerate(references))
        encoded = {sentence: _encoded(words, [several]) for sentence, several in self._texts.items()}
        self._spelling = _spelling(words)
        self._cut = MetricWords(self._spelling.words)
        self._references = {sentence: _cut(self._cut, references) for sentence, references in encoded.items()}

    def statistics(self, shard: Shard) -> Float64Array:
        """Statistics of the candidates of a shard with one sentence."""
        sentence = int(shard.sentence_ids[0])
        of_each = np.zeros(shard.n_candidates, np.int32)
        if self.metric.reads_text:
            rows = np.split(shard.tokens, shard.token_rows[1:-1])
            texts = [" ".join(self._spelling.words[token] for token in row) for row in rows[: shard.n_candidates]]
            return self.metric.text_statistics(texts, [self._texts[sentence]], sentence=of_each)
        hyps = self._cut.cut(Segments(offsets=shard.token_rows, ids=shard.tokens))
        return self.metric.statistics(hyps, self._references[sentence], sentence=of_each, spelling=self._cut.spelling)


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


def text_statistics(
    pool: Pool, shard: Shard, metric: Metric, references: Sequence[Sequence[str]], n_threads: int = 1
) -> Float64Array:
    """Statistics of a shard's candidates by a metric that reads text; one or more references per sentence."""
    texts = texts_of(pool, shard)
    return metric.text_statistics(texts, references, sentence=shard.sentence_of_each(), n_threads=n_threads)


def texts_of(pool: Pool, shard: Shard) -> list[str]:
    """The text of each candidate of a shard."""
    tokens, spelling = compact_words(pool.words, shard.tokens)
    rows = np.split(tokens, shard.token_rows[1:-1])[: shard.n_candidates]
    return [" ".join([spelling.words[token] for token in row.tolist()]) for row in rows]


def id_statistics(pool: Pool, shard: Shard, metric: Metric, references: References, n_threads: int = 1) -> Float64Array:
    """Statistics of a shard's candidates; the references of each sentence have ids of the pool's word table."""
    segments = references.segments
    ids, spelling = compact_words(pool.words, np.concatenate([shard.tokens, segments.ids]))
    hyps, refs = np.split(ids, [len(shard.tokens)])
    words = MetricWords(spelling.words)
    same = References(ref_offsets=references.ref_offsets, segments=Segments(offsets=segments.offsets, ids=refs))
    return metric.statistics(
        words.cut(Segments(offsets=shard.token_rows, ids=hyps)),
        _cut(words, same),
        sentence=shard.sentence_of_each(),
        spelling=words.spelling,
        n_threads=n_threads,
    )


def _cut(words: MetricWords, references: References) -> References:
    return References(ref_offsets=references.ref_offsets, segments=words.cut(references.segments))


def compact_words(words: WordTable, ids: Int32Array) -> tuple[Int32Array, Spelling]:
    """The ids renumbered without gaps, in the same order, and the spelling of these words alone."""
    if len(ids) and not 0 <= ids.min() <= ids.max() < len(words):
        raise InputError("a candidate has a word id beyond the vocabulary; the pool's files do not belong together")
    used = np.zeros(len(words), bool)
    used[ids] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    spelling = Spelling(unescape_word(words.word(i)).decode("utf-8") for i in np.flatnonzero(used).tolist())
    return number[ids], spelling


def _encoded(words: WordTable, references: Sequence[Sequence[str]]) -> References:
    lines = [line for several in references for line in several]
    block = "".join(line.replace("\n", " ") + "\n" for line in lines).encode("utf-8")
    offsets, ids = words.encode_growing(block)
    counts: Int64Array = np.array([0, *(len(several) for several in references)], dtype=np.int64)
    return References(ref_offsets=np.cumsum(counts), segments=Segments(offsets=offsets, ids=ids))


def _spelling(words: WordTable) -> Spelling:
    return Spelling(unescape_word(words.word(i)).decode("utf-8") for i in range(len(words)))
