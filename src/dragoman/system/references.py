"""Forests around the target side of the training text, each line by tables that have not seen it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dragoman.align import Alignment
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, FeatureTable, Weights
from dragoman.search import PhraseReferenceParser, Reach, ReferenceConfig, ReferenceForests, ReferenceParser
from dragoman.system.system import System
from dragoman.types import Int64Array, offsets_of

__all__ = ["FoldReferences", "LineForests"]

MAX_WORDS = 1000
"""Lines with more words on a side are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class LineForests:
    """Forests of some lines; feature i of their edges is row i of the table."""

    lines: Int64Array
    forests: ReferenceForests
    features: FeatureTable


class FoldReferences:
    """Bi-parses lines of a system's training text with their links: by rules and language model of the other folds.

    With `all_data`, by those of all data, which have seen the line. Each call opens the views of its folds over an
    index of its own, so that forests depend on their lines alone. Raises InputError for a system without the text,
    or without counts.
    """

    def __init__(self, system: System, *, all_data: bool = False) -> None:
        self.training = system.training
        if system.grammar.manifest.content["score_names"] is not None:
            raise InputError(
                "the grammar was imported and has no counts; train a system with --folds", path=system.folder
            )
        self._system = system
        self._all_data = all_data

    def parse(
        self, lines: Int64Array, weights: FeatureTable, config: ReferenceConfig, *, n_threads: int = 1
    ) -> LineForests:
        """The forests of lines, fold by fold; lines that are too long have none.

        `weights` has a column of that name in the singular.
        """
        index = FeatureIndex()
        found: list[ReferenceForests] = []
        order: list[Int64Array] = []
        folds = self.training.folds[lines]
        for fold in [None] if self._all_data else np.unique(folds).tolist():
            chosen = lines if fold is None else lines[folds == fold]
            parser = self._system.view_on(index, fold).translator.reference_parser()
            values = weights.weights("weight", index)
            found.append(self._parse(parser, chosen, fold, values, config, n_threads))
            order.append(chosen)
        joined = ReferenceForests.joined(found)
        used, numbers = np.unique(joined.feature_ids, return_inverse=True)
        place = np.arange(len(used), dtype=np.int64)
        table = FeatureTable.from_ids(index, used.astype(np.int32), {"place": place})
        renumbered = np.empty(len(used), np.int32)
        renumbered[table.columns["place"].astype(np.int64)] = place
        numbered = replace(joined, feature_ids=renumbered[numbers].astype(np.int32))
        return LineForests(np.concatenate([np.zeros(0, np.int64), *order]), numbered, table)

    def _parse(
        self,
        parser: PhraseReferenceParser | ReferenceParser,
        lines: Int64Array,
        fold: int | None,
        weights: Weights,
        config: ReferenceConfig,
        n_threads: int,
    ) -> ReferenceForests:
        training = self.training
        lengths = training.source_ids.lengths()[lines], training.target_ids.lengths()[lines]
        usable = np.maximum(*lengths) <= MAX_WORDS
        chosen = lines[usable]
        target = training.target_ids.take(chosen)
        links = _links_of(training.links, chosen)
        forests = parser.parse(
            training.encoded(chosen, fold), (target.offsets, target.ids), links, weights, config, n_threads=n_threads
        )
        if len(chosen) == len(lines):
            return forests
        n_nodes = np.zeros(len(lines), np.int64)
        n_nodes[usable] = np.diff(forests.first_node)
        reached = np.full(len(lines), Reach.NO, np.uint8)
        reached[usable] = forests.reached
        return replace(forests, first_node=offsets_of(n_nodes), reached=reached)


def _links_of(links: Alignment, lines: Int64Array) -> Alignment:
    begins, ends = links.offsets[lines], links.offsets[lines + 1]
    offsets = offsets_of(ends - begins)
    places = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], ends - begins)
    return Alignment(offsets, np.ascontiguousarray(links.links[places]))
