"""From sentences to matching rules."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman import _core
from dragoman.align import Alignment
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Template
from dragoman.grammar import RuleView
from dragoman.search.blocks import SearchBlocks
from dragoman.search.builder import OptionBuilder, WordCounts
from dragoman.search.sentences import Sentences
from dragoman.types import Int32Array, Int64Array

__all__ = ["RuleOptionBuilder"]

_UNLIMITED = 1 << 20


class RuleOptionBuilder(OptionBuilder[_core.RuleBatch]):
    """Rules that match in sentences, from a view of a grammar.

    `scores` are the columns the decoder wants (`ChartFeatures.scores`), by default all of the view's.
    A rule covers at most `max_span` words and a nonterminal at most `max_gap` (None: any number); labels are for the
    chart to compare.
    """

    def __init__(
        self,
        view: RuleView,
        index: FeatureIndex,
        *,
        templates: Sequence[Template] = (),
        scores: Sequence[str] | None = None,
        max_span: int | None = 20,
        max_gap: int | None = None,
        word_counts: WordCounts | None = None,
        blocks: SearchBlocks | None = None,
    ) -> None:
        if any(limit is not None and not 1 <= limit <= _UNLIMITED for limit in (max_span, max_gap)):
            raise InputError("a rule and a nonterminal cover at least one word")
        self.scores = view.score_names if scores is None else tuple(scores)
        if missing := [name for name in self.scores if name not in view.score_names]:
            raise InputError(f"the grammar has no score {missing[0]!r}; it has {', '.join(view.score_names)}")
        super().__init__(
            _core.RuleBuilder,
            view,
            index,
            templates,
            word_counts,
            blocks,
            labels=list(view.labels),
            score_columns=[view.score_names.index(name) for name in self.scores],
            max_span=_UNLIMITED if max_span is None else max_span,
            max_gap=_UNLIMITED if max_gap is None else max_gap,
        )

    def build_pairs(
        self,
        sentences: Sentences,
        targets: tuple[Int64Array, Int32Array],
        links: Alignment,
        *,
        wide: bool = False,
        n_threads: int = 1,
    ) -> _core.RuleBatch:
        """What `build` gives, without rules that no derivation of the translations along their links has, or competes
        with (`wide`: whatever the source side of what is replaced).

        Raises InputError for a link outside its pair.
        """
        rows = self.encoded(sentences)
        draft = self._native.draft_pairs(
            rows.offsets, rows.ids, *targets, links.offsets, links.links, wide, n_threads, None
        )
        return self._finished(rows, draft, True)

    def build_minimal(
        self, sentences: Sentences, targets: tuple[Int64Array, Int32Array], links: Alignment, *, n_threads: int = 1
    ) -> _core.RuleBatch:
        """Rules of source sides of the pairs' minimal trees: of minimal rules that the view shows as added, or that
        cover more than `max_span` words. Their features are added to the index.

        Raises InputError for a link outside its pair.
        """
        rows = self.encoded(sentences)
        draft = self._native.draft_minimal(rows.offsets, rows.ids, *targets, links.offsets, links.links, n_threads)
        return self._finished(rows, draft, True).interned(self.index)
