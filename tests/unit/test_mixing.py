"""Mixed weights: the weighted mean, the same bits in any number of parts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from dragoman.engine import Node, TreeSum
from dragoman.features import FeatureIndex, Weights
from dragoman.features.mixing import MixedWeights, mix_weights


def learners(n, seed=3):
    rng = np.random.default_rng(seed)
    names = [f"f{i}" for i in range(40)]
    made = []
    for _ in range(n):
        chosen = rng.permutation(names)[:25].tolist()
        values = rng.standard_normal(25) * 10.0 ** rng.integers(-6, 6, 25)
        made.append((Weights.from_dict(dict(zip(chosen, values, strict=True))), float(rng.integers(1, 1000))))
    return made


def test_the_mean_counts_examples():
    a = Weights.from_dict({"lm": 1.0, "words": -2.0})
    b = Weights.from_dict({"rule": 6.0, "lm": 4.0})
    mixed = mix_weights([(a, 2), (b, 1)])
    assert dict(mixed.items()) == {"lm": 2.0, "words": -4 / 3, "rule": 2.0}
    assert dict(mix_weights([(a, 7)]).items()) == dict(a.items())
    index = FeatureIndex()
    index.intern("rule")
    assert mix_weights([(b, 1)], index).index is index


def test_it_is_the_mean_of_all():
    many = learners(7)
    mixed = mix_weights(many)
    total = sum(n for _, n in many)
    for name in {name for weights, _ in many for name, _ in weights.items()}:
        assert mixed[name] == pytest.approx(sum(n * weights[name] for weights, n in many) / total, rel=1e-9, abs=1e-12)


def test_parts_give_the_same_bits():
    many = learners(11)
    whole = mix_weights(many)
    for cut in range(1, 11):
        nodes = []
        for first, end in ((0, cut), (cut, 11)):
            tree = TreeSum(MixedWeights.add)
            for place in range(first, end):
                tree.put(place, pickle.loads(pickle.dumps(MixedWeights.of(*many[place]))))
            nodes += [Node(node.level, node.place, node.value) for node in tree.nodes]
        joined = TreeSum(MixedWeights.add, nodes).total().mean()
        assert list(joined.items()) == list(whole.items())


def test_shares_that_mean_nothing_are_refused():
    for share in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="positive"):
            MixedWeights.of(Weights.from_dict({"a": 1.0}), share)
    with pytest.raises(ValueError, match="missing"):
        mix_weights([])
