"""Features and words of candidates, from their derivations instead of a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dragoman import _core
from dragoman.features import FeatureIndex, Template
from dragoman.forest import Derivations
from dragoman.grammar import Grammar
from dragoman.search.blocks import SearchBlocks
from dragoman.search.builder import SideClasses, WordCounts, native_classes
from dragoman.search.sentences import EncodedSentences
from dragoman.types import Float32Array, Int32Array, Int64Array

__all__ = ["DerivationFeatures"]


class DerivationFeatures:
    """Computes what a decoder with these templates would put on the same candidates, equal bit by bit.

    Rules are looked up by their ids in the view of each sentence: all data, or all but a fold. Word counts and classes
    are those of the decoder's builder; `blocks` take the place of the features they cover. Methods raise InputError
    where derivations do not fit the grammar and the words.
    """

    def __init__(
        self,
        grammar: Grammar,
        index: FeatureIndex,
        *,
        templates: Sequence[Template] = (),
        word_counts: WordCounts | None = None,
        word_classes: SideClasses | None = None,
        blocks: SearchBlocks | None = None,
    ) -> None:
        self.index = index
        self._grammar = grammar
        self._blocks = None if blocks is None else blocks.core
        if word_counts is None:
            word_counts = grammar.tables.word_counts() if templates else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._native = _core.DerivationFeatures(
            grammar.tables,
            grammar.source_vocab.table,
            grammar.target_vocab.table,
            *word_counts,
            [(template.name, template.codes()) for template in templates],
            list(grammar.labels),
            **native_classes(word_classes, grammar.source_vocab, grammar.target_vocab),
        )

    def batch(
        self, source: EncodedSentences, folds: NDArray[np.int16], sentences: Int64Array, derivations: Derivations
    ) -> _core.DerivationBatch:
        """Candidates for the other methods: sentence s has candidates sentences[s] to sentences[s + 1].

        `source` has the words as the decoder saw them, `folds` the fold that its view lacks (-1: all data).
        """
        return _core.DerivationBatch(
            sentence_offsets=source.offsets,
            words=source.ids,
            folds=folds,
            first_candidate=sentences,
            first_application=derivations.sentences,
            rules=derivations.rules,
            begins=derivations.begins,
            ends=derivations.ends,
            rows=derivations.rows,
            applications=derivations.applications,
        )

    def intern(self, batch: _core.DerivationBatch, *, n_threads: int = 1) -> None:
        """Add the features of all candidates to the index, in an order that depends on the batch alone."""
        self._native.intern(batch, self.index, self._blocks, n_threads)

    def features(
        self,
        batch: _core.DerivationBatch,
        dense_ids: Int32Array,
        dense: Float32Array,
        *,
        grow: bool = True,
        n_threads: int = 1,
    ) -> tuple[Int64Array, Int32Array, Float32Array]:
        """Rows, ids (ascending) and values of all candidates, including `dense` [N, number of dense features].

        Without `grow`, features that the index lacks are left out.
        """
        values = np.ascontiguousarray(dense)
        return self._native.features(batch, dense_ids, values, self.index, grow, self._blocks, n_threads)

    def steps(self, batch: _core.DerivationBatch, *, grow: bool = True) -> tuple[Int64Array, Int32Array, Float32Array]:
        """Rows, ids and values of every application of every candidate: what its forest's edge has of templates.

        Features of orientations, which depend on the phrases before, are not among them.
        """
        return self._native.steps(batch, self.index, grow, self._blocks)

    def tokens(
        self, batch: _core.DerivationBatch, source: EncodedSentences, derivations: Derivations, *, n_threads: int = 1
    ) -> tuple[Int64Array, Int32Array, list[str]]:
        """Rows and tokens of all candidates, and the words of ids beyond the target vocabulary."""
        sentences = np.repeat(np.arange(derivations.n_sentences), np.diff(derivations.sentences))
        is_passed = derivations.rules < 0
        places = np.unique(source.offsets[sentences[is_passed]] + derivations.begins[is_passed])
        ids, own_words = source.passed(places, self._grammar.target_vocab)
        passed = np.full(len(source.ids), -1, np.int32)
        passed[places] = ids
        offsets, tokens = self._native.tokens(batch, passed, n_threads)
        return offsets, tokens, own_words
