"""Forests around the reference translations of word-aligned sentence pairs (Xiao, Liu, Liu and Lin 2011)."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.align import Alignment
from dragoman.corpus import Vocab
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex, Weights, live_values
from dragoman.lm import LanguageModel
from dragoman.search.chart_builder import RuleOptionBuilder
from dragoman.search.chart_config import ChartConfig, ChartFeatures
from dragoman.search.chart_decoder import ChartDecoder
from dragoman.search.sentences import EncodedSentences, Sentences
from dragoman.settings import Record, about
from dragoman.types import Float32Array, Float64Array, Int32Array, Int64Array, Progress, joined_offsets

__all__ = [
    "ARRAY_TYPES",
    "COUNT",
    "EdgeKind",
    "Reach",
    "ReferenceConfig",
    "ReferenceForests",
    "ReferenceParser",
    "checked_pairs",
]

COUNT = "count_log"
"""The score log(1 + occurrences) of a rule."""


class EdgeKind(enum.IntEnum):
    """What an edge of such a forest is."""

    REFERENCE = 0
    """Of a derivation of the reference."""
    HOLE = 1
    """One too, without a rule: it stands for a minimal rule that the grammar lacks."""
    WRONG = 2
    """A replacement of an edge of the reference that gives other words."""
    SAME_WORDS = 3
    """A replacement that gives the same words."""


class Reach(enum.IntEnum):
    """How a reference can be derived."""

    NO = 0
    HOLES = 1
    """With holes only."""
    YES = 2
    ADDED = 3
    """By the rules that a decoder would use together with others of the minimal tree that the grammar has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceConfig(Record):
    """What forests around references are made of."""

    tight: bool | None = field(default=None, metadata=about(resolved="as the grammar was extracted"))
    """Whether nodes neither begin nor end with unaligned words."""
    added: bool = True
    """Begin with the minimal tree: use those of its rules that the grammar has and a decoder would not use: added ones,
    and rules for more words than it allows. Only grammars extracted with `added` have such."""
    holes: bool = True
    """Supply minimal rules that the grammar lacks to pairs which cannot be derived without."""
    wide: bool = False
    """Whether a replacement may have another source side than what it replaces."""
    max_wrong: int = 20
    """Replacements of a rule (wide: of the rules of a node) at most, the best by estimate; 0: all."""
    prior: float = 1.0
    """Weight of the log of a rule's number of occurrences where derivations of the reference are compared."""
    hole_prior: float = -10.0
    """Score of a hole."""
    beam: float = math.inf
    """Derivations of the reference worse than the best by more than this are left out."""
    wrong_beam: float = math.inf
    """Derivations with a replacement worse than the best of the reference by more than this are left out."""

    def _check(self) -> None:
        if self.max_wrong < 0:
            raise InputError(f"max_wrong must be at least 0, not {self.max_wrong}")
        if not self.beam >= 0 or not self.wrong_beam >= 0:
            raise InputError("beam and wrong_beam must not be negative")
        if not math.isfinite(self.prior) or not math.isfinite(self.hole_prior):
            raise InputError("prior and hole_prior must be finite numbers")


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceForests:
    """Forests of S sentences; the arrays are those of `native/core/forest/reference_forests.hh`.

    Sentence s has the nodes first_node[s] to first_node[s + 1], children first and the goal last; none where it is
    left out. Node v has the edges first_edge[v] to first_edge[v + 1]. Derivations of the reference consist of edges of
    the first two kinds; all others have one edge of the last two kinds. The `lm` of such an edge is the change of the
    whole string's score; the edge of the goal has that of the reference.
    """

    first_node: Int64Array  # [S + 1]
    spans: Int32Array  # [4 nodes]: source begin and end, target begin and end
    first_edge: Int64Array  # [nodes + 1]
    kinds: NDArray[np.uint8]  # [edges]: EdgeKind
    rules: Int64Array  # [edges]: ids in the grammar, or -1
    priors: Float32Array  # [edges]: log of the occurrences of the rule, or of the one it replaces
    gains: Float32Array  # [edges]: BLEU+1 of a derivation with this edge
    tail_offsets: Int64Array
    tails: Int32Array
    feature_offsets: Int64Array
    feature_ids: Int32Array
    feature_values: Float32Array
    reached: NDArray[np.uint8]  # [S]: Reach

    def __len__(self) -> int:
        return len(self.reached)

    @property
    def n_edges(self) -> int:
        return len(self.kinds)

    def tails_of(self, edge: int) -> Int32Array:
        """Nodes of the edge's sentence, counted from its first."""
        return self.tails[self.tail_offsets[edge] : self.tail_offsets[edge + 1]]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of them by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def joined(cls, parts: Sequence[ReferenceForests]) -> ReferenceForests:
        """The sentences of all parts, one after the other."""
        offsets = {"first_node", "first_edge", "tail_offsets", "feature_offsets"}
        arrays: dict[str, NDArray[Any]] = {}
        for name, dtype in ARRAY_TYPES.items():
            own = [getattr(part, name) for part in parts] or [np.zeros(int(name in offsets), dtype)]
            arrays[name] = joined_offsets(own) if name in offsets else np.concatenate(own)
        return cls(**arrays)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> ReferenceForests:
        """Those of `arrays`. Raises KeyError where one is missing."""
        return cls(**{name: np.ascontiguousarray(arrays[name], dtype) for name, dtype in ARRAY_TYPES.items()})


