"""A shard: the candidates of some sentences as arrays, in memory or mapped from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dragoman._core import distinct_candidates, gather_ids, gather_values
from dragoman.errors import InputError
from dragoman.forest import Derivations
from dragoman.types import Float32Array, Float64Array, Int32Array, Int64Array, joined_offsets, offsets_of

__all__ = ["UNKNOWN_LENGTH", "Shard", "concatenate"]

UNKNOWN_LENGTH = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shard:
    """S sentences with N candidates; sentence s has candidates sentences[s] to sentences[s + 1] (half-open).

    Candidate c has the features feature_ids/feature_values[feature_rows[c] : feature_rows[c + 1]], with ascending ids
    and without zeros, and the words tokens[token_rows[c] : token_rows[c + 1]].
    `derivations` are there when a decoder was asked for them; they are not part of pools on disk.
    """

    sentence_ids: Int32Array  # [S], ascending: line number of the sentence in source and references, from 0
    sentences: Int64Array  # [S + 1]
    feature_rows: Int64Array  # [N + 1]
    feature_ids: Int32Array
    feature_values: Float32Array
    token_rows: Int64Array  # [N + 1]
    tokens: Int32Array
    rounds: Int32Array  # [N]: the tuning round that first found the candidate
    source_lengths: Int32Array  # [S]: words, or UNKNOWN_LENGTH
    totals: Float64Array  # [N]: the decoder's total score; NaN if absent
    scores: Float64Array  # [N, number of named scores]; NaN if absent
    stats: Float64Array  # [N, n_stats] of the pool's metric; n_stats is 0 without one
    derivations: Derivations | None = None

    def __post_init__(self) -> None:
        n, s = self.n_candidates, self.n_sentences
        fits = (
            len(self.sentences) == s + 1
            and self.sentences[0] == 0
            and self.sentences[-1] == n
            and len(self.token_rows) == n + 1
            and len(self.rounds) == len(self.totals) == len(self.scores) == len(self.stats) == n
            and len(self.source_lengths) == s
            and len(self.feature_ids) == len(self.feature_values) == self.feature_rows[-1]
            and len(self.tokens) == self.token_rows[-1]
            and (self.derivations is None or (self.derivations.n_sentences, self.derivations.n_candidates) == (s, n))
        )
        if not fits:
            raise ValueError("the arrays of a shard have inconsistent sizes")

    def __len__(self) -> int:
        return self.n_sentences

    def __repr__(self) -> str:
        return f"Shard({len(self)} sentences, {self.n_candidates} candidates)"

    @property
    def n_sentences(self) -> int:
        return len(self.sentence_ids)

    @property
    def n_candidates(self) -> int:
        return len(self.feature_rows) - 1

    @property
    def candidates(self) -> tuple[Int64Array, Int64Array, Int32Array, Float32Array]:
        """Sentences and features, the first arguments of most kernels."""
        return self.sentences, self.feature_rows, self.feature_ids, self.feature_values

    def sentence_of_each(self) -> Int32Array:
        """For each candidate, the position (not the id) of its sentence."""
        return np.repeat(np.arange(self.n_sentences, dtype=np.int32), np.diff(self.sentences))

    def select(self, kept: Int64Array) -> Shard:
        """The shard with only the candidates `kept` (ascending). Sentences without candidates remain."""
        positions = np.arange(self.n_sentences)
        return _gather([self], kept, positions, np.searchsorted(kept, self.sentences))

    def reordered(self, order: Int64Array, sentences: Int64Array) -> Shard:
        """The shard with candidates in this order; sentence s has those from sentences[s] to sentences[s + 1]."""
        return _gather([self], order, np.arange(self.n_sentences), sentences)

    def of_sentences(self, positions: Int64Array) -> Shard:
        """The shard with only the sentences at these positions (not ids), ascending."""
        sentences = offsets_of(np.diff(self.sentences)[positions])
        shift = self.sentences[positions] - sentences[:-1]
        order = np.arange(sentences[-1]) + np.repeat(shift, np.diff(sentences))
        return _gather([self], order, positions, sentences)

    def distinct(self, *, n_threads: int = 1) -> Shard:
        """The shard without duplicates: candidates with the words and features of an earlier one of the sentence.

        If no candidate has words (statistics files), the statistics must also be equal.
        """
        extra = np.ascontiguousarray(self.stats if len(self.tokens) == 0 else self.stats[:, :0])
        kept = distinct_candidates(*self.candidates, self.token_rows, self.tokens, extra, n_threads)
        return self if len(kept) == self.n_candidates else self.select(kept)

    def part(self, begin: int, end: int) -> Shard:
        """Sentences begin..end-1, as views where possible."""
        first, last = int(self.sentences[begin]), int(self.sentences[end])
        features = slice(int(self.feature_rows[first]), int(self.feature_rows[last]))
        tokens = slice(int(self.token_rows[first]), int(self.token_rows[last]))
        return Shard(
            sentence_ids=self.sentence_ids[begin:end],
            sentences=self.sentences[begin : end + 1] - first,
            feature_rows=self.feature_rows[first : last + 1] - features.start,
            feature_ids=self.feature_ids[features],
            feature_values=self.feature_values[features],
            token_rows=self.token_rows[first : last + 1] - tokens.start,
            tokens=self.tokens[tokens],
            rounds=self.rounds[first:last],
            source_lengths=self.source_lengths[begin:end],
            totals=self.totals[first:last],
            scores=self.scores[first:last],
            stats=self.stats[first:last],
            derivations=self.derivations and self.derivations.part(begin, end, first, last),
        )

    def with_stats(self, stats: Float64Array) -> Shard:
        return replace(self, stats=np.ascontiguousarray(stats, dtype=np.float64))

    def with_features(self, rows: Int64Array, ids: Int32Array, values: Float32Array) -> Shard:
        return replace(self, feature_rows=rows, feature_ids=ids, feature_values=values)


def concatenate(shards: Sequence[Shard]) -> Shard:
    """One shard of all candidates: sentences by id, a sentence's candidates in the order of the shards.

    The input ids need not be ascending or distinct. Derivations are kept where all have them and ids are distinct.
    """
    ids = np.concatenate([shard.sentence_ids for shard in shards])
    distinct, first, lengths = _source_lengths(ids, np.concatenate([shard.source_lengths for shard in shards]))
    of_each = np.repeat(ids, np.concatenate([np.diff(shard.sentences) for shard in shards]))
    order = np.argsort(of_each, kind="stable")
    sentences = np.append(np.searchsorted(of_each[order], distinct), len(order))
    if len(distinct) < len(ids):
        shards = [replace(shard, derivations=None) for shard in shards]
    return replace(_gather(shards, order, first, sentences), source_lengths=lengths)


def _gather(shards: Sequence[Shard], order: Int64Array, positions: Int64Array, sentences: Int64Array) -> Shard:
    """Candidates and sentences of shards, counted through all of them."""
    feature_rows, token_rows = [shard.feature_rows for shard in shards], [shard.token_rows for shard in shards]
    derivations = [shard.derivations for shard in shards if shard.derivations is not None]
    return Shard(
        sentence_ids=np.concatenate([shard.sentence_ids for shard in shards])[positions],
        sentences=sentences.astype(np.int64),
        feature_rows=offsets_of(np.diff(joined_offsets(feature_rows))[order]),
        feature_ids=gather_ids(feature_rows, [shard.feature_ids for shard in shards], order),
        feature_values=gather_values(feature_rows, [shard.feature_values for shard in shards], order),
        token_rows=offsets_of(np.diff(joined_offsets(token_rows))[order]),
        tokens=gather_ids(token_rows, [shard.tokens for shard in shards], order),
        rounds=np.concatenate([shard.rounds for shard in shards])[order],
        source_lengths=np.concatenate([shard.source_lengths for shard in shards])[positions],
        totals=np.concatenate([shard.totals for shard in shards])[order],
        scores=np.concatenate([shard.scores for shard in shards])[order],
        stats=np.concatenate([shard.stats for shard in shards])[order],
        derivations=(
            Derivations.joined(derivations).gather(positions, order) if len(derivations) == len(shards) else None
        ),
    )


def _source_lengths(ids: Int32Array, lengths: Int32Array) -> tuple[Int32Array, Int64Array, Int32Array]:
    """The distinct ids, where each comes first, and their lengths."""
    distinct, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    longest = np.full(len(distinct), UNKNOWN_LENGTH, dtype=np.int32)
    np.maximum.at(longest, inverse, lengths)
    known = lengths != UNKNOWN_LENGTH
    if (clash := known & (longest[inverse] != lengths)).any():
        raise InputError(f"sentence {ids[clash][0]} has two different source lengths; do the lists belong together?")
    return distinct.astype(np.int32), first, longest
