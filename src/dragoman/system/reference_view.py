"""What a forest around a reference says, for people: its most probable derivation, and what competes with each rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dragoman import _core
from dragoman.align import Alignment
from dragoman.features import FeatureIndex, Weights
from dragoman.search import EdgeKind, Reach, ReferenceConfig, ReferenceForests
from dragoman.search.sentences import Sentences
from dragoman.system.translator import Translator
from dragoman.system.view import SystemView
from dragoman.types import Float64Array

__all__ = ["ReferenceView", "ShownRule", "view_references"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRule:
    """A rule of the derivation of a reference, or one in its place."""

    source: str
    target: str
    kind: str
    """reference, added (a rule of the minimal tree that a decoder would not use), hole, wrong, same-words"""
    span: tuple[int, int]
    """Source words covered (half-open)."""
    target_span: tuple[int, int]
    probability: float
    """Of derivations that have it."""
    depth: int = 0
    instead: tuple[ShownRule, ...] = ()
    """What may stand in its place, the most probable first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceView:
    """The reference of a pair, derived."""

    source: str
    target: str
    reached: str
    """yes, added (with added rules only), holes (with supplied rules only), no"""
    probability: float
    """Of the reference among all derivations of the forest; 0 where there is no forest."""
    rules: tuple[ShownRule, ...]
    """The derivation with the most probable rule at each node, parents first."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def view_references(
    view: SystemView,
    sentences: Sentences,
    texts: Sequence[tuple[str, str]],
    targets: Sequence[Sequence[int]],
    links: Alignment,
    weights: Weights,
    config: ReferenceConfig,
    *,
    n_instead: int = 3,
) -> list[ReferenceView]:
    """The derivations of pairs, whose `texts` are shown."""
    translator = view.translator
    offsets = np.cumsum([0, *map(len, targets)], dtype=np.int64)
    ids = np.array([word for row in targets for word in row], np.int32)
    forests = translator.reference_parser().parse(sentences, (offsets, ids), links, weights, config)
    index: FeatureIndex = translator.index
    store = _core.ReferenceStore(len(index))
    store.add(forests.arrays(), np.arange(len(index), dtype=np.int32))
    values = weights.values_on(index)
    model = _core.ReferenceModel("likelihood", prior_weight=config.prior)
    place_of = {int(sentence): place for place, sentence in enumerate(store.places())}
    found = []
    for s, (source, target) in enumerate(texts):
        rules: tuple[ShownRule, ...] = ()
        probability = 0.0
        if s in place_of:
            shares = store.shares(model, place_of[s], values)
            probability = store.value(model, np.array([place_of[s]]), values)[1]
            words = source.split(" "), target.split(" ")
            shown = _Shown(forests, s, shares, translator, *words, n_instead, config.wide)
            rules = tuple(shown.derivation())
        reached = Reach(int(forests.reached[s])).name.lower()
        found.append(ReferenceView(source=source, target=target, reached=reached, probability=probability, rules=rules))
    return found


class _Shown:
    def __init__(
        self,
        forests: ReferenceForests,
        sentence: int,
        shares: Float64Array,
        translator: Translator[Any],
        source: Sequence[str],
        target: Sequence[str],
        n_instead: int,
        wide: bool,
    ) -> None:
        self._forests, self._shares, self._translator = forests, shares, translator
        self._source, self._target, self._n_instead, self._wide = source, target, n_instead, wide
        self._first = int(forests.first_node[sentence])
        self.goal = int(forests.first_node[sentence + 1]) - 1
        self._first_edge = int(forests.first_edge[self._first])

    def derivation(self) -> list[ShownRule]:
        """Of every node the most probable rule, parents first; glue is left out. Phrases in the order of the target."""
        if self._translator.in_a_row:
            return self._phrases()
        forests = self._forests
        found: list[ShownRule] = []
        open_nodes = [(self.goal, 0)]
        while open_nodes:
            node, depth = open_nodes.pop()
            edges = range(int(forests.first_edge[node]), int(forests.first_edge[node + 1]))
            own = [e for e in edges if forests.kinds[e] in (EdgeKind.REFERENCE, EdgeKind.HOLE)]
            best = max(own, key=self._share)
            tails = [self._first + int(t) for t in self._tails(best)]
            is_glue = forests.rules[best] < 0 and forests.kinds[best] == EdgeKind.REFERENCE and len(tails) > 0
            if not is_glue:
                found.append(self._rule(node, best, depth, self._instead(node, best, depth)))
            below = depth if is_glue else depth + 1
            open_nodes += [(tail, below) for tail in reversed(tails)]
        return found

    def _phrases(self) -> list[ShownRule]:
        found: list[ShownRule] = []
        node = self.goal
        while node > self._first:
            edges = range(int(self._forests.first_edge[node]), int(self._forests.first_edge[node + 1]))
            best = max((e for e in edges if self._forests.kinds[e] <= EdgeKind.HOLE), key=self._share)
            if node < self.goal:
                found.append(self._rule(node, best, 0, self._instead(node, best, 0)))
            node = self._first + int(self._tails(best)[0])
        return found[::-1]

    def _instead(self, node: int, best: int, depth: int) -> tuple[ShownRule, ...]:
        forests = self._forests
        wrong = [
            e
            for e in range(int(forests.first_edge[node]), int(forests.first_edge[node + 1]))
            if forests.kinds[e] in (EdgeKind.WRONG, EdgeKind.SAME_WORDS)
            and (self._wide or np.array_equal(forests.tails_of(e), forests.tails_of(best)))
        ]
        chosen = sorted(wrong, key=lambda e: (-self._share(e), e))[: self._n_instead]
        return tuple(self._rule(node, e, depth, ()) for e in chosen)

    def _rule(self, node: int, edge: int, depth: int, instead: tuple[ShownRule, ...]) -> ShownRule:
        spans = self._forests.spans
        begin, end, target_begin, target_end = (int(x) for x in spans[4 * node : 4 * node + 4])
        rule = int(self._forests.rules[edge])
        known = self._translator.shown_pair(rule) if rule >= 0 else None
        source = known.source if known else " ".join(self._source[begin:end])
        target = known.target if known else " ".join(self._target[target_begin:target_end])
        kind = EdgeKind(int(self._forests.kinds[edge])).name.lower().replace("_", "-")
        if known and known.is_added and kind == "reference":
            kind = "added"
        return ShownRule(
            source=source,
            target=target,
            kind=kind,
            span=(begin, end),
            target_span=(target_begin, target_end),
            probability=self._share(edge),
            depth=depth,
            instead=instead,
        )

    def _share(self, edge: int) -> float:
        return float(self._shares[edge - self._first_edge])

    def _tails(self, edge: int) -> Sequence[int]:
        tails: list[int] = self._forests.tails_of(edge).tolist()
        return tails
