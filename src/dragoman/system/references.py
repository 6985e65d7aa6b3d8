"""Forests around the target side of the training text, each line by tables that have not seen it, or of other pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import InputError
from dragoman.features import FeatureIndex, FeatureTable
from dragoman.search import Reach, ReferenceConfig, ReferenceForests
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.system.system import System
from dragoman.types import Int64Array, offsets_of

__all__ = ["FoldReferences", "LineForests", "PairReferences", "References"]

_WEIGHT = "weight"
MAX_WORDS = 1000
"""Lines with more words on a side are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class LineForests:
    """Forests of some lines; feature i of their edges is row i of the table."""

    lines: Int64Array
    forests: ReferenceForests
    features: FeatureTable


class References(Protocol):
    """Bi-parses numbered pairs."""

    def parse(
        self, lines: Int64Array, weights: FeatureTable, config: ReferenceConfig, *, n_threads: int = 1
    ) -> LineForests: ...


class FoldReferences:
    """Bi-parses lines of a system's training text with their links: by rules and language model of the other folds.

    With `all_data`, by those of all data, which have seen the line. Each call opens the views of its folds over an
    index of its own, so that forests depend on their lines alone. Raises InputError for a system without the text,
    or without counts.
    """

    def __init__(self, system: System, *, all_data: bool = False) -> None:
        self.training = system.training
        _check(system)
        self._system = system
        self._all_data = all_data

    def parse(
        self, lines: Int64Array, weights: FeatureTable, config: ReferenceConfig, *, n_threads: int = 1
    ) -> LineForests:
        """The forests of lines, fold by fold; lines that are too long have none.

        `weights` has a column of that name in the singular.
        """
        training, index = self.training, FeatureIndex()
        found: list[tuple[Int64Array, ReferenceForests]] = []
        lengths = np.maximum(training.source_ids.lengths()[lines], training.target_ids.lengths()[lines])
        folds = training.folds[lines]
        for fold in [None] if self._all_data else np.unique(folds).tolist():
            is_own = np.ones(len(lines), bool) if fold is None else folds == fold
            is_usable = is_own & (lengths <= MAX_WORDS)
            chosen = lines[is_usable]
            target = training.target_ids.take(chosen)
            parser = self._system.view_on(index, fold).translator.reference_parser()
            forests = parser.parse(
                training.encoded(chosen, fold),
                (target.offsets, target.ids),
                training.links.take(chosen),
                weights.weights(_WEIGHT, index),
                config,
                n_threads=n_threads,
            )
            found.append((lines[is_own], _spread(forests, is_usable[is_own])))
        return _joined(index, found)


class PairReferences:
    """Bi-parses pairs that a system was not trained on, by all its tables.

    Raises InputError for a system without counts.
    """

    def __init__(self, system: System, pairs: AlignedPairs) -> None:
        _check(system)
        self._system, self._pairs = system, pairs

    def parse(
        self, lines: Int64Array, weights: FeatureTable, config: ReferenceConfig, *, n_threads: int = 1
    ) -> LineForests:
        """The forests of some pairs; those that are too long have none."""
        pairs, index = self._pairs, FeatureIndex()
        is_usable = pairs.lengths(lines) <= MAX_WORDS
        chosen = lines[is_usable]
        target = pairs.target_ids.take(chosen)
        forests = (
            self._system.view_on(index)
            .translator.reference_parser()
            .parse(
                [pairs.sources[pair] for pair in chosen.tolist()],
                (target.offsets, target.ids),
                pairs.links.take(chosen),
                weights.weights(_WEIGHT, index),
                config,
                n_threads=n_threads,
            )
        )
        return _joined(index, [(lines, _spread(forests, is_usable))])


def _check(system: System) -> None:
    if system.grammar.manifest.content["score_names"] is not None:
        raise InputError(
            "the grammar was imported and has no counts; train a system with `n_folds`", path=system.folder
        )


def _spread(forests: ReferenceForests, is_usable: NDArray[np.bool_]) -> ReferenceForests:
    """Forests of the lines that are usable; others have none."""
    if is_usable.all():
        return forests
    n_nodes = np.zeros(len(is_usable), np.int64)
    n_nodes[is_usable] = np.diff(forests.first_node)
    reached = np.full(len(is_usable), Reach.NO, np.uint8)
    reached[is_usable] = forests.reached
    return replace(forests, first_node=offsets_of(n_nodes), reached=reached)


def _joined(index: FeatureIndex, found: Sequence[tuple[Int64Array, ReferenceForests]]) -> LineForests:
    """One after the other, with the features that they have."""
    joined = ReferenceForests.joined([forests for _, forests in found])
    used, numbers = np.unique(joined.feature_ids, return_inverse=True)
    place = np.arange(len(used), dtype=np.int64)
    table = FeatureTable.from_ids(index, used.astype(np.int32), {"place": place})
    renumbered = np.empty(len(used), np.int32)
    renumbered[table.columns["place"].astype(np.int64)] = place
    numbered = replace(joined, feature_ids=renumbered[numbers].astype(np.int32))
    return LineForests(np.concatenate([np.zeros(0, np.int64), *(lines for lines, _ in found)]), numbered, table)
