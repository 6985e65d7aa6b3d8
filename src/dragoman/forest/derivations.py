"""Derivations of k-best candidates as flat arrays: which rules were applied to which source words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dragoman._core import gather_ids
from dragoman.types import Int32Array, Int64Array, joined_offsets, offsets_of

__all__ = ["Derivations"]


@dataclass(frozen=True, slots=True)
class Derivations:
    """Derivations of N candidates of S sentences. Fields are in the order of the native tuple.

    Sentence s lists its distinct applications once, as the entries `sentences[s]` to `sentences[s + 1]` (half-open) of
    `rules`, `begins` and `ends`: a rule of the grammar, or -1 for a word that passes through, and the source words
    [begin, end) that it covers. Candidate c applies those numbered, from 0 within its sentence,
    `applications[rows[c]:rows[c + 1]]`: phrase pairs in target order, rules in pre-order (a rule, then what its
    nonterminals stand for, in the order of the source side), one tree after the other where they are glued.
    """

    sentences: Int64Array  # [S + 1]
    rules: Int64Array
    begins: Int32Array
    ends: Int32Array
    rows: Int64Array  # [N + 1]
    applications: Int32Array

    @property
    def n_sentences(self) -> int:
        return len(self.sentences) - 1

    @property
    def n_candidates(self) -> int:
        return len(self.rows) - 1

    def gather(self, positions: Int64Array, candidates: Int64Array) -> Derivations:
        """Those of some sentences and of candidates, which must be theirs."""
        lengths = np.diff(self.sentences)[positions]
        sentences = offsets_of(lengths)
        kept = np.arange(sentences[-1]) + np.repeat(self.sentences[positions] - sentences[:-1], lengths)
        return Derivations(
            sentences,
            self.rules[kept],
            self.begins[kept],
            self.ends[kept],
            offsets_of(np.diff(self.rows)[candidates]),
            gather_ids([self.rows], [self.applications], candidates),
        )

    def part(self, begin: int, end: int, first: int, last: int) -> Derivations:
        """Those of sentences begin..end-1, which have the candidates first..last-1, as views."""
        listed = slice(int(self.sentences[begin]), int(self.sentences[end]))
        used = slice(int(self.rows[first]), int(self.rows[last]))
        return Derivations(
            self.sentences[begin : end + 1] - listed.start,
            self.rules[listed],
            self.begins[listed],
            self.ends[listed],
            self.rows[first : last + 1] - used.start,
            self.applications[used],
        )

    @staticmethod
    def joined(parts: Sequence[Derivations]) -> Derivations:
        """The sentences of all parts, one after the other."""
        return Derivations(
            joined_offsets([part.sentences for part in parts]),
            np.concatenate([part.rules for part in parts]),
            np.concatenate([part.begins for part in parts]),
            np.concatenate([part.ends for part in parts]),
            joined_offsets([part.rows for part in parts]),
            np.concatenate([part.applications for part in parts]),
        )
