"""The best derivation as a function of the step along a direction, over all derivations of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman import _core
from dragoman.forest.forest import Forest
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = ["Envelopes", "envelopes"]


@dataclass(frozen=True, slots=True)
class Envelopes:
    """Upper envelopes of many sentences. The fields' order is that of the native tuple.

    Sentence s has the lines `first[s]` to `first[s + 1]`, none without a derivation. Line i is the best of all
    derivations for steps t from `begins[i]` (-inf for the sentence's first) to the next line's: its score there is
    `scores[i] + t * slopes[i]`, its words and edges are rows i, its forest is the sentence's number `forests[i]`.
    """

    first: Int64Array
    begins: Float64Array
    slopes: Float64Array
    scores: Float64Array
    forests: Int32Array
    token_offsets: Int64Array
    tokens: Int32Array
    edge_offsets: Int64Array
    edges: Int32Array

    def __len__(self) -> int:
        return len(self.begins)

    def tokens_of(self, line: int) -> Int32Array:
        """The token ids of one line's derivation."""
        return self.tokens[self.token_offsets[line] : self.token_offsets[line + 1]]

    def edges_of(self, line: int) -> Int32Array:
        """Its edges in pre-order."""
        return self.edges[self.edge_offsets[line] : self.edge_offsets[line + 1]]


def envelopes(
    sentences: Sequence[Sequence[Forest]], weights: Float64Array, direction: Float64Array, *, n_threads: int = 1
) -> Envelopes:
    """The envelope of each sentence along weights + t * direction (Kumar et al. 2009).

    A sentence may have several forests, as of several rounds of decoding; its envelope is over all their derivations.
    """
    cores = [[forest.core for forest in several] for several in sentences]
    return Envelopes(*_core.forest_envelopes(cores, weights, direction, n_threads))
