"""From sentences to translation options."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman import _core
from dragoman.features import FeatureIndex, Template
from dragoman.grammar import PhraseView
from dragoman.search.blocks import SearchBlocks
from dragoman.search.builder import OptionBuilder, SideClasses, WordCounts, native_classes

__all__ = ["PhraseOptionBuilder"]


class PhraseOptionBuilder(OptionBuilder[_core.PhraseBatch]):
    """Phrases that match in sentences, from a view of a grammar.

    Templates with `classes=1` need `word_classes`, of both sides.
    """

    def __init__(
        self,
        view: PhraseView,
        index: FeatureIndex,
        *,
        templates: Sequence[Template] = (),
        word_counts: WordCounts | None = None,
        word_classes: SideClasses | None = None,
        blocks: SearchBlocks | None = None,
    ) -> None:
        classes = native_classes(word_classes, view.source_vocab, view.target_vocab)
        super().__init__(_core.OptionBuilder, view, index, templates, word_counts, blocks, **classes)
