"""Search spaces as other decoders write them, made from ours by hand, and a small Moses search graph."""

from __future__ import annotations

import itertools
import json

import numpy as np

from dragoman.forest import ForestArrays


def rows(offsets, values):
    return [list(values[begin:end]) for begin, end in itertools.pairwise(offsets.tolist())]


def edges_of(forest):
    """For each node its edges as (symbols, tails, features by name)."""
    a = ForestArrays.of(forest.core)
    symbols = rows(a.symbol_offsets, a.symbols.tolist())
    tails = rows(a.tail_offsets, a.tails.tolist())
    local, own = (
        rows(offsets, list(zip(forest.index.names(ids), values.tolist(), strict=True)))
        for offsets, ids, values in (
            (a.local_offsets, a.local_ids, a.local_values),
            (a.feature_offsets, a.feature_ids, a.feature_values),
        )
    )
    found = []
    for e, instance in enumerate(a.instances.tolist()):
        features: dict[str, float] = {}
        for name, value in [*local[instance], *own[e]]:
            features[name] = features.get(name, 0.0) + value
        found.append((symbols[instance], tails[e], features))
    return rows(a.node_edges, found)


def plain(symbol):
    """A word that every format can hold."""
    return f"w{symbol}"


def as_cdec(forest, *, names=True):
    """With an edge for no node that cannot be derived: in cdec's files a node without edges is a beginning."""
    numbers: dict[int, int] = {}
    parts, rules, n_edges = [], [], 0
    index = forest.index.names(np.arange(len(forest.index), dtype=np.int32))
    for node, edges in enumerate(edges_of(forest)):
        kept = [edge for edge in edges if all(tail in numbers for tail in edge[1])]
        if not kept:
            continue
        numbers[node] = len(numbers)
        written = []
        for symbols, tails, features in kept:
            words = " ".join(f"[{-s}]" if s < 0 else plain(s) for s in symbols)
            rules += [len(rules) // 2 + 1, f"[X] ||| s [X,1] ||| {words} ||| a=1 ||| 0-0"]
            feats = [x for name, value in features.items() for x in (name if names else index.index(name), value)]
            written.append({"tail": [numbers[t] for t in tails], "feats": feats, "rule": rules[-2]})
        parts.append((written, list(range(n_edges, n_edges + len(written)))))
        n_edges += len(written)
    if numbers.get(len(edges_of(forest)) - 1) is None:
        return "{}\n"
    body = ",".join(
        f'"edges":{json.dumps(written)},"node":{json.dumps({"in_edges": places, "cat": "X"})}'
        for written, places in parts
    )
    return f'{{"rules":{json.dumps(rules)},"features":{json.dumps([] if names else index)},{body}}}\n'


def as_travatar(forest):
    """With the goal as node 0, and the others in reverse."""
    nodes = edges_of(forest)
    n = len(nodes)
    edges = []
    for node, each in enumerate(nodes):
        for symbols, tails, features in each:
            words = [s if s < 0 else plain(s) for s in symbols]
            edge = {"id": len(edges), "head": n - 1 - node, "trg": [{"label": -1, "words": words}]}
            if tails:
                edge["tails"] = [n - 1 - tail for tail in tails]
            edges.append(edge | {"features": features})
    return json.dumps(
        {
            "nodes": [{"id": i, "sym": "X", "span": [0, 1]} for i in range(n)],
            "edges": edges,
            "words": ["s"],
        }
    )


GRAPH = """\
0 hyp=0 stack=0 forward=1 fscore=-3
0 hyp=1 stack=1 back=0 score=-1 transition=-1 forward=3 fscore=-3 covered=0-0 scores="core=(-1,2) tm_a=3 " out="la|the "
0 hyp=2 stack=1 back=0 score=-2 transition=-2 recombined=1 forward=3 fscore=-3 covered=0-0 scores="core=(-1.5,1) " \
out="la|a "small" one"
0 hyp=3 stack=2 back=1 score=-3 transition=-2 forward=-1 fscore=-3 covered=1-1 scores="core=(-2,0.5) " out="x|house"
0 hyp=4 stack=2 back=1 score=-4 transition=-3 forward=-1 fscore=-4 covered=1-1 scores="core=(-2.5,0.25) " out="x|home"
7 hyp=0 stack=0 forward=1 fscore=-1
7 hyp=1 stack=1 back=0 score=-1 transition=-1 forward=-1 fscore=-1 covered=0-0 scores="core=(-1,2) tm_a=3 " out="x|yes"
"""
