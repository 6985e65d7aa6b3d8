"""The native log-linear IBM Model 2 equals a slow twin, step by step, and does not depend on the number of threads."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._core import train_ibm2

sentence = st.lists(st.integers(0, 4), min_size=1, max_size=6)
bitexts = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=6)
NULL = -1


def ragged(rows):
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array([x for row in rows for x in row], dtype=np.int32)


def train(pairs, *, n_iterations, alpha=0.0, tension=4.0, fit_tension=False, n_threads=1, max_length=200):
    return train_ibm2(
        *ragged([f for f, _ in pairs]),
        *ragged([e for _, e in pairs]),
        n_iterations=n_iterations,
        null_prob=0.08,
        tension=tension,
        fit_tension=fit_tension,
        alpha=alpha,
        max_length=max_length,
        n_threads=n_threads,
        keep_model=True,
    )


def feature(i, n, j, m):
    return -abs((i + 1) / n - (j + 1) / m)


def digamma(x):
    """By its recurrence and the first terms of the series far out."""
    shift = 0.0
    while x < 50:
        shift -= 1 / x
        x += 1
    return shift + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)


class Twin:
    """EM as in the paper, with dictionaries."""

    def __init__(self, pairs, tension, alpha, fit):
        self.pairs, self.tension, self.alpha, self.fit = pairs, tension, alpha, fit
        n_words = max(e for _, target in pairs for e in target) + 1
        self.t = defaultdict(lambda: 1 / n_words)
        self.positions = []

    def joint(self, source, target, j):
        """p(source position or null, target word j)."""
        n, m = len(source), len(target)
        weights = [math.exp(self.tension * feature(i, n, j, m)) for i in range(n)]
        probs = {NULL: 0.08 * self.t[NULL, target[j]]}
        for i, w in enumerate(weights):
            probs[i] = 0.92 * w / sum(weights) * self.t[source[i], target[j]]
        return probs

    def step(self):
        counts, likelihood = defaultdict(float), 0.0
        self.positions = []  # (posterior, i, n, j, m)
        for source, target in self.pairs:
            for j, e in enumerate(target):
                probs = self.joint(source, target, j)
                total = sum(probs.values())
                likelihood += math.log(total)
                for i, p in probs.items():
                    counts[NULL if i == NULL else source[i], e] += p / total
                    if i != NULL:
                        self.positions.append((p / total, i, len(source), j, len(target)))
        totals = defaultdict(float)
        for (f, _), count in counts.items():
            totals[f] += count + self.alpha
        for (f, e), count in counts.items():
            if self.alpha:
                self.t[f, e] = math.exp(digamma(count + self.alpha) - digamma(totals[f]))
            else:
                self.t[f, e] = count / totals[f]
        if self.fit:
            self.tension = self.best_tension()
        return likelihood

    def position_likelihood(self, tension):
        """The expected log-likelihood of the positions: what the M-step of the tension maximises."""
        return sum(
            p
            * (tension * feature(i, n, j, m) - math.log(sum(math.exp(tension * feature(k, n, j, m)) for k in range(n))))
            for p, i, n, j, m in self.positions
        )

    def best_tension(self):
        """By golden-section search; the function is concave."""
        low, high = 0.1, 20.0
        while high - low > 1e-4:
            a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
            if self.position_likelihood(a) < self.position_likelihood(b):
                low = a
            else:
                high = b
        return (low + high) / 2


def table_of(model):
    offsets, targets, probs = model.row_offsets(), model.targets(), model.probs()
    table = {
        (f, int(targets[k])): float(probs[k])
        for f in range(len(offsets) - 1)
        for k in range(offsets[f], offsets[f + 1])
    }
    return table | {(NULL, e): float(p) for e, p in enumerate(model.null_probs())}


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@given(pairs=bitexts, n_iterations=st.integers(1, 4))
def test_expected_counts_and_likelihood(alpha, pairs, n_iterations):
    _, steps, model = train(pairs, n_iterations=n_iterations, alpha=alpha)
    twin = Twin(pairs, 4.0, alpha, fit=False)
    likelihoods = [twin.step() for _ in range(n_iterations)]
    np.testing.assert_allclose(steps[:, 0], likelihoods, rtol=1e-5, atol=1e-5)
    table = table_of(model)
    seen = {(f, e) for source, target in pairs for f in [*source, NULL] for e in target}
    for pair in seen:
        assert table[pair] == pytest.approx(twin.t[pair], rel=1e-3, abs=1e-7)


@settings(max_examples=30)
@given(pairs=bitexts)
def test_the_tension_maximises_the_expected_likelihood(pairs):
    _, _, model = train(pairs, n_iterations=2, fit_tension=True)
    twin = Twin(pairs, 4.0, 0.0, fit=True)
    twin.step()
    # The first optimum may be flat (uniform posteriors): follow the native choice, then judge by the value reached.
    _, _, once = train(pairs, n_iterations=1, fit_tension=True)
    assert twin.position_likelihood(once.tension) >= twin.position_likelihood(twin.tension) - 1e-6
    twin.tension = once.tension
    twin.step()
    assert twin.position_likelihood(model.tension) >= twin.position_likelihood(twin.tension) - 1e-6


@settings(max_examples=50)
@given(pairs=bitexts)
def test_maximum_likelihood_never_falls(pairs):
    _, steps, _ = train(pairs, n_iterations=8, fit_tension=True)
    likelihood = steps[:, 0]
    assert np.all(np.diff(likelihood) >= -1e-5 * (1 + np.abs(likelihood[:-1])))


@given(pairs=bitexts)
def test_assignment_is_the_most_probable(pairs):
    assignment, _, _ = train(pairs, n_iterations=2, alpha=0.01)
    twin = Twin(pairs, 4.0, 0.01, fit=False)
    twin.step()
    twin.step()
    at = 0
    for source, target in pairs:
        for j in range(len(target)):
            probs = twin.joint(source, target, j)
            assert probs[int(assignment[at])] >= max(probs.values()) * (1 - 1e-4)
            at += 1


def random_pairs(n_pairs):
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 20, size=(n_pairs, 2))
    return [tuple((rng.zipf(1.5, size=n) % 50).tolist() for n in pair) for pair in lengths]


def test_threads_do_not_matter():
    pairs = random_pairs(1500)
    results = [train(pairs, n_iterations=3, alpha=0.01, fit_tension=True, n_threads=k) for k in (1, 2, 5)]
    for assignment, steps, model in results[1:]:
        assert assignment.tobytes() == results[0][0].tobytes()
        assert steps.tobytes() == results[0][1].tobytes()
        assert model.probs().tobytes() == results[0][2].probs().tobytes()
        assert model.null_probs().tobytes() == results[0][2].null_probs().tobytes()


def test_new_text_is_aligned_as_in_training():
    pairs = random_pairs(300)
    assignment, _, model = train(pairs, n_iterations=3, alpha=0.01)
    again = model.align(*ragged([f for f, _ in pairs]), *ragged([e for _, e in pairs]), n_threads=2)
    assert again.tobytes() == assignment.tobytes()


def test_pairs_left_out_change_nothing():
    pairs = random_pairs(50)
    longer = [*pairs[:20], ([1] * 31, [2]), ([], [2, 3]), ([1], []), *pairs[20:]]
    plain, plain_steps, _ = train(pairs, n_iterations=3, alpha=0.01, max_length=30)
    mixed, mixed_steps, _ = train(longer, n_iterations=3, alpha=0.01, max_length=30)
    at = sum(len(e) for _, e in pairs[:20])
    assert mixed[at : at + 3].tolist() == [-1, -1, -1]
    assert np.delete(mixed, slice(at, at + 3)).tolist() == plain.tolist()
    assert mixed_steps.tobytes() == plain_steps.tobytes()


def test_bad_arrays_are_refused():
    good = ragged([[0, 1]])
    options = {
        "n_iterations": 1,
        "null_prob": 0.1,
        "tension": 1.0,
        "fit_tension": True,
        "alpha": 0.0,
        "max_length": 5,
        "n_threads": 1,
        "keep_model": False,
    }
    with pytest.raises(ValueError, match="the same number"):
        train_ibm2(*good, *ragged([[0], [1]]), **options)
    with pytest.raises(ValueError, match="negative"):
        train_ibm2(*good, *ragged([[-1]]), **options)
    with pytest.raises(TypeError):
        train_ibm2(*good, good[0], good[1].astype(np.int64), **options)
