"""Candidate lists as flat arrays, ready to fill a pool: no Python object for each candidate."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.types import Float32Array, Float64Array, Int32Array, Int64Array

__all__ = ["KBest"]


@dataclass(frozen=True, slots=True)
class KBest:
    """The k best candidates of each sentence, best first. The fields' order is that of the native tuple.

    Sentence s has the candidates `sentences[s]` to `sentences[s + 1]`. Candidate c has the tokens
    `tokens[token_rows[c]:token_rows[c + 1]]`, features likewise (ids ascending, no zeros), and its derivation's
    edges in pre-order.
    """

    sentences: Int64Array
    totals: Float64Array
    token_rows: Int64Array
    tokens: Int32Array
    feature_rows: Int64Array
    feature_ids: Int32Array
    feature_values: Float32Array
    edge_rows: Int64Array
    edges: Int32Array

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def n_sentences(self) -> int:
        """How many sentences there are, those without candidates included."""
        return len(self.sentences) - 1

    def tokens_of(self, candidate: int) -> Int32Array:
        """The token ids of one candidate."""
        return self.tokens[self.token_rows[candidate] : self.token_rows[candidate + 1]]

    def edges_of(self, candidate: int) -> Int32Array:
        """The edges of one candidate's derivation, in pre-order."""
        return self.edges[self.edge_rows[candidate] : self.edge_rows[candidate + 1]]

    def features_of(self, candidate: int) -> tuple[Int32Array, Float32Array]:
        """Feature ids and values of one candidate."""
        row = slice(self.feature_rows[candidate], self.feature_rows[candidate + 1])
        return self.feature_ids[row], self.feature_values[row]
