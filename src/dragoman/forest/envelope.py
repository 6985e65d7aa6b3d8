"""Upper envelopes of forests: the best derivation as a function of the step along a direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman import _core
from dragoman.forest.forest import Forest
from dragoman.types import Float64Array, Int32Array, Int64Array

__all__ = ["Envelopes", "envelopes"]


@dataclass(frozen=True, slots=True)
class Envelopes:
    """Upper envelopes of many sentences. Fields are in the order of the native tuple.

    Sentence s has lines `first[s]` to `first[s + 1]` (half-open), none if it has no derivation. Line i is the best
    derivation for steps t from `begins[i]` (-inf for the first line of a sentence) to the begin of the next line; its
    score is `scores[i] + t * slopes[i]`, its words and edges are rows i, and it belongs to forest `forests[i]` of the
    sentence.
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
        return self.tokens[self.token_offsets[line] : self.token_offsets[line + 1]]

    def edges_of(self, line: int) -> Int32Array:
        """Edges of one line's derivation, in pre-order."""
        return self.edges[self.edge_offsets[line] : self.edge_offsets[line + 1]]


def envelopes(
    sentences: Sequence[Sequence[Forest]], weights: Float64Array, direction: Float64Array, *, n_threads: int = 1
) -> Envelopes:
    """The upper envelope of each sentence along weights + t · direction (Kumar et al. 2009).

    A sentence may have several forests, such as those of several decoding rounds; its envelope covers all their
    derivations.
    """
    cores = [[forest.core for forest in several] for several in sentences]
    return Envelopes(*_core.forest_envelopes(cores, weights, direction, n_threads))
