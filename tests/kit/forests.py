"""Small random forests, what brute force says of them, and how often random things are what a test is about."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex
from dragoman.forest import Forest, ForestArrays

WORDS = ["a", "b", "c", "[3]", "|||", "<s>", "\\x"]
FIRST_WORD = 3
N_FEATURES = 4


def ragged(rows, dtype):
    offsets = np.cumsum([0, *(len(r) for r in rows)], dtype=np.int64)
    return offsets, np.array([x for row in rows for x in row], dtype=dtype)


@st.composite
def forests(draw, max_tails=2):
    """A derivation, and random edges around it: a tail may be used twice, a node may have no derivation or no use.

    One forest in twenty has no derivation made on purpose, and often none at all.
    """
    n_nodes = draw(st.integers(1, 4))
    is_sure = draw(st.integers(0, 19)) < 19
    index = FeatureIndex()
    for i in range(N_FEATURES):
        index.intern(f"f{i}")
    values = st.integers(-3, 3).map(float)
    features = st.lists(st.tuples(st.integers(0, N_FEATURES - 1), values), max_size=3)
    instances, edges, derived = [], [], []
    for node in range(n_nodes):
        edges.append([])
        is_root = node == n_nodes - 1
        n_sure = (2 if is_root else draw(st.sampled_from([1, 1, 1, 0]))) if is_sure else 0
        for row in range(draw(st.integers(n_sure, 3))):
            below = derived if row < n_sure else range(node)
            tails = draw(st.lists(st.sampled_from(below), max_size=max_tails)) if below else []
            symbols = draw(st.permutations([-1 - i for i in range(len(tails))]))
            for word in draw(st.lists(st.integers(0, len(WORDS) - 1), max_size=2)):
                symbols.insert(draw(st.integers(0, len(symbols))), FIRST_WORD + word)
            instances.append((symbols, draw(features)))
            edges[-1].append((len(instances) - 1, tails, draw(features)))
        derived += [node] if n_sure else []
    flat = [edge for row in edges for edge in row]
    symbol_offsets, symbols = ragged([i[0] for i in instances], np.int32)
    local_offsets, local_ids = ragged([[f for f, _ in i[1]] for i in instances], np.int32)
    own_offsets, own_ids = ragged([[f for f, _ in e[2]] for e in flat], np.int32)
    tail_offsets, tails = ragged([e[1] for e in flat], np.int32)
    arrays = ForestArrays(
        nodes=np.array([[v % 2, v, v + 1, v] for v in range(n_nodes)], np.int32),
        rules=np.arange(len(instances), dtype=np.int64) - 1,
        spans=np.array([[i, i + 2] for i in range(len(instances))], np.int32).reshape(-1, 2),
        symbol_offsets=symbol_offsets,
        symbols=symbols,
        local_offsets=local_offsets,
        local_ids=local_ids,
        local_values=np.array([v for i in instances for _, v in i[1]], np.float32),
        node_edges=np.cumsum([0, *(len(row) for row in edges)], dtype=np.int64),
        instances=np.array([e[0] for e in flat], np.int32),
        tail_offsets=tail_offsets,
        tails=tails,
        feature_offsets=own_offsets,
        feature_ids=own_ids,
        feature_values=np.array([v for e in flat for _, v in e[2]], np.float32),
    )
    # A vocabulary of its own: Hypothesis holds on to strategies at exit, and nanobind would report what they refer to.
    return Forest(arrays.build(), Vocab.of([" ".join(WORDS)]), index, labels=("even", "odd"))


weight_vectors = st.lists(st.floats(-1, 1, width=16), min_size=N_FEATURES, max_size=N_FEATURES).map(np.array)


def all_derivations(arrays, node):
    """Every derivation of a node as a list of edges in pre-order."""
    found = []
    for e in range(arrays.node_edges[node], arrays.node_edges[node + 1]):
        tails = arrays.tails[arrays.tail_offsets[e] : arrays.tail_offsets[e + 1]]
        for parts in itertools.product(*(all_derivations(arrays, int(tail)) for tail in tails)):
            found.append([e, *itertools.chain.from_iterable(parts)])
            if len(found) > 1000:
                return found
    return found


def features_of(arrays, edges):
    total = np.zeros(N_FEATURES)
    for e in edges:
        i = arrays.instances[e]
        for ids, values, offsets, row in (
            (arrays.local_ids, arrays.local_values, arrays.local_offsets, i),
            (arrays.feature_ids, arrays.feature_values, arrays.feature_offsets, e),
        ):
            for place in range(offsets[row], offsets[row + 1]):
                total[ids[place]] += values[place]
    return total


def words_of(arrays, edges):
    """The yield of edges in pre-order, by recursion."""
    it = iter(edges)

    def build():
        e = next(it)
        n_tails = arrays.tail_offsets[e + 1] - arrays.tail_offsets[e]
        children = [build() for _ in range(n_tails)]
        i = arrays.instances[e]
        out = []
        for symbol in arrays.symbols[arrays.symbol_offsets[i] : arrays.symbol_offsets[i + 1]]:
            out.extend(children[-1 - symbol] if symbol < 0 else [int(symbol)])
        return out

    return build()


def brute_force(forest, weights):
    arrays = ForestArrays.of(forest.core)
    derivations = all_derivations(arrays, forest.n_nodes - 1)
    scored = [(float(features_of(arrays, d) @ weights), d) for d in derivations]
    return arrays, sorted(scored, key=lambda pair: -pair[0])


def share(strategy, holds, n=200):
    """The share of drawn examples of which something holds."""
    seen = []

    @settings(max_examples=n, phases=[Phase.generate], database=None)
    @given(strategy)
    def look(example):
        seen.append(bool(holds(example)))

    look()
    return sum(seen) / len(seen)
