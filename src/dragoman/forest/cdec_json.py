"""cdec's hypergraphs (`--forest_output`, `decoder/hg_io.cc`): JSON with the keys `edges` and `node` once for each node.

    {"rules": [1, "[X] ||| maison ||| house", 2, "[X] ||| la [X,1] ||| the [1]"], "features": ["LM", "Glue"],
     "edges": [{"tail": [], "spans": [1, 2, -1, -1], "feats": [0, -1.5], "rule": 1}],
     "node": {"in_edges": [0], "cat": "X"},
     "edges": [{"tail": [0], "feats": [0, -0.5, 1, 1], "rule": 2}], "node": {"in_edges": [1]}}

Nodes come bottom-up, the goal last. A feature is the place of its name, or the name itself; so is a rule. A node
without edges is where a lattice begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from dragoman._core import Forest as CoreForest
from dragoman.errors import InputError
from dragoman.forest.builder import ForestBuilder, ForestTables
from dragoman.forest.json_values import items, number, text, whole
from dragoman.text import split_tokens

__all__ = ["is_cdec", "read_cdec"]

_KEYS = {"rules", "features", "is_sorted", "edges", "node"}
_TAIL = re.compile(r"\[(?:[^\[\]\s,]+,)?([1-9][0-9]{0,3})\]\Z")
_EDGE_KEYS = {"tail", "spans", "feats", "rule"}


def is_cdec(pairs: Iterable[tuple[str, Any]]) -> bool:
    """Whether these are keys of a hypergraph of cdec's; one without nodes is empty."""
    return {key for key, _ in pairs} <= _KEYS


def read_cdec(pairs: Iterable[tuple[str, Any]], tables: ForestTables) -> CoreForest:
    """The search space; without nodes it has no derivation. Raises InputError."""
    return _Reader(tables).read(pairs)


class _Reader:
    def __init__(self, tables: ForestTables) -> None:
        self._tables = tables
        self._builder = ForestBuilder(tables)
        self._rules: dict[int, str] = {}
        self._symbols: dict[str, tuple[int, ...]] = {}
        self._names: list[int] = []
        self._edges: list[Any] = []
        self._n_nodes = 0

    def read(self, pairs: Iterable[tuple[str, Any]]) -> CoreForest:
        for key, value in pairs:
            match key:
                case "rules":
                    self._read_rules(items(value, "rules"))
                case "features":
                    self._names = [self._tables.feature(text(name, "a feature")) for name in items(value, "features")]
                case "edges":
                    self._edges += items(value, "edges")
                case "node":
                    self._add_node(value)
        return self._builder.build(max(0, self._n_nodes - 1))

    def _read_rules(self, rules: Sequence[Any]) -> None:
        if len(rules) % 2:
            raise InputError("rules must be numbers and strings in turn")
        for id_, rule in zip(rules[::2], rules[1::2], strict=True):
            self._rules[whole(id_, "the number of a rule")] = text(rule, "a rule")

    def _add_node(self, node: Any) -> None:
        if not isinstance(node, dict):
            raise InputError("a node must be an object with in_edges")
        places = items(node.get("in_edges"), "in_edges")
        for place in places:
            number_ = whole(place, "an edge of in_edges", below=len(self._edges))
            edge, self._edges[number_] = self._edges[number_], None
            if edge is None:
                raise InputError(f"edge {number_} has two heads")
            try:
                self._add_edge(edge)
            except InputError as error:
                raise InputError(f"edge {number_}: {error.message}") from None
        if not places:
            self._builder.add_edge(self._n_nodes, (), (), ())
        self._n_nodes += 1

    def _add_edge(self, edge: Any) -> None:
        if not isinstance(edge, dict) or not edge.keys() <= _EDGE_KEYS:
            raise InputError(f"must be an object with {', '.join(sorted(_EDGE_KEYS))}")
        rule = edge.get("rule")
        if rule is None:
            raise InputError("has no rule, so that its words are unknown; let cdec write forests with rules")
        if not isinstance(rule, str):
            if whole(rule, "a rule") not in self._rules:
                raise InputError(f"there is no rule {rule}")
            rule = self._rules[rule]
        tails = [whole(tail, "a tail", below=self._n_nodes) for tail in items(edge.get("tail"), "tail")]
        spans = items(edge.get("spans"), "spans")
        if len(spans) >= 2 and all(type(place) is int for place in spans[:2]):
            self._builder.set_span(self._n_nodes, spans[0], spans[1])
        self._builder.add_edge(self._n_nodes, self._target(rule), tails, self._features(edge.get("feats")))

    def _features(self, feats: Any) -> list[tuple[int, float]]:
        row = items(feats, "feats")
        if len(row) % 2:
            raise InputError("feats must be features and values in turn")
        found = []
        for name, value in zip(row[::2], row[1::2], strict=True):
            if isinstance(name, str):
                id_ = self._tables.feature(name)
            else:
                id_ = self._names[whole(name, "the place of a feature", below=len(self._names))]
            found.append((id_, number(value, "the value of a feature")))
        return [(id_, value) for id_, value in found if value != 0]

    def _target(self, rule: str) -> tuple[int, ...]:
        """Symbols of the target side of `[X] ||| source ||| target ||| …`, or of a rule of one side only."""
        symbols = self._symbols.get(rule)
        if symbols is None:
            words = split_tokens(rule)
            bars = [-1, *(place for place, word in enumerate(words) if word == "|||"), len(words)]
            number_of_side = min(2, len(bars) - 2)
            side = words[bars[number_of_side] + 1 : bars[number_of_side + 1]]
            symbols = tuple(
                -int(match[1]) if (match := _TAIL.match(token)) else self._tables.word(token) for token in side
            )
            self._symbols[rule] = symbols
        return symbols
