"""Travatar's forests (`-forest_out`, `src/lib/hyper-graph.cc`): a line of JSON for each sentence.

    {"nodes": [{"id": 0, "sym": "S", "span": [0, 2]}, {"id": 1, "span": [1, 2]}],
     "edges": [{"id": 0, "head": 0, "tails": [1], "trg": [{"words": ["the", -1]}], "features": {"lm": -0.5}},
               {"id": 1, "head": 1, "trg": [{"words": ["house"]}], "features": {"lm": -1.5}}],
     "words": ["la", "maison"]}

The goal is node 0; the order of nodes means nothing. -1 is the first tail. Of several target sides (factors) the first
is taken. `<unk>` of an edge without tails is the source word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragoman._core import Forest as CoreForest
from dragoman.errors import InputError
from dragoman.forest.builder import ForestBuilder, ForestTables
from dragoman.forest.json_values import items, number, text, whole

__all__ = ["is_travatar", "read_travatar"]


def is_travatar(data: Mapping[str, Any]) -> bool:
    """Whether an object is a forest of Travatar's, not one of ours."""
    return "nodes" in data and "edges" in data and "format" not in data


def read_travatar(data: Mapping[str, Any], tables: ForestTables) -> CoreForest:
    """The search space; without edges of node 0 it has no derivation. Raises InputError."""
    builder = ForestBuilder(tables)
    nodes = items(data["nodes"], "nodes")
    spans = [_add_node(node, place, builder) for place, node in enumerate(nodes)]
    source = [text(word, "a source word") for word in items(data.get("words"), "words")]
    for place, edge in enumerate(items(data["edges"], "edges")):
        try:
            _add_edge(edge, spans, source, builder)
        except InputError as error:
            raise InputError(f"edge {place}: {error.message}") from None
    return builder.build(0)


def _add_node(node: Any, place: int, builder: ForestBuilder) -> tuple[int, int]:
    if not isinstance(node, dict) or node.get("id", place) != place:
        raise InputError(f"node {place} must be an object with the id {place}")
    span = items(node.get("span"), f"the span of node {place}")
    if len(span) != 2 or not all(type(end) is int for end in span):
        return -1, -1
    builder.set_span(place, *span)
    return span[0], span[1]


def _add_edge(edge: Any, spans: list[tuple[int, int]], source: list[str], builder: ForestBuilder) -> None:
    if not isinstance(edge, dict):
        raise InputError("must be an object")
    head = whole(edge.get("head"), "the head", below=len(spans))
    tails = [whole(tail, "a tail", below=len(spans)) for tail in items(edge.get("tails"), "tails")]
    features = edge.get("features") or {}
    if not isinstance(features, dict):
        raise InputError("features must be an object of names and values, each once")
    rows = [(builder.tables.feature(name), number(value, f"'{name}'")) for name, value in features.items()]
    symbols = []
    for item in _words(edge):
        if type(item) is int and item < 0:
            symbols.append(item)
            continue
        word = text(item, "a word")
        begin, end = spans[head]
        if word == "<unk>" and not tails and end - begin == 1 and 0 <= begin < len(source):
            word = source[begin]
        symbols.append(builder.tables.word(word))
    builder.add_edge(head, symbols, tails, [(id_, value) for id_, value in rows if value != 0])


def _words(edge: Mapping[str, Any]) -> list[Any]:
    """The target side: words, and numbers below 0 for tails."""
    if "trg_words" in edge:  # of 2012 and 2013
        words = items(edge["trg_words"], "trg_words")
        if any(type(word) is int and word >= 0 for word in words):
            raise InputError("the words are numbers of Travatar's own table; a later Travatar writes words")
        return words
    sides = items(edge.get("trg"), "trg")
    if not sides:
        raise InputError("has no target side (trg); is this a parse forest of the source?")
    if not isinstance(sides[0], dict):
        raise InputError("a target side must be an object with words")
    return items(sides[0].get("words"), "words")
