"""A forest made small enough to draw: nodes of one label and span become one, edges of one rule too."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman._core import unescape_word
from dragoman.features import Weights
from dragoman.forest import Forest, ForestArrays
from dragoman.types import Float64Array, Int64Array

__all__ = ["draw_space"]

_MARKS = ("<s>", "</s>")
_LOOKED_AT = 4000
"""The most probable edges, before those that differ only in the state of the language model become one."""
Place = tuple[int, int, int, int, bool]
"""Label, span and number of covered words of nodes that are drawn as one, and whether it is the goal."""


@dataclass(slots=True)
class _Edge:
    """Edges with the same rule between the same places."""

    head: Place
    tails: tuple[Place, ...]
    text: str
    posterior: float = 0.0
    best: bool = False


def draw_space(
    forest: Forest, weights: Weights, *, threshold: float = 0.01, scale: float = 1.0, n_edges: int = 150
) -> dict[str, Any]:
    """Nodes and edges whose posterior under p ∝ exp(scale · score) reaches the threshold, the most probable `n_edges`.

    The best derivation is always drawn. Nodes of phrase-based search with the same last phrase and the same
    number of translated words are one; so are nodes of charts with the same label and span.
    """
    found: dict[str, Any] = {"n_nodes": forest.n_nodes, "n_edges": forest.n_edges, "nodes": [], "edges": []}
    best = forest.kbest(weights, 1)
    if not len(best):
        return found
    arrays = ForestArrays.of(forest.core)
    posteriors = np.exp(forest.core.marginals(weights.values_on(forest.index) * scale, True))
    on_best = best.edges_of(0)
    likely = np.argsort(-posteriors, kind="stable")[: max(_LOOKED_AT, n_edges)]
    looked_at = np.union1d(likely[posteriors[likely] > 0], on_best)
    merged = _merged(forest, arrays, posteriors, looked_at, {*on_best.tolist()})
    merged.sort(key=lambda edge: (-edge.best, -edge.posterior))
    n_drawn = max(n_edges, len(on_best))
    edges = _derivable([edge for edge in merged if edge.best or edge.posterior >= threshold][:n_drawn])
    nodes: defaultdict[Place, float] = defaultdict(float)
    for edge in edges:
        nodes[edge.head] += edge.posterior
    order = sorted(nodes, key=lambda place: (place[4], place[3], place[2] - place[1], place[1], place[0]))
    numbers = {place: number for number, place in enumerate(order)}
    on_path = {place for edge in edges for place in (edge.head, *edge.tails) if edge.best}
    found["nodes"] = [
        {
            "label": forest.labels[place[0]] if 0 <= place[0] < len(forest.labels) else None,
            "span": [place[1], place[2]],
            "covered": place[3],
            "goal": place[4],
            "posterior": min(1.0, nodes[place]),
            "best": place in on_path,
        }
        for place in numbers
    ]
    found["edges"] = [
        {
            "head": numbers[edge.head],
            "tails": [numbers[tail] for tail in edge.tails],
            "rule": edge.text,
            "posterior": min(1.0, edge.posterior),
            "best": edge.best,
        }
        for edge in edges
    ]
    return found


def _merged(
    forest: Forest, arrays: ForestArrays, posteriors: Float64Array, looked_at: Int64Array, on_best: set[int]
) -> list[_Edge]:
    """Edges with the same rule between the same places as one, in the order of the first of each."""
    heads = np.repeat(np.arange(len(arrays.nodes)), np.diff(arrays.node_edges))
    last = len(arrays.nodes) - 1
    places: list[Place] = [(a, b, c, d, node == last) for node, (a, b, c, d) in enumerate(arrays.nodes.tolist())]
    edges: dict[tuple[Place, tuple[Place, ...], str], _Edge] = {}
    for edge in looked_at.tolist():
        head = places[int(heads[edge])]
        tails = tuple(
            places[tail] for tail in arrays.tails[arrays.tail_offsets[edge] : arrays.tail_offsets[edge + 1]].tolist()
        )
        text = _rule(forest, arrays, int(arrays.instances[edge]), tails)
        found = edges.setdefault((head, tails, text), _Edge(head, tails, text))
        found.posterior += float(posteriors[edge])
        found.best |= edge in on_best
    return list(edges.values())


def _derivable(edges: list[_Edge]) -> list[_Edge]:
    """Those that are part of a derivation of these edges."""
    derived: set[Place] = set()
    while grown := {edge.head for edge in edges if derived.issuperset(edge.tails)} - derived:
        derived |= grown
    whole = [edge for edge in edges if derived.issuperset(edge.tails)]
    reached = {edge.head for edge in whole if edge.head[4]}
    while grown := {tail for edge in whole if edge.head in reached for tail in edge.tails} - reached:
        reached |= grown
    return [edge for edge in whole if edge.head in reached]


def _rule(forest: Forest, arrays: ForestArrays, instance: int, tails: tuple[Place, ...]) -> str:
    """The target side of a rule, nonterminals by label and number."""
    words = []
    for symbol in arrays.symbols[arrays.symbol_offsets[instance] : arrays.symbol_offsets[instance + 1]].tolist():
        if symbol >= 0:
            word = forest.vocab.stored(symbol).decode("utf-8")
            words.append("" if word in _MARKS else unescape_word(word.encode()).decode())
        elif forest.labels:
            label = tails[-1 - symbol][0]
            name = forest.labels[label] if 0 <= label < len(forest.labels) else "X"
            words.append(f"[{name},{-symbol}]")
    return " ".join(filter(None, words))
