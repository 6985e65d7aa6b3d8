"""A forest made small enough to draw: nodes of one label and span become one, edges of one rule too."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman._core import unescape_word
from dragoman.features import Weights
from dragoman.forest import Forest, ForestArrays
from dragoman.types import Float64Array, Int32Array

__all__ = ["draw_space"]

_MARKS = ("<s>", "</s>")
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

    The best derivation is always among them. Nodes of phrase-based search with the same last phrase and the same
    number of translated words are one; so are nodes of charts with the same label and span.
    """
    found: dict[str, Any] = {"n_nodes": forest.n_nodes, "n_edges": forest.n_edges, "nodes": [], "edges": []}
    best = forest.kbest(weights, 1)
    if not len(best):
        return found
    arrays = ForestArrays.of(forest.core)
    posteriors = np.exp(forest.core.marginals(weights.values_on(forest.index) * scale, True))
    on_best = best.edges_of(0)
    kept = _kept(arrays, posteriors, on_best, threshold, n_edges)
    nodes, edges = _merged(forest, arrays, posteriors, kept, {*on_best.tolist()})
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
        for edge in sorted(edges, key=lambda edge: (-edge.best, -edge.posterior))
    ]
    return found


def _kept(
    arrays: ForestArrays, posteriors: Float64Array, on_best: Int32Array, threshold: float, n_edges: int
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Edges to draw: all of them are part of a derivation of drawn edges."""
    order = np.argsort(-posteriors, kind="stable")[:n_edges]
    kept = np.zeros(len(posteriors), bool)
    kept[order[posteriors[order] >= threshold]] = True
    kept[on_best] = True
    n_nodes = len(arrays.nodes)
    derived = np.zeros(n_nodes, bool)
    heads = np.repeat(np.arange(n_nodes), np.diff(arrays.node_edges))
    chosen = np.flatnonzero(kept)
    for edge in chosen.tolist():  # children come first
        tails = arrays.tails[arrays.tail_offsets[edge] : arrays.tail_offsets[edge + 1]]
        kept[edge] = derived[tails].all()
        derived[heads[edge]] |= kept[edge]
    reached = np.zeros(n_nodes, bool)
    reached[n_nodes - 1] = True
    for edge in chosen[::-1].tolist():
        kept[edge] &= reached[heads[edge]]
        if kept[edge]:
            reached[arrays.tails[arrays.tail_offsets[edge] : arrays.tail_offsets[edge + 1]]] = True
    return kept


def _merged(
    forest: Forest,
    arrays: ForestArrays,
    posteriors: Float64Array,
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]],
    on_best: set[int],
) -> tuple[dict[Place, float], list[_Edge]]:
    heads = np.repeat(np.arange(len(arrays.nodes)), np.diff(arrays.node_edges))
    last = len(arrays.nodes) - 1
    places: list[Place] = [(a, b, c, d, node == last) for node, (a, b, c, d) in enumerate(arrays.nodes.tolist())]
    mass: defaultdict[Place, float] = defaultdict(float)
    edges: dict[tuple[Place, tuple[Place, ...], str], _Edge] = {}
    for edge in np.flatnonzero(kept).tolist():
        head = places[int(heads[edge])]
        tails = tuple(
            places[tail] for tail in arrays.tails[arrays.tail_offsets[edge] : arrays.tail_offsets[edge + 1]].tolist()
        )
        text = _rule(forest, arrays, int(arrays.instances[edge]), tails)
        for place in (head, *tails):
            mass[place] += 0.0
        mass[head] += float(posteriors[edge])
        found = edges.setdefault((head, tails, text), _Edge(head, tails, text))
        found.posterior += float(posteriors[edge])
        found.best |= edge in on_best
    return dict(mass), list(edges.values())


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
