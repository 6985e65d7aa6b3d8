"""The shared base of option builders: sentence lookup, out-of-vocabulary words, templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

import numpy as np

from dragoman.corpus import Vocab, WordClasses
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Template
from dragoman.grammar import PhraseView, RuleView
from dragoman.search.blocks import SearchBlocks
from dragoman.search.decoder import Batch
from dragoman.search.sentences import EncodedSentences, Sentences, encode_sentences
from dragoman.types import Int64Array, Progress

__all__ = ["OptionBuilder", "SideClasses", "WordCounts", "native_classes"]

WordCounts = tuple[Int64Array, Int64Array]
SideClasses = tuple[WordClasses, WordClasses]


def native_classes(classes: SideClasses | None, source_vocab: Vocab, target_vocab: Vocab) -> dict[str, Any]:
    """Classes of both vocabularies' words as native constructors take them."""
    if classes is None:
        none = np.zeros((0, 0), np.int32)
        return {"source_classes": none, "target_classes": none, "class_sizes": []}
    source, target = classes
    if source.sizes != target.sizes:
        raise InputError(f"source words have classes at the levels {source.sizes}, target words {target.sizes}")
    return {
        "source_classes": np.ascontiguousarray(source.by_vocab(source_vocab)),
        "target_classes": np.ascontiguousarray(target.by_vocab(target_vocab)),
        "class_sizes": list(source.sizes),
    }


class OptionBuilder(Generic[Batch]):
    """Options of many sentences at once, ready for a decoder. Immutable; thread-safe.

    Word counts (source and target, by id) decide which words templates call frequent; a system gives those of its
    training text. By default they are the grammar's, where a word with several links counts once for each; of all
    folds, so that features mean the same in every view. An imported grammar has none. `blocks` take the place of the
    features they cover.
    """

    def __init__(
        self,
        make: Any,
        view: PhraseView | RuleView,
        index: FeatureIndex,
        templates: Sequence[Template],
        word_counts: WordCounts | None,
        blocks: SearchBlocks | None,
        **settings: object,
    ) -> None:
        self.view = view
        self.index = index
        self.templates = tuple(templates)
        self.blocks = blocks
        if word_counts is None:
            word_counts = view.tables.word_counts() if templates else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._native = make(
            view.core,
            view.source_vocab.table,
            view.target_vocab.table,
            *word_counts,
            [(template.name, template.codes()) for template in self.templates],
            **settings,
        )

    def build(
        self,
        sentences: Sentences,
        *,
        grow: bool = True,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> Batch:
        """The options of all sentences. Raises InputError when the grammar's tables are damaged.

        With `grow`, a search adds features that the index lacks and that are on what it returns; without, they are left
        out (they weigh nothing). `Batch.interned` adds all of them. A word without a translation of its own passes
        through as it is; given as the id of no word, as `<unk>`.
        """
        rows = self.encoded(sentences)
        return self._finished(rows, self._native.draft(rows.offsets, rows.ids, n_threads, progress), grow)

    def encoded(self, sentences: Sentences) -> EncodedSentences:
        if isinstance(sentences, EncodedSentences):
            return sentences
        return encode_sentences(sentences, self.view.source_vocab)

    def _finished(self, rows: EncodedSentences, draft: Any, grow: bool) -> Batch:
        ids, own_words = rows.passed(draft.places, self.view.target_vocab)
        batch: Batch = draft.finish(ids, own_words, self.index, grow, self.blocks and self.blocks.core)
        return batch
