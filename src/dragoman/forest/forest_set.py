"""The search spaces of a development set, over one vocabulary and one feature index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights, live_values
from dragoman.forest.arrays import ForestArrays
from dragoman.forest.forest import Forest
from dragoman.forest.kbest import KBest
from dragoman.types import Float64Array, Int32Array

__all__ = ["ForestSet"]

_CORE = re.compile(r"core_[1-9][0-9]{0,4}\Z")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForestSet:
    """`forests[i]` is of the sentence with the number `ids[i]`, from 0 and ascending."""

    ids: tuple[int, ...]
    forests: tuple[Forest, ...]
    vocab: Vocab
    index: FeatureIndex

    def __len__(self) -> int:
        return len(self.forests)

    @property
    def n_sentences(self) -> int:
        """One more than the greatest number of a sentence."""
        return self.ids[-1] + 1 if self.ids else 0

    def filled(self, n_sentences: int) -> list[Forest]:
        """The search space of each of so many sentences; a sentence without one gets one without derivations."""
        from dragoman.forest.builder import ForestBuilder, ForestTables

        nothing = Forest(ForestBuilder(ForestTables(self.index)).build(0), self.vocab, self.index)
        found = [nothing] * n_sentences
        for number, forest in zip(self.ids, self.forests, strict=True):
            found[number] = forest
        return found

    def with_names(self, names: Sequence[str]) -> ForestSet:
        """The same search spaces with these names for `core_1`, `core_2`, … of Moses' search graphs.

        Raises InputError unless there are as many, and no other feature has one of the names.
        """
        known = self.index.names(np.arange(len(self.index), dtype=np.int32))
        n_core = max((int(name[5:]) for name in known if _CORE.match(name)), default=0)
        if n_core > len(names):
            raise InputError(f"the search graphs have {n_core} dense features, but {len(names)} have a name")
        new = {f"core_{place}": name for place, name in enumerate(names, start=1)}
        renamed = FeatureIndex()
        for name in known:
            renamed.intern(new.get(name, name))
        if len(renamed) < len(known):
            raise InputError("two features of the search graphs would have one name")
        forests = tuple(Forest(each.core, each.vocab, renamed, labels=each.labels) for each in self.forests)
        return replace(self, forests=forests, index=renamed)

    def source_lengths(self) -> Int32Array:
        """Source words of each sentence of `ids`, as far as the goal says how many it covers, else -1."""
        return np.array([_covered(forest) for forest in self.forests], np.int32)

    @property
    def n_edges(self) -> int:
        return sum(forest.n_edges for forest in self.forests)

    def kbest(self, weights: Weights | Float64Array, k: int, *, distinct: bool = False, n_threads: int = 1) -> KBest:
        """The k best derivations of every sentence; with `distinct`, of the k best distinct strings."""
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        cores = [forest.core for forest in self.forests]
        return KBest.of(_core.kbest(cores, live_values(weights, self.index), k, distinct, n_threads))


def _covered(forest: Forest) -> int:
    nodes = ForestArrays.of(forest.core).nodes
    return int(nodes[-1, 3]) if len(nodes) else -1
