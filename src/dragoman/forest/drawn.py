"""Forests as notebooks show them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from markupsafe import Markup

from dragoman._core import unescape_word
from dragoman.forest.arrays import ForestArrays
from dragoman.view.drawing import DrawnEdge, DrawnNode, draw_forest, fragment, table

if TYPE_CHECKING:
    from dragoman.forest.forest import Forest

__all__ = ["forest_html"]

MAX_NODES, MAX_EDGES = 80, 250
"""A forest with more is not drawn."""


def forest_html(forest: Forest) -> str:
    """A picture of the forest; of one that is too large a table of its sizes by source words covered."""
    arrays = ForestArrays.of(forest.core)
    if not forest.n_nodes:
        return fragment(Markup("<p>A search space without a derivation.</p>"))
    said = f"{forest.n_nodes:,} nodes, {forest.n_edges:,} edges, {len(forest.index):,} features"
    if forest.n_nodes <= MAX_NODES and forest.n_edges <= MAX_EDGES:
        drawing = draw_forest(_nodes(forest, arrays), _edges(forest, arrays))
        return fragment(Markup("<p>{}</p>").format(said), drawing)
    heads = [int(covered) for covered in arrays.nodes[:, 3]]
    n_edges = Counter[int]()
    for covered, (begin, end) in zip(heads, pairwise(arrays.node_edges.tolist()), strict=True):
        n_edges[covered] += end - begin
    n_nodes = Counter(heads)
    rows = [[covered, n_nodes[covered], n_edges[covered]] for covered in sorted(n_nodes)]
    hint = f"Too large to draw (more than {MAX_NODES} nodes or {MAX_EDGES} edges): "
    return fragment(
        Markup("<p>{}. {}<code>forest.pruned(weights, -1.0)</code> keeps what is near the best.</p>").format(
            said, hint
        ),
        table(["source words covered", "nodes", "edges"], rows),
    )


def _nodes(forest: Forest, arrays: ForestArrays) -> list[DrawnNode]:
    names = []
    for node, begin, end, covered in arrays.nodes.tolist():
        name = forest.labels[node] if 0 <= node < len(forest.labels) else ""
        span = f"{begin}\u2013{end}" if 0 <= begin <= end else f"{covered} covered"
        names.append(DrawnNode(name=f"{name} {span}".strip(), covered=covered))
    return names


def _edges(forest: Forest, arrays: ForestArrays) -> list[DrawnEdge]:
    edges = []
    for head, (begin, end) in enumerate(pairwise(arrays.node_edges.tolist())):
        for edge in range(begin, end):
            instance = int(arrays.instances[edge])
            own = slice(int(arrays.symbol_offsets[instance]), int(arrays.symbol_offsets[instance + 1]))
            tails = arrays.tails[int(arrays.tail_offsets[edge]) : int(arrays.tail_offsets[edge + 1])].tolist()
            words = " ".join(_symbol(forest, symbol, len(tails)) for symbol in arrays.symbols[own].tolist())
            edges.append(DrawnEdge(head=head, tails=tails, words=words.strip()))
    return edges


def _symbol(forest: Forest, symbol: int, n_tails: int) -> str:
    """A word, or the number of a tail; the only tail is not named."""
    if symbol < 0:
        return "" if n_tails == 1 else f"[{-symbol}]"
    return unescape_word(forest.vocab.stored(symbol)).decode("utf-8")
