"""Translation options of a batch of sentences, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dragoman import _core
from dragoman.types import Float32Array, Int32Array, Int64Array

__all__ = ["PhraseOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseOptions:
    """What a decoder may use. Sentence s has the options `first[s]` to `first[s + 1]`; ragged parts have offsets.

    Local features are here once for each option; the decoder adds words, phrases, unknown, distortion, orientations
    and lm.
    """

    pass_offsets: Int64Array
    """Sentence s has the source positions `pass_offsets[s]` to `pass_offsets[s + 1]`."""
    pass_through: Int32Array
    """For every source position the target id it is passed through as when no option covers just it."""
    first: Int64Array
    begin: Int32Array
    end: Int32Array
    """Source span of each option, half open."""
    target_offsets: Int64Array
    targets: Int32Array
    rules: Int64Array
    """The grammar's id of each option's phrase pair."""
    scores: Float32Array
    """Options x dense scores."""
    orientations: Float32Array
    """Options x orientation log probabilities."""
    feature_offsets: Int64Array
    feature_ids: Int32Array
    feature_values: Float32Array
    """Sparse local features."""

    @property
    def n_sentences(self) -> int:
        return len(self.first) - 1

    def native(self) -> _core.PhraseBatch:
        """The batch for the core; shares the arrays."""
        return _core.PhraseBatch(*(getattr(self, field.name) for field in fields(self)))