ARRAY_TYPES: dict[str, type[np.generic]] = {
    "first_node": np.int64,
    "spans": np.int32,
    "first_edge": np.int64,
    "kinds": np.uint8,
    "rules": np.int64,
    "priors": np.float32,
    "gains": np.float32,
    "tail_offsets": np.int64,
    "tails": np.int32,
    "feature_offsets": np.int64,
    "feature_ids": np.int32,
    "feature_values": np.float32,
    "reached": np.uint8,
}
"""Of the arrays of forests."""


def checked_pairs(
    rows: EncodedSentences, targets: tuple[Int64Array, Int32Array], links: Alignment
) -> tuple[tuple[Int64Array, Int32Array], tuple[Int64Array, Int32Array]]:
    """Translations and links as native code takes them.

    Raises MismatchError unless there is one for each sentence, InputError for a link outside its sentences.
    """
    offsets, ids = np.ascontiguousarray(targets[0]), np.ascontiguousarray(targets[1], np.int32)
    n_sentences = len(rows.offsets) - 1
    if not n_sentences == len(offsets) - 1 == len(links):
        raise MismatchError(
            f"{n_sentences} source sentences, {len(offsets) - 1} translations and the links of {len(links)} pairs"
        )
    if (outside := links.first_outside(np.diff(rows.offsets), np.diff(offsets))) is not None:
        raise InputError(f"a link of pair {outside + 1} lies outside its sentences; are they of another text?")
    return (offsets, ids), (links.offsets, np.ascontiguousarray(links.links))


class ReferenceParser:
    """Bi-parses word-aligned pairs with the rules that the chart decoder has, over the same features. Thread-safe."""

    def __init__(
        self,
        builder: RuleOptionBuilder,
        features: ChartFeatures,
        vocab: Vocab,
        index: FeatureIndex,
        *,
        lm: LanguageModel | None = None,
        max_span: int | None = 20,
        tight: bool = False,
        minimal: RuleOptionBuilder | None = None,
    ) -> None:
        """`builder` gives all scores of the features and then, if the grammar has it, `COUNT`; so does `minimal`, of a
        view that shows added rules.
        """
        self._builder = builder
        self._minimal = minimal
        self._index = index
        self._tight = tight
        self._n_scores = len(features.scores)
        self._has_counts = len(builder.scores) > self._n_scores
        self._decoder = ChartDecoder(
            ChartConfig(max_span=max_span), vocab, index, features=features, lm=lm, n_unweighted=int(self._has_counts)
        )

    def parse(
        self,
        sentences: Sentences,
        targets: tuple[Int64Array, Int32Array],
        links: Alignment,
        weights: Weights | Float64Array,
        config: ReferenceConfig | None = None,
        *,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> ReferenceForests:
        """The forests of source sentences with their translations (offsets and target ids) and links.

        The index gets the features on edges. Raises InputError for a link outside its sentences.
        """
        config = config or ReferenceConfig()
        rows = self._builder.encoded(sentences)
        pairs = checked_pairs(rows, targets, links)
        minimal = None
        if config.added and self._minimal is not None:
            minimal = self._minimal.build_minimal(rows, pairs[0], links, n_threads=n_threads)
        arrays = self._decoder.references(
            self._builder.build_pairs(rows, pairs[0], links, wide=config.wide, n_threads=n_threads),
            minimal,
            live_values(weights, self._index),
            *pairs,
            n_threads=n_threads,
            progress=progress,
            tight=self._tight if config.tight is None else config.tight,
            holes=config.holes,
            wide=config.wide,
            max_wrong=config.max_wrong,
            prior_column=self._n_scores if self._has_counts else -1,
            prior_weight=config.prior,
            hole_prior=config.hole_prior,
            beam=config.beam,
            wrong_beam=config.wrong_beam,
        )
        return ReferenceForests.of(arrays)
