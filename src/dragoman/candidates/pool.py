"""The pool: candidates of many sentences, the input of batch optimisers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dragoman._core import WordTable, project_candidates, unescape_word
from dragoman.candidates.lazy import light_shards, map_shards, of_sentences, outlines
from dragoman.candidates.shard import Shard, concatenate
from dragoman.corpus import Vocab
from dragoman.corpus.vocab import VocabBuilder
from dragoman.errors import InputError
from dragoman.features import Block, FeatureIndex
from dragoman.metric import Metric
from dragoman.types import Float64Array, Int64Array, offsets_of

__all__ = ["Pool", "metric_of", "new_words"]


def new_words() -> WordTable:
    """A new word table for a pool, with the reserved words of every vocabulary."""
    return VocabBuilder().table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Candidates in shards with ascending, disjoint sentence ids: a tuple, or LazyShards made when they are asked for.

    `index` and `words` map feature and word ids to names, and grow when candidates are added. `dense` are the ids of
    the features present on every line of the list. `score_names` are the columns of the shards' `scores`. The
    statistics are those of `metric`. `folds[i]` is the fold of the training text that the sentence with id i is of, for
    sentences of a training text that has folds: equal source sentences are of the same.
    """

    index: FeatureIndex
    words: WordTable
    shards: Sequence[Shard]
    dense: frozenset[int] = frozenset()
    score_names: tuple[str, ...] = ()
    metric: Metric | None = None
    folds: NDArray[np.integer] | None = None

    def __post_init__(self) -> None:
        ids = [outline.sentence_ids for outline in outlines(self.shards)]
        ends = [(part[0], part[-1]) for part in ids if len(part)]
        ordered = all((np.diff(part) > 0).all() for part in ids)
        if not ordered or any(a[1] >= b[0] for a, b in pairwise(ends)):
            raise ValueError("sentence ids must ascend, within and between shards")

    def __len__(self) -> int:
        return self.n_sentences

    def __repr__(self) -> str:
        metric = "" if self.metric is None else f", metric {self.metric.name}"
        return f"Pool({len(self)} sentences, {self.n_candidates} candidates, {self.n_features} features{metric})"

    @property
    def n_sentences(self) -> int:
        return sum(len(outline.sentence_ids) for outline in outlines(self.shards))

    @property
    def n_candidates(self) -> int:
        return sum(int(outline.sentences[-1]) for outline in outlines(self.shards))

    @property
    def n_features(self) -> int:
        """Number of features in the index, including those that no candidate has."""
        return len(self.index)

    def dense_names(self) -> list[str]:
        """Names of the dense features, in id order."""
        return self.index.names(np.array(sorted(self.dense), dtype=np.int32))

    def distinct(self, *, n_threads: int = 1) -> Pool:
        return replace(self, shards=tuple(shard.distinct(n_threads=n_threads) for shard in self.shards))

    def of_sentences(self, ids: Int64Array) -> Pool:
        """The pool restricted to the sentences with these ids."""
        return replace(self, shards=of_sentences(self.shards, ids))

    def light_shards(self) -> Iterator[Shard]:
        """The shards for somebody who looks at no features and words: those made on demand come without."""
        return light_shards(self.shards)

    def in_memory(self) -> Pool:
        """The pool with all candidates in one in-memory shard."""
        return replace(self, shards=(concatenate(self.shards),)) if self.shards else self

    def text(self, shard: Shard, candidate: int) -> str:
        row = shard.tokens[shard.token_rows[candidate] : shard.token_rows[candidate + 1]]
        return b" ".join(unescape_word(self.words.word(int(token))) for token in row).decode("utf-8")

    def with_texts(self, write: Callable[[str, int], str]) -> Pool:
        """The pool with other words: `write` gives the text of a candidate from its text and its sentence id."""
        words = new_words()
        shards = []
        for shard in self.shards:
            ids = shard.sentence_ids[shard.sentence_of_each()].tolist()
            texts = [write(self.text(shard, c), sentence) for c, sentence in enumerate(ids)]
            rows, tokens = words.encode_growing("".join(f"{text}\n" for text in texts).encode("utf-8"), 1)
            shards.append(replace(shard, token_rows=rows, tokens=tokens))
        return replace(self, words=words, shards=tuple(shards))

    def project(self, blocks: Sequence[Block]) -> Pool:
        """The pool with features replaced by blocks: each block becomes a dense feature and removes those it covers."""
        for block in blocks:
            if self.index.find(block.name) >= 0:
                raise InputError(f"the pool already has a feature '{block.name}'; give the block another name")
        found = [self.index.find_table(block.features) for block in blocks]
        new = [self.index.intern(block.name) for block in blocks]
        drop = np.zeros(len(self.index), dtype=np.uint8)
        for ids in found:
            drop[ids[ids >= 0]] = 1
        # A coefficient counts where it is not 0 and the pool has the feature.
        used = [(ids >= 0) & (block.coefficients != 0) for ids, block in zip(found, blocks, strict=True)]
        sources = np.concatenate([np.zeros(0, np.int32), *(ids[kept] for ids, kept in zip(found, used, strict=True))])
        order = np.argsort(sources, kind="stable")  # several blocks may cover a feature
        arguments = (
            drop,
            offsets_of(np.bincount(sources, minlength=len(self.index))),
            np.repeat(np.array(new, np.int32), [np.count_nonzero(kept) for kept in used])[order],
            np.concatenate(
                [np.zeros(0), *(block.coefficients[kept] for block, kept in zip(blocks, used, strict=True))]
            )[order],
        )
        shards = map_shards(
            lambda shard: shard.with_features(*project_candidates(*shard.candidates, *arguments)), self.shards
        )
        return replace(
            self, shards=shards, dense=frozenset(id_ for id_ in self.dense if not drop[id_]) | frozenset(new)
        )

    def add_features(self, columns: Mapping[str, Sequence[Float64Array]]) -> Pool:
        """The pool with more dense features: for each name one array per shard, with a value per candidate.

        Raises InputError for a non-finite value and for an existing feature name.
        """
        used = {int(id_) for shard in self.shards for id_ in np.unique(shard.feature_ids)} | self.dense
        for name, arrays in columns.items():
            if self.index.find(name) in used:
                raise InputError(f"the candidates already have a feature '{name}'")
            for array, shard in zip(arrays, self.shards, strict=True):
                if array.shape != (shard.n_candidates,):
                    raise InputError(f"'{name}' needs one value for each of {shard.n_candidates} candidates")
                if bad := np.flatnonzero(~(np.abs(array) <= np.finfo(np.float32).max)).tolist():
                    raise InputError(
                        f"'{name}' of candidate {bad[0]} is {array[bad[0]]}; expected a finite 32-bit number"
                    )
        ids = np.array([self.index.intern(name) for name in columns], dtype=np.int32)
        shards = tuple(
            _with_columns(shard, ids, np.stack([arrays[i] for arrays in columns.values()], axis=1))
            for i, shard in enumerate(self.shards)
        )
        return replace(self, shards=shards, dense=self.dense | frozenset(ids.tolist()))

    def scores_as_features(self, names: Iterable[str]) -> Pool:
        """The pool with named scores of the candidates (such as a QE model's) as features of the same name."""
        return self.add_features({name: list(self._score_columns(name)) for name in names})

    def add_scores(self, columns: Mapping[str, Sequence[Float64Array]]) -> Pool:
        """The pool with more named scores: for each name one array per shard, with a value per candidate.

        Raises InputError for an existing name.
        """
        for name in columns:
            if name in self.score_names:
                raise InputError(f"the candidates already have a score '{name}'")
        shards = []
        for i, shard in enumerate(self.shards):
            new = np.stack([arrays[i] for arrays in columns.values()], axis=1)
            old = shard.scores[:, : len(self.score_names)]
            shards.append(replace(shard, scores=np.ascontiguousarray(np.concatenate([old, new], axis=1))))
        return replace(self, shards=tuple(shards), score_names=(*self.score_names, *columns))

    def score_column(self, name: str, *, fill_missing: bool = False) -> Iterator[Float64Array]:
        """A named score, one array per shard. Raises InputError if a candidate lacks it.

        With `fill_missing` such a candidate has the mean of its list's others, so that it is neither the best nor the
        worst, and where a whole list lacks the score the mean of all.
        """
        return self._filled_score(name) if fill_missing else self._score_columns(name)

    def _filled_score(self, name: str) -> Iterator[Float64Array]:
        column = self._column(name)
        known = [shard.scores[:, column][~np.isnan(shard.scores[:, column])] for shard in self.light_shards()]
        n_known = sum(map(len, known))
        if n_known == 0:
            raise InputError(f"no candidate has the score '{name}'")
        mean = math.fsum(math.fsum(values) for values in known) / n_known
        for shard in self.shards:
            values = shard.scores[:, column].copy()
            lacking = np.isnan(values)
            if lacking.any():
                of_each = shard.sentence_of_each()
                counts = np.bincount(of_each[~lacking], minlength=shard.n_sentences)
                sums = np.bincount(of_each[~lacking], values[~lacking], minlength=shard.n_sentences)
                means = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
                values[lacking] = means[of_each[lacking]]
            yield values

    def _column(self, name: str) -> int:
        if name not in self.score_names:
            known = ", ".join(self.score_names) or "none"
            raise InputError(f"the candidates have no score '{name}'; they have: {known}")
        return self.score_names.index(name)

    def _score_columns(self, name: str) -> Iterator[Float64Array]:
        column = self._column(name)
        for shard in self.shards:
            values = shard.scores[:, column]
            if missing := np.flatnonzero(np.isnan(values)).tolist():
                sentence = shard.sentence_ids[np.searchsorted(shard.sentences, missing[0], side="right") - 1]
                raise InputError(
                    f"{len(missing)} candidates have no score '{name}', the first of sentence {sentence}; "
                    "every candidate needs one, unless missing ones are allowed (`fill_missing=True`), which count as "
                    "the mean of their list"
                )
            yield np.ascontiguousarray(values)

    def vocab(self) -> Vocab:
        """The words so far as a vocabulary, which shares the table."""
        return Vocab(self.words)


def metric_of(pool: Pool) -> Metric:
    """The pool's metric. Raises InputError when it has none."""
    if pool.metric is None:
        raise InputError("the pool has no metric yet: give references, or name a score of the candidates")
    return pool.metric


def _with_columns(shard: Shard, ids: np.ndarray, columns: np.ndarray) -> Shard:
    n, k = columns.shape
    rows = np.repeat(np.arange(n), np.diff(shard.feature_rows))
    all_rows = np.concatenate([rows, np.repeat(np.arange(n), k)])
    all_ids = np.concatenate([shard.feature_ids, np.tile(ids, n)])
    all_values = np.concatenate([shard.feature_values, columns.astype(np.float32).ravel()])
    kept = all_values != 0
    order = np.lexsort((all_ids[kept], all_rows[kept]))
    counts = np.bincount(all_rows[kept], minlength=n)
    return shard.with_features(offsets_of(counts.astype(np.int64)), all_ids[kept][order], all_values[kept][order])
