"""k-best lists as flat arrays, without a Python object per candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dragoman.forest.derivations import Derivations
from dragoman.types import Float32Array, Float64Array, Int32Array, Int64Array

if TYPE_CHECKING:
    from dragoman._core import _KBest

__all__ = ["KBest"]


@dataclass(frozen=True, slots=True)
class KBest:
    """The k best candidates of each sentence, best first.

    Sentence s has candidates `sentences[s]` to `sentences[s + 1]` (half-open). Candidate c has tokens
    `tokens[token_rows[c]:token_rows[c + 1]]`; likewise its features (ids ascending, no zeros) and the edges of its
    derivation in pre-order.
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
    derivations: Derivations | None = None
    """Where they were asked for."""

    @classmethod
    def of(cls, native: _KBest) -> KBest:
        """The lists that the native core returned."""
        derivations = native[9]
        return cls(*native[:9], None if derivations is None else Derivations(*derivations))

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def n_sentences(self) -> int:
        """Number of sentences, including those without candidates."""
        return len(self.sentences) - 1

    def tokens_of(self, candidate: int) -> Int32Array:
        return self.tokens[self.token_rows[candidate] : self.token_rows[candidate + 1]]

    def edges_of(self, candidate: int) -> Int32Array:
        """Edges of one candidate's derivation, in pre-order."""
        return self.edges[self.edge_rows[candidate] : self.edge_rows[candidate + 1]]

    def features_of(self, candidate: int) -> tuple[Int32Array, Float32Array]:
        row = slice(self.feature_rows[candidate], self.feature_rows[candidate + 1])
        return self.feature_ids[row], self.feature_values[row]
