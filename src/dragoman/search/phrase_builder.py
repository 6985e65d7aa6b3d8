"""From sentences to translation options: look-up in a view, words passed through, features of templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dragoman import _core
from dragoman.features import FeatureIndex, Template
from dragoman.grammar import PhraseView
from dragoman.search.phrase_options import PhraseOptions
from dragoman.search.sentences import Sentence, encode_sentences
from dragoman.types import Int64Array, Progress

__all__ = ["PhraseOptionBuilder"]


class PhraseOptionBuilder:
    """Options of many sentences at once, ready for a decoder. Immutable; the index grows as new features appear.

    Word counts (by id) decide which words templates call frequent; a system gives those of its training text. By
    default they are the grammar's, where a word with several links counts once for each; of all folds, so that features
    mean the same in every view. An imported grammar has none.
    """

    def __init__(
        self,
        view: PhraseView,
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
        rows = encode_sentences(sentences, self.view.source_vocab)
        pass_through, *arrays = self._native.build(rows.offsets, rows.ids, self.index, grow, n_threads, progress)
        own = rows.pass_words(pass_through, self.view.target_vocab)
        named: dict[str, Any] = dict(zip(_ARRAYS, arrays, strict=True))
        return PhraseOptions(pass_offsets=rows.offsets, pass_through=pass_through, **named), own


_ARRAYS = (
    "first",
    "begin",
    "end",
    "target_offsets",
    "targets",
    "rules",
    "scores",
    "orientations",
    "feature_offsets",
    "feature_ids",
    "feature_values",
)
