"""The packed search space of one sentence, with its vocabulary and feature index."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from dragoman import _core
from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights, live_values
from dragoman.forest.arrays import ForestArrays
from dragoman.forest.derivation import Application, Derivation
from dragoman.forest.kbest import KBest
from dragoman.settings import takes_text
from dragoman.types import Float64Array, Int32Array

__all__ = ["Expectation", "Forest", "Marginal"]


class Marginal(Enum):
    """How the marginal of an edge is computed: over its best derivation, or over the sum of all."""

    MAX = "max"
    SUM = "sum"


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected feature values under p(derivation) ∝ exp(score), and the log partition function."""

    log_total: float
    ids: Int32Array
    values: Float64Array


class Forest:
    """An immutable packed forest. Nodes are in topological order, the goal last; edge features sum to a derivation's.

    `vocab` also has the out-of-vocabulary source words that were copied to the target (`Vocab.extended`).
    """

    __slots__ = ("core", "index", "labels", "vocab")

    def __init__(
        self,
        core: _core.Forest,
        vocab: Vocab,
        index: FeatureIndex,
        *,
        labels: tuple[str, ...] = (),
    ) -> None:
        self.core = core
        self.vocab = vocab
        self.index = index
        self.labels = labels

    def __repr__(self) -> str:
        return f"Forest({self.n_nodes} nodes, {self.n_edges} edges)"

    def _repr_html_(self) -> str:
        """The picture that notebooks show; of a large forest its size, as `pruned` can make it small enough."""
        from dragoman.forest.drawn import forest_html  # only notebooks need it

        return forest_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_arrays, (ForestArrays.of(self.core), self.vocab, self.index, self.labels)

    @property
    def n_nodes(self) -> int:
        return self.core.n_nodes

    @property
    def n_edges(self) -> int:
        return self.core.n_edges

    @property
    def has_derivation(self) -> bool:
        """Whether there is a derivation at all: a decoder may have stored a search that failed."""
        if not self.n_nodes:
            return False
        return bool(np.isfinite(self.core.inside(np.zeros(len(self.index)), False)[-1]))

    def text(self, tokens: Int32Array) -> str:
        return self.vocab.decode(tokens)

    def kbest(self, weights: Weights | Float64Array, k: int, *, distinct: bool = False) -> KBest:
        """The k best derivations; with `distinct`, the best derivation of each of the k best distinct strings."""
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        return KBest.of(_core.kbest([self.core], live_values(weights, self.index), k, distinct, 1))

    def best(self, weights: Weights | Float64Array) -> Derivation | None:
        """The Viterbi derivation; None if the goal has no derivation."""
        best = self.kbest(weights, 1)
        return self.derivation(best.edges) if len(best) else None

    def derivation(self, edges: Int32Array) -> Derivation:
        """The derivation with these edges (in pre-order) as a tree. Raises ValueError if they are not a derivation."""
        self.core.tokens(edges)  # checks that they are a derivation
        a = ForestArrays.of(self.core)
        heads = np.searchsorted(a.node_edges, edges, side="right") - 1
        children: list[tuple[int, ...]] = [()] * len(edges)
        open_: list[int] = []
        for place in reversed(range(len(edges))):
            n_tails = int(a.tail_offsets[edges[place] + 1] - a.tail_offsets[edges[place]])
            children[place] = tuple(open_.pop() for _ in range(n_tails))
            open_.append(place)
        applications = []
        for place, edge in enumerate(edges.tolist()):
            instance = int(a.instances[edge])
            features: dict[str, float] = {}
            own = slice(a.feature_offsets[edge], a.feature_offsets[edge + 1])
            local = slice(a.local_offsets[instance], a.local_offsets[instance + 1])
            for ids, values in (
                (a.local_ids[local], a.local_values[local]),
                (a.feature_ids[own], a.feature_values[own]),
            ):
                for name, value in zip(self.index.names(ids), values.tolist(), strict=True):
                    features[name] = features.get(name, 0.0) + value
            symbols = a.symbols[a.symbol_offsets[instance] : a.symbol_offsets[instance + 1]].tolist()
            label = int(a.nodes[heads[place], 0])
            applications.append(
                Application(
                    symbols=tuple(
                        -1 - symbol if symbol < 0 else self.vocab.stored(symbol).decode("utf-8") for symbol in symbols
                    ),
                    children=children[place],
                    rule=int(a.rules[instance]),
                    label=self.labels[label] if 0 <= label < len(self.labels) else None,
                    source=(int(a.spans[instance, 0]), int(a.spans[instance, 1])),
                    features=features,
                )
            )
        return Derivation(tuple(applications))

    def expected_features(self, weights: Weights | Float64Array) -> Expectation:
        """Expected feature values, by the inside-outside algorithm."""
        return Expectation(*self.core.expected_features(live_values(weights, self.index)))

    @takes_text
    def pruned(self, weights: Weights | Float64Array, threshold: float, *, marginal: Marginal = Marginal.MAX) -> Forest:
        """A copy without the edges whose marginal is below `threshold` (a log, at most 0).

        Marginal.MAX drops edges whose best derivation scores more than -threshold below the Viterbi derivation,
        Marginal.SUM edges whose posterior is less than exp(threshold).
        """
        if not threshold <= 0:
            raise ValueError(f"the threshold must be a log probability of at most 0, not {threshold}")
        core = self.core.pruned(live_values(weights, self.index), threshold, marginal is Marginal.SUM)
        return Forest(core, self.vocab, self.index, labels=self.labels)


def _of_arrays(arrays: ForestArrays, vocab: Vocab, index: FeatureIndex, labels: tuple[str, ...]) -> Forest:
    return Forest(arrays.build(), vocab, index, labels=labels)
