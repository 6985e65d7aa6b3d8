"""From sentences to translation options: look-up in a view, words passed through, features of templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from dragoman import _core
from dragoman.corpus import UNK
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Template
from dragoman.grammar import View
from dragoman.search.options import PhraseOptions
from dragoman.text import split_tokens
from dragoman.types import Int32Array, Int64Array, Progress

__all__ = ["PhraseOptionBuilder", "Sentence"]

Sentence: TypeAlias = str | Sequence[str] | Int32Array
"""A line, its tokens, or their ids in the source vocabulary."""


class PhraseOptionBuilder:
    """Options of many sentences at once, ready for a decoder. Immutable; the index grows as new features appear.

    Word counts (by id) decide which words templates call frequent; a system gives those of its training text. By
    default they are the grammar's, where a word with several links counts once for each; of all folds, so that features
    mean the same in every view. An imported grammar has none.
    """

    def __init__(
        self,
        view: View,
        index: FeatureIndex,
        *,
        templates: Sequence[Template] = (),
        source_counts: Int64Array | None = None,
        target_counts: Int64Array | None = None,
    ) -> None:
        self.view = view
        self.index = index
        self.templates = tuple(templates)
        known = view.tables.word_counts() if templates else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._native = _core.OptionBuilder(
            view.core,
            view.source_vocab.table,
            view.target_vocab.table,
            known[0] if source_counts is None else source_counts,
            known[1] if target_counts is None else target_counts,
            [(template.name, list(template.values)) for template in self.templates],
        )

    def build(
        self,
        sentences: Sequence[Sentence],
        *,
        grow: bool = True,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[PhraseOptions, tuple[str, ...]]:
        """The options, and the words of target ids beyond the target vocabulary (for `PhraseDecoder.decode`).

        With `grow`, features that the index lacks are added, in an order that does not depend on threads; without, they
        are left out (they weigh nothing). A word without a translation of its own passes through as it is; given as the
        id of no word, as `<unk>`.
        """
        tokens = [
            None if isinstance(s, np.ndarray) else split_tokens(s) if isinstance(s, str) else s for s in sentences
        ]
        offsets, ids = self._encode(sentences, tokens)
        built = self._native.build(offsets, ids, self.index, grow, n_threads, progress)
        own_words = self._pass_words(tokens, offsets, ids, built[0])
        return PhraseOptions(
            pass_offsets=offsets,
            pass_through=built[0],
            first=built[1],
            begin=built[2],
            end=built[3],
            target_offsets=built[4],
            targets=built[5],
            rules=built[6],
            scores=built[7],
            orientations=built[8],
            feature_offsets=built[9],
            feature_ids=built[10],
            feature_values=built[11],
        ), own_words

    def _encode(
        self, sentences: Sequence[Sentence], tokens: Sequence[Sequence[str] | None]
    ) -> tuple[Int64Array, Int32Array]:
        lines = [" ".join(row) for row in tokens if row is not None]
        offsets, ids = self.view.source_vocab.encode_lines(lines)
        encoded = iter(np.split(ids, offsets[1:-1]))
        rows = [
            np.asarray(s, np.int32) if row is None else next(encoded) for s, row in zip(sentences, tokens, strict=True)
        ]
        for number, (words, row) in enumerate(zip(tokens, rows, strict=True), 1):
            if len(offsets) != len(lines) + 1 or (words is not None and len(words) != len(row)):
                raise InputError(f"a token of sentence {number} is empty or has white space")
        return np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64), np.concatenate(
            [np.zeros(0, np.int32), *rows]
        )

    def _pass_words(
        self,
        tokens: Sequence[Sequence[str] | None],
        offsets: Int64Array,
        ids: Int32Array,
        pass_through: Int32Array,
    ) -> tuple[str, ...]:
        """Fill in the target ids of words that pass through."""
        target = self.view.target_vocab
        own: dict[str, int] = {}
        places = np.flatnonzero(pass_through < 0)
        numbers = np.searchsorted(offsets, places, side="right") - 1
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
            words = tokens[number]
            if words is None:
                word = self.view.source_vocab.word(int(ids[place]))
            else:
                word = words[place - int(offsets[number])]
            known = target.id(word)
            pass_through[place] = known if known != UNK else own.setdefault(word, len(target) + len(own))
        return tuple(own)
