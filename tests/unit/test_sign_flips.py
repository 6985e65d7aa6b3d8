"""Signs that flip between two gradients, against a plain loop over names."""

from __future__ import annotations

import math

import numpy as np

from dragoman.features import FeatureIndex, FeatureTable, sign_flips


def table(values):
    """A gradient from components and numbers of lists by name."""
    index = FeatureIndex()
    ids = np.array([index.intern(name) for name in values], np.int32)
    components, n_lists = zip(*values.values(), strict=True)
    return FeatureTable.from_ids(index, ids, {"loss": np.array(components, float), "n_lists": np.array(n_lists)})


def gradient(seed, n):
    rng = np.random.default_rng(seed)
    names = rng.permutation(n + 40)[:n]
    return {f"rule:{name}": (float(rng.integers(-3, 4)), int(rng.integers(1, 60))) for name in names}


def test_flips_by_band_and_size():
    before, after = gradient(1, 300), gradient(2, 280)
    found = {one.group: one for one in sign_flips(table(before), table(after), "loss")}
    assert list(found) == ["1-2", "3-8", "9-30", "31+", "largest 100", "largest 1000", "all"]
    both = [name for name in before if name in after and before[name][0] and after[name][0]]
    mean = {name: (before[name][1] + after[name][1]) / 2 for name in both}
    for group, (low, high) in {"1-2": (0, 2), "3-8": (2, 8), "9-30": (8, 30), "31+": (30, math.inf)}.items():
        names = [name for name in both if low < mean[name] <= high]
        assert found[group].n_features == len(names)
        assert found[group].n_flipped == sum(before[name][0] * after[name][0] < 0 for name in names)
    assert found["all"].n_features == len(both) == found["largest 1000"].n_features
    assert sum(found[group].n_flipped for group in ("1-2", "3-8", "9-30", "31+")) == found["all"].n_flipped > 0
    x, y = ([gradient[name][0] for name in both] for gradient in (before, after))
    assert math.isclose(found["all"].cosine, np.dot(x, y) / np.linalg.norm(x) / np.linalg.norm(y))


def test_a_gradient_that_undoes_another():
    steps = {f"f:{i}": (float(i + 1), i + 1) for i in range(200)}
    back = {name: (-value, n) if value > 100 else (value, n) for name, (value, n) in steps.items()}
    found = {one.group: one for one in sign_flips(table(steps), table(back), "loss", bands=(100,))}
    assert (found["1-100"].n_flipped, round(found["1-100"].cosine, 12)) == (0, 1.0)
    assert (found["101+"].n_flipped, found["101+"].share) == (100, 1.0)
    assert (found["largest 100"].n_flipped, round(found["largest 100"].cosine, 12)) == (100, -1.0)


def test_nothing_in_common():
    found = sign_flips(table({"a": (1.0, 1)}), table({"b": (1.0, 1), "a": (0.0, 2)}), "loss")
    assert {(one.n_features, one.n_flipped, one.cosine, one.share) for one in found} == {(0, 0, 0.0, 0.0)}
