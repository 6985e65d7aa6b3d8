"""From sentences to rules that match in them: look-up in a view, words passed through, features of templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from dragoman import _core
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Template
from dragoman.grammar import RuleView
from dragoman.search.chart_options import RuleContexts, RuleGaps, RuleOptions
from dragoman.search.sentences import Sentence, encode_sentences
from dragoman.types import Int64Array, Progress

__all__ = ["RuleOptionBuilder"]

_UNLIMITED = 1 << 20


class RuleOptionBuilder:
    """Rules of many sentences at once, ready for a chart decoder. Immutable; the index grows as new features appear.

    `scores` are the columns the decoder wants (`ChartFeatures.scores`), by default all of the view's.
    A rule covers at most `max_span` words and a nonterminal at most `max_gap` (None: any number); labels are for the
    chart to compare. Word counts decide which words templates call frequent; by default they are the grammar's, of all
    folds.
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
        source_counts: Int64Array | None = None,
        target_counts: Int64Array | None = None,
    ) -> None:
        if any(limit is not None and not 1 <= limit <= _UNLIMITED for limit in (max_span, max_gap)):
            raise InputError("a rule and a nonterminal cover at least one word")
        if missing := [name for name in scores or () if name not in view.score_names]:
            raise InputError(f"the grammar has no score {missing[0]!r}; it has {', '.join(view.score_names)}")
        self.scores = view.score_names if scores is None else tuple(scores)
        self.view = view
        self.index = index
        self.templates = tuple(templates)
        known = view.tables.word_counts() if templates else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._native = _core.RuleBuilder(
            view.core,
            view.source_vocab.table,
            view.target_vocab.table,
            known[0] if source_counts is None else source_counts,
            known[1] if target_counts is None else target_counts,
            [(template.name, list(template.values)) for template in self.templates],
            list(view.labels),
            max_span=_UNLIMITED if max_span is None else max_span,
            max_gap=_UNLIMITED if max_gap is None else max_gap,
        )

    def build(
        self,
        sentences: Sequence[Sentence],
        *,
        grow: bool = True,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[RuleOptions, tuple[str, ...]]:
        """The rules, and the words of target ids beyond the target vocabulary (for `ChartDecoder.decode`).

        With `grow`, features that the index lacks are added, in an order that does not depend on threads; without, they
        are left out (they weigh nothing). A word without a rule of its own passes through as it is.
        """
        rows = encode_sentences(sentences, self.view.source_vocab)
        pass_through, *arrays, contexts, gaps = self._native.build(
            rows.offsets, rows.ids, self.index, grow, n_threads, progress
        )
        own = rows.pass_words(pass_through, self.view.target_vocab)
        named: dict[str, Any] = dict(zip(_ARRAYS, arrays, strict=True))
        if self.scores != self.view.score_names:
            columns = [self.view.score_names.index(name) for name in self.scores]
            named["scores"] = np.ascontiguousarray(named["scores"][:, columns])
        options = RuleOptions(
            sentence_offsets=rows.offsets,
            words=rows.ids,
            pass_through=pass_through,
            labels=self.view.labels,
            contexts=None if contexts is None else RuleContexts(**dict(zip(_CONTEXTS, contexts, strict=True))),
            gaps=None if gaps is None else RuleGaps(**dict(zip(_GAPS, gaps, strict=True))),
            **named,
        )
        return options, own


_ARRAYS = (
    "first_pattern",
    "symbol_offsets",
    "symbols",
    "first_rule",
    "lhs",
    "target_offsets",
    "targets",
    "rules",
    "scores",
    "feature_offsets",
    "feature_ids",
    "feature_values",
)
_CONTEXTS = tuple(field.name for field in fields(RuleContexts))
_GAPS = tuple(field.name for field in fields(RuleGaps))
