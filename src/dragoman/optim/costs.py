"""Which other translations a candidate's gain is taken with."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from dragoman import _core
from dragoman.candidates import Shard
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.types import Float64Array

__all__ = ["Context", "PreviousPass"]


class Context(StrEnum):
    """The context of gains: a corpus of which the candidate is one sentence."""

    PSEUDO = "pseudo"  # the translations before, decayed (Chiang, Marton and Resnik 2008)
    PREVIOUS = "previous"  # those of all other sentences in the pass before, halved (Eidelman et al. 2013)
    SENTENCE = "sentence"  # none


class PreviousPass:
    """The best translations of a pass over all sentences, as the context of the next one.

    The gain of a candidate of sentence i is (O_f + |f|) gain(O + its statistics), as in a pseudo-corpus; O and O_f are
    half the statistics and half the source words of all other sentences.
    """

    def __init__(self, metric: Metric, statistics: Float64Array, lengths: Float64Array) -> None:
        """`statistics` [n_sentences, n_stats] of the translations, zeros where there was none; `lengths` in words."""
        if statistics.shape != (len(lengths), metric.n_stats):
            raise ValueError(f"{len(lengths)} x {metric.n_stats} statistics expected, not {statistics.shape}")
        if not metric.in_context:
            raise InputError(f"{metric.name} has no context: its gains are those of sentences")
        self._metric, self._statistics, self._lengths = metric, statistics, lengths
        self._scorer, self._prior = metric.scorer(), metric.context_prior()
        self._total, self._length = statistics.sum(axis=0), float(lengths.sum())

    def __reduce__(self) -> tuple[type[PreviousPass], tuple[Metric, Float64Array, Float64Array]]:
        return type(self), (self._metric, self._statistics, self._lengths)

    def gains(self, sentence: int, statistics: Float64Array) -> Float64Array:
        """Of candidates of a sentence, [n, n_stats] -> [n]."""
        length = float(self._lengths[sentence])
        others = 0.5 * (self._total - self._statistics[sentence])
        corpus = _core.PseudoCorpus(self._scorer, others, self._prior, 0.5 * (self._length - length), 0.0)
        return corpus.gains(statistics, length)

    def gains_of(self, shard: Shard) -> Float64Array:
        """Of all candidates of a shard, by the ids of its sentences."""
        ends = shard.sentences.tolist()
        parts = [
            self.gains(sentence, shard.stats[begin:end])
            for sentence, begin, end in zip(shard.sentence_ids.tolist(), ends[:-1], ends[1:], strict=True)
        ]
        return np.concatenate([np.zeros(0), *parts])
